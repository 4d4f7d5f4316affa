"""YARN's own client surface."""
import dataclasses
import re
import subprocess

import peers
import recordings
from registry import Spec, case, require_success

SURFACE = Spec(history=False, yarn_site=(
    ("yarn.log-aggregation-enable", "true"),
    ("yarn.nodemanager.remote-app-log-dir", "${hadoop.tmp.dir}/app-logs"),
    ("yarn.resourcemanager.application-timeouts.monitor.interval-ms", "500"),
    ("yarn.resourcemanager.nodes.exclude-path", "{directory}/exclude"),
))
# Why a master has not come yet: whether Hadoop says so depends on the moment.
WAITS = re.compile(r"(?<=diagnostics=)\[[A-Z][^\]]*\] (Scheduler has assigned a container|AM container is launched|Application is added to the scheduler).*?(?= type=|$)")
# Where a container runs is no question.
ONE_NODE = dataclasses.replace(SURFACE, nodes=("fairlead",))


def rows_of(cluster, work, program, *arguments, timeout=500):
    """The rows that a program of tests/interop/java/surface prints about this cluster."""
    out, err = work / f"{program}.out", work / f"{program}.err"
    with open(out, "wb") as stdout, open(err, "wb") as stderr:
        program_run = subprocess.Popen(cluster.program_command(program, *arguments), stdout=stdout, stderr=stderr,
                                       env={**cluster.client_environment(), "PUPPETS": str(work / "puppets")})
    try:
        cluster.wait(lambda: program_run.poll() is not None, program, timeout)  # fails at once when a daemon dies
    finally:
        program_run.kill()
        program_run.wait()
    if program_run.returncode != 0:
        raise AssertionError(f"{program} ended with {program_run.returncode}\n{out.read_text()[-2000:]}\n{err.read_text()[-4000:]}")
    return [WAITS.sub("", line) for line in out.read_text().splitlines() if " | " in line]


@case("smoke")
def yarn_client(cluster, work):
    require_success(cluster.java(peers.HERE / "java/YarnClientCase.java", timeout=180), "YarnClientCase")


@case("all", spec=SURFACE)
def client_surface(cluster, work):
    """Each operation of YarnClient on good and on bad arguments: values, states, exceptions, diagnostics."""
    recordings.compare("client-surface", rows_of(cluster, work, "ClientSurface"), work, differs={
        "delegation-token": "! java.lang.UnsupportedOperationException: .*",
        # A user called root and no queue: Hadoop says "root", which is no leaf.
        "submit.(no-queue|default)": "ACCEPTED UNDEFINED queue=root.root .*",
        # The profile `fairlead` has priorities.
        "submit.priority-999": "ACCEPTED UNDEFINED queue=root.alpha progress=0.0 priority=999 .*",
        "priority": "7",
        "report.running|update.final": ".* priority=7 .*",
        "queue.busy": "root.beta .* RUNNING apps=n .*",
        # Hadoop's FairScheduler has not come round to it within the time that the probe waits.
        "update.increase": r"\[INCREASE_RESOURCE .* <memory:1024, vCores:1> version=1, succeeded \[container_.*\] failed \[\]\]",
        "update.decrease": r"\[DECREASE_RESOURCE .* <memory:512, vCores:1> version=2, succeeded \[container_.*\] failed \[\]\]",
        # Hadoop says nothing, and takes no further update.
        "update.(smaller|bigger-decrease)": r"\[error RESOURCE_OUTSIDE_ALLOWED_RANGE version=0 of .*\]",
        "update.promote-guaranteed": r"\[error UPDATE_TYPE_NOT_SUPPORTED version=0 of .*\]",
    })


@case("all", spec=ONE_NODE, own_cluster=True)
def command_lines(cluster, work):
    """What `yarn application, applicationattempt, container, node, queue, cluster, logs, rmadmin` and `mapred queue` print."""
    recordings.compare("command-lines", rows_of(cluster, work, "CommandLines"), work, differs={
        "logs -applicationId DONE": r"exit 0\\nContainer: .*LogType:directory.info.*LogType:stdout.*",  # names sizes and times of files
        "logs -applicationId DONE -show_container_log_info": r"exit 0\\nContainer: .*launch_container.sh \d+ .*",
        # Shares are capped by demand, queues come by name.
        "mapred queue -(list|info root.beta -showJobs|showacls)": "exit 0.*root.beta.*",
    })


def documented():
    """RPC -> answer, as docs/yarn-compatibility.md has it."""
    text = (peers.ROOT / "docs/yarn-compatibility.md").read_text()
    return dict(re.findall(r"^\| `(\w+\.\w+)` \| (\w+) \|", text, re.MULTILINE))


@case("all", spec=SURFACE)
def every_method(cluster, work):
    """What each method of each protocol answers to an empty request: Hadoop's answer, or UnsupportedOperation where the docs say so."""
    unsupported = {name: r"! java\.lang\.UnsupportedOperationException .*" for name, answer in documented().items() if answer == "UnsupportedOperation"}
    rows = rows_of(cluster, work, "EveryMethod", "call")
    recordings.compare("every-method", rows, work, differs={
        **unsupported,
        ".*getResourceProfile": "! org.apache.hadoop.yarn.exceptions.YARNFeatureNotEnabledException .*",
        ".*refreshNodes": "! org.apache.hadoop.yarn.exceptions.YarnException .*NoSuchFileException.*",
    })
    if recordings.RECORD:
        return
    seen = {row.partition(" | ")[0] for row in rows if "UnsupportedOperationException" in row}
    assert seen <= set(unsupported), f"not documented as unsupported: {seen - set(unsupported)}"


@case("all", spec=Spec(hadoop="3.5.0", rm=None))
def rpc_table(cluster, work):
    """The table of RPCs in the docs lists what Hadoop's own jars list, of two releases."""
    listed = set()
    for version in ("3.3.6", "3.5.0"):
        listed |= {line.partition(" | ")[0] for line in peers.run_java(version, work, "EveryMethod")}
    missing, stale = listed - set(documented()), set(documented()) - listed
    assert not missing and not stale, f"missing in the docs: {sorted(missing)}; in no jar: {sorted(stale)}"


@case("all", spec=SURFACE, own_cluster=True)
def decommission(cluster, work):
    """`yarn rmadmin -refreshNodes -g`: the node takes nothing new, ends with its last container, and its daemon goes."""
    cluster.may_end = {"nm2"}
    exclude = cluster.directory / "exclude"
    exclude.write_text("")
    recordings.compare("decommission", rows_of(cluster, work, "Decommission", exclude), work)


@case("all", spec=Spec(), own_cluster=True)
def exclude_file_added_later(cluster, work):
    """`refreshNodes` reads yarn-site.xml anew: an exclude file that it names only since then counts, without a restart."""
    exclude = work / "exclude"
    exclude.write_text("127.0.0.2\n")
    site = cluster.conf / "yarn-site.xml"
    site.write_text(site.read_text().replace(
        "</configuration>", f"<property><name>yarn.resourcemanager.nodes.exclude-path</name><value>{exclude}</value></property></configuration>"))
    require_success(cluster.java("org.apache.hadoop.yarn.client.cli.RMAdminCLI", "-refreshNodes"), "rmadmin -refreshNodes")
    cluster.may_end = {"nm2"}
    cluster.wait(lambda: cluster.get("/ws/v1/cluster/metrics")["clusterMetrics"]["decommissionedNodes"] == 1, "the excluded node to go")
