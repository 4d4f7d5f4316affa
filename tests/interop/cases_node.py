"""What a node makes of calls about its running containers."""
import recordings
from cases_yarn import ONE_NODE, rows_of
from registry import case

# Where Fairlead is meant to differ (docs/yarn-compatibility.md).
DIFFERS = {
    "restart.(rollback|commit)": "! java.lang.UnsupportedOperationException: .*",
}


def node_case(section):
    """A section of NodeSurface.java against its recording."""
    @case("all", spec=ONE_NODE, name=f"node-{section}")
    def run(cluster, work):
        recordings.compare(f"node-{section}", rows_of(cluster, work, "NodeSurface", section), work, DIFFERS)


for _section in ("localize", "restart"):
    node_case(_section)
