"""Who may do what, and what depends on keys that few set: queue rules, kept applications, rolling tokens, preemption."""
import dataclasses

import recordings
from cases_yarn import ONE_NODE, SURFACE, rows_of
from registry import case

QUEUES = """<allocations><queue name="root"><aclSubmitApps> </aclSubmitApps><aclAdministerApps> </aclAdministerApps>
<queue name="alpha"><aclSubmitApps>alice,bob</aclSubmitApps><aclAdministerApps>carol</aclAdministerApps></queue>
<queue name="beta"><aclSubmitApps>*</aclSubmitApps></queue><queue name="closed"/></queue></allocations>
"""
ACCESS = dataclasses.replace(SURFACE, nodes=("fairlead",), allocations=QUEUES, yarn_site=SURFACE.yarn_site + (
    ("yarn.acl.enable", "true"), ("yarn.admin.acl", "boss")))


ACCESS_DIFFERS = {
    r"priority\.(alice|carol|erin|boss|root)": "done",  # the profile `fairlead` has priorities
    r"admin\.(boss|root)\.refreshNodes": "! .*YarnException: java.nio.file.NoSuchFileException: .*/exclude",
    r"submit\.root\.default": ".* to queue root.root denied by ACL for queue root",  # a user called root
}


@case("all", spec=ACCESS)
def access(cluster, work):
    """Submissions, reports, changes and administration by owner, queue's and cluster's administrators, those on the application's lists, strangers."""
    recordings.compare("access", rows_of(cluster, work, "AccessSurface"), work, ACCESS_DIFFERS)


def rule_case(section, keys=(), allocations=SURFACE.allocations, base=ONE_NODE, differs=None):
    """A section of RuleSurface.java against its recording."""
    spec = dataclasses.replace(base, yarn_site=base.yarn_site + keys, allocations=allocations)

    @case("all", spec=spec, name=f"rule-{section}")
    def run(cluster, work):
        recordings.compare(f"rule-{section}", rows_of(cluster, work, "RuleSurface", section), work, differs)


rule_case("placement", (),
          '<allocations><queue name="alpha"/><queue name="parent" type="parent"><queue name="child"/></queue>'
          '<queuePlacementPolicy><rule name="specified" create="false"/><rule name="reject"/></queuePlacementPolicy></allocations>',
          differs={r"queue\.((root)?\.|root.al pha|ROOT.alpha)": "! .*(rejected by placement rules\\.|Illegal queue name .*)"})  # Hadoop has words of its own for a name that cannot be
rule_case("eviction", (("yarn.resourcemanager.max-completed-applications", "3"), ("yarn.resourcemanager.state-store.max-completed-applications", "2")))
rule_case("rolling", (("yarn.am.liveness-monitor.expiry-interval-ms", "8000"),
                      ("yarn.resourcemanager.am-rm-tokens.master-key-rolling-interval-secs", "25")))
rule_case("preemption", (("yarn.scheduler.fair.preemption", "true"), ("yarn.scheduler.fair.preemption.cluster-utilization-threshold", "0.5"),
                         ("yarn.scheduler.fair.waitTimeBeforeKill", "3000")),
          '<allocations><queue name="alpha"/><queue name="beta"/><defaultFairSharePreemptionTimeout>1</defaultFairSharePreemptionTimeout>'
          '<defaultFairSharePreemptionThreshold>0.9</defaultFairSharePreemptionThreshold></allocations>', SURFACE)
rule_case("opportunistic")
