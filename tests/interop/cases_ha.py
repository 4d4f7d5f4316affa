"""Two resource managers: Hadoop's nodes and clients at their default settings, the leader killed and stopped in the middle of a job."""
import signal
import time

from ha_cluster import FORCED, STANDBY, HaCluster
from registry import Spec, case

TAKEOVER_S = 20  # the machine may be busy; ./bench/run failover measures
# What Cluster writes for quick restarts is put back to Hadoop's defaults.
DEFAULTS = (("yarn.resourcemanager.connect.retry-interval.ms", "30000"),)


def on_two(work, spec, test):
    cluster = HaCluster(work / "ha", spec)
    (work / "ha").mkdir(exist_ok=True)
    try:
        cluster.start()
        test(cluster)
    finally:
        cluster.stop()


def leader_killed(cluster):
    leader = cluster.await_active()
    kept = cluster.submit_sleeper()
    cluster.wait(lambda: cluster.has_container(kept), "a container")
    begin = time.monotonic()
    cluster.kill(leader)
    cluster.wait_for_nodes(len(cluster.spec.nodes))
    print(f"every node is back {time.monotonic() - begin:.2f} s after kill -9")
    assert time.monotonic() - begin < TAKEOVER_S
    assert cluster.has_container(kept), "a container was lost"
    _, seconds = cluster.time_to_grant()
    print(f"and a new grant {seconds:.2f} s after that")


def pi_goes_on(cluster, fault):
    """MapReduce's example with the fault in its middle: it succeeds, with one attempt."""
    import subprocess
    leader = cluster.await_active()
    job = subprocess.Popen(cluster.example_command("pi", 8, 2000000), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           env=cluster.client_environment())
    cluster.wait(lambda: cluster.apps() and cluster.apps()[0]["runningContainers"] > 1, "a task", 120)
    app_id = cluster.apps()[0]["id"]
    fault(leader)
    out, _ = job.communicate(timeout=240)
    assert job.returncode == 0 and "Estimated value of Pi is 3.1" in out, out[-3000:]
    cluster.wait(lambda: cluster.app(app_id)["state"] == "FINISHED", "the end to be known")
    attempts = cluster.get(f"/ws/v1/cluster/apps/{app_id}/appattempts")["appAttempts"]["appAttempt"]
    assert len(attempts) == 1, attempts


def pi_with_killed_leader(cluster):
    pi_goes_on(cluster, cluster.kill)


def pi_with_planned_transition(cluster):
    other = {"rm1": "rm2", "rm2": "rm1"}
    pi_goes_on(cluster, lambda leader: cluster.ha_call(other[leader], "transitionToActive", FORCED))


def rmadmin(cluster):
    """Hadoop's own command sees one active and one standby."""
    leader = cluster.await_active()
    run = cluster.java("org.apache.hadoop.yarn.client.cli.RMAdminCLI", "-getAllServiceState", timeout=120)
    assert run.returncode == 0 and run.stdout.count("active") == 1 and run.stdout.count("standby") == 1, run.stdout + run.stderr
    cluster.signal(leader, signal.SIGSTOP)
    cluster.wait(lambda: [rm for rm in cluster.ports if rm != leader and cluster.state(rm) == 1], "the other to lead")
    cluster.signal(leader, signal.SIGCONT)
    cluster.wait(lambda: cluster.state(leader) == STANDBY, "the stopped one as standby")


for _version in ("3.3.6", "3.4.3"):
    _spec = Spec(rm=None, hadoop=_version, nodes=("java", "fairlead"), history=False, yarn_site=DEFAULTS)
    for _test in (leader_killed, pi_with_killed_leader, pi_with_planned_transition, rmadmin):
        case("all", _spec, own_cluster=True, name=f"ha-{_test.__name__.replace('_', '-')}-{_version}")(
            lambda cluster, work, spec=_spec, test=_test: on_two(work, spec, test))
