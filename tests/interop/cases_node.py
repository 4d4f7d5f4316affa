"""What a node makes of calls about its running containers, and what it says of its own health."""
import dataclasses
import re
import stat

import recordings
from cases_yarn import ONE_NODE, rows_of
from registry import Spec, case

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


# A node of each kind under one resource manager.
BOTH = Spec(nodes=("fairlead", "java"), history=False, yarn_site=(
    ("yarn.nodemanager.disk-health-checker.interval-ms", "1000"),
    ("yarn.nodemanager.health-checker.interval-ms", "1000"),
    ("yarn.nodemanager.health-checker.script.path", "{directory}/health"),
))


@dataclasses.dataclass
class Trouble:
    """Something that makes a node unhealthy: how it begins and ends, given the cluster and the node's number."""
    begin: object
    end: object


def in_the_way(kind):
    def begin(cluster, number):
        directory = cluster.directory / f"nm{number}-{kind}"
        directory.rename(f"{directory}.aside")
        directory.write_text("a file")

    def end(cluster, number):
        directory = cluster.directory / f"nm{number}-{kind}"
        directory.unlink()
        (directory.parent / f"{directory.name}.aside").rename(directory)

    return Trouble(begin, end)


def health(cluster):
    """State and report of each node, by its number, without what names the node."""
    found = {}
    for node in cluster.get("/ws/v1/cluster/nodes")["nodes"]["node"]:
        number = 2 if node["id"].startswith("127.0.0.2") else 1
        found[number] = (node["state"], re.sub(r"nm\d-", "nm-", node["healthReport"]))
    return found


@case("all", spec=BOTH, own_cluster=True)
def node_health(cluster, work):
    """Unusable directories and the health script's ERROR: a Fairlead node becomes unhealthy and well again in the words of a Java one."""
    script = cluster.directory / "health"
    flag = cluster.directory / "fan"
    script.write_text(f"#!/bin/bash\n[ -e {flag} ] && echo 'ERROR the fan stands still'\necho checked\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    cluster.restart("nm1", "nm2")  # a Java node looks for the script when it starts
    fan = Trouble(lambda *_: flag.touch(), lambda *_: flag.unlink(missing_ok=True))
    for name, trouble in {"local": in_the_way("local"), "logs": in_the_way("logs"), "script": fan}.items():
        for number in (1, 2):
            trouble.begin(cluster, number)
        cluster.wait(lambda: all(state == "UNHEALTHY" for state, _ in health(cluster).values()), f"{name}: both nodes unhealthy")
        reports = {report for _, report in health(cluster).values()}
        assert len(reports) == 1, f"{name}: {reports}"
        for number in (1, 2):
            trouble.end(cluster, number)
        cluster.wait(lambda: all(state == ("RUNNING", "") for state in health(cluster).values()), f"{name}: both nodes well")
