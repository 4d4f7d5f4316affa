"""Switches of profile `fairlead` (docs/wishes.md) on a running resource manager."""
from cases_mapreduce import pi
from registry import Spec, case, require_success

REFRESH = ("org.apache.hadoop.yarn.client.cli.RMAdminCLI", "-refreshQueues")


# However much else this machine does, its nodes are not too busy for the job.
@case("all", spec=Spec(history=False, yarn_site=(("fairlead.scheduler.measured-use.cpu-percent", "0"),)), own_cluster=True)
def wishes_refreshed(cluster, work):
    """`yarn rmadmin -refreshQueues` reads the switches again: a wrong name is refused with what was meant, and a job runs with the right ones."""
    site = cluster.conf / "yarn-site.xml"
    before = site.read_text()

    def wish(names):
        added = f"<property><name>fairlead.scheduler.wishes</name><value>{names}</value></property></configuration>"
        site.write_text(before.replace("</configuration>", added))
        return cluster.java(*REFRESH)

    refused = wish("small-job")
    assert refused.returncode != 0 and "did you mean 'small-jobs'" in refused.stdout + refused.stderr, refused
    require_success(wish("all"), "rmadmin -refreshQueues")
    pi(cluster, work)
