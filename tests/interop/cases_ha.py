"""Two resource managers: Hadoop's nodes, masters and clients at their default settings, and a change of the leader under each kind of work."""
import collections
import os
import re
import signal
import subprocess
import time

from ha_cluster import ACTIVE, STANDBY, HaCluster
from jobs import PausedJob, container_processes, go_on, require_end, stand_still
from registry import Spec, case

TAKEOVER_S = 20  # the machine may be busy; ./bench/run failover measures
AWAY_S = 20
# What Cluster writes for quick restarts is put back to Hadoop's defaults.
DEFAULTS = (("yarn.resourcemanager.connect.retry-interval.ms", "30000"), ("yarn.client.nodemanager-connect.retry-interval-ms", "10000"))
OTHER = {"rm1": "rm2", "rm2": "rm1"}


def on_two(work, spec, test):
    cluster = HaCluster(work / "ha", spec)
    (work / "ha").mkdir(exist_ok=True)
    try:
        cluster.start()
        test(cluster, work)
    finally:
        cluster.stop()


# ---- What befalls the leader; each returns when one leads again and both take part ----

def killed(cluster, leader):
    cluster.kill(leader)
    assert cluster.await_active() == OTHER[leader]
    cluster.start_manager(leader)
    cluster.wait(lambda: cluster.state(leader) == STANDBY, "the killed one as standby")


def stopped(cluster, leader):
    """For longer than its session."""
    cluster.signal(leader, signal.SIGSTOP)
    cluster.wait(lambda: cluster.state(OTHER[leader]) == ACTIVE, "the other to lead")
    cluster.signal(leader, signal.SIGCONT)
    cluster.wait(lambda: cluster.state(leader) == STANDBY, "the stopped one as standby")


def moved(cluster, leader):
    """By Hadoop's own command."""
    run = cluster.java("org.apache.hadoop.yarn.client.cli.RMAdminCLI", "-transitionToActive", "--forcemanual", "--forceactive", OTHER[leader], timeout=120, input="Y\n")
    assert run.returncode == 0, run.stdout + run.stderr
    assert cluster.await_active() == OTHER[leader]


def zookeeper_restarted(cluster, _leader):
    cluster.zookeeper.stop()
    cluster.zookeeper.start()
    cluster.await_active()


def zookeeper_away(cluster, _leader):
    """Nobody may lead meanwhile; what runs goes on."""
    cluster.zookeeper.stop()
    cluster.wait(lambda: cluster.active() is None, "nobody to lead")
    time.sleep(AWAY_S)  # that long is what is tried
    assert cluster.active() is None
    cluster.zookeeper.start()
    cluster.await_active()


FAULTS = (killed, stopped, moved, zookeeper_restarted, zookeeper_away)


# ---- What befalls both ----

def both_take_part(cluster):
    for rm in OTHER:
        if rm not in cluster.processes:
            cluster.start_manager(rm)
    cluster.wait(lambda: {cluster.state(rm) for rm in OTHER} == {ACTIVE, STANDBY}, "one that leads and one that stands by")


def killed_twice(cluster, leader):
    """Whoever takes over is killed as soon as it leads."""
    cluster.kill(leader)
    cluster.start_manager(leader)
    cluster.kill(cluster.await_active())
    both_take_part(cluster)


def killed_in_takeover(cluster, leader):
    """Whoever takes over is killed as soon as it is elected."""
    logs = {rm: cluster.directory / f"{rm}.log" for rm in OTHER}
    before = {rm: log.stat().st_size for rm, log in logs.items()}

    def elected():
        return [rm for rm, log in logs.items() if b"elected over" in log.read_bytes()[before[rm]:]]
    cluster.kill(leader)
    cluster.start_manager(leader)
    cluster.wait(elected, "an election", pause=0.002)
    cluster.kill(elected()[0])
    both_take_part(cluster)


def both_killed(cluster, _leader):
    for rm in OTHER:
        cluster.kill(rm)
    both_take_part(cluster)


def zookeeper_restarted_in_takeover(cluster, leader):
    cluster.kill(leader)
    zookeeper_restarted(cluster, leader)
    both_take_part(cluster)


def stopped_until_the_other_is_killed(cluster, leader):
    """It goes on when nobody leads."""
    cluster.signal(leader, signal.SIGSTOP)
    cluster.wait(lambda: cluster.state(OTHER[leader]) == ACTIVE, "the other to lead")
    cluster.kill(OTHER[leader])
    cluster.signal(leader, signal.SIGCONT)
    both_take_part(cluster)


FAULTS_OF_BOTH = (killed_twice, killed_in_takeover, both_killed, zookeeper_restarted_in_takeover, stopped_until_the_other_is_killed)


# ---- What goes on meanwhile ----

def idle(cluster, _work, fault):
    kept = cluster.submit_sleeper()
    cluster.wait(lambda: cluster.has_container(kept) and cluster.live_containers(), "a container with its process")
    before = cluster.live_containers()
    begin = time.monotonic()
    fault(cluster, cluster.await_active())
    cluster.wait_for_nodes(len(cluster.spec.nodes))
    print(f"{fault.__name__}: every node is back after {time.monotonic() - begin:.2f} s")
    assert cluster.has_container(kept) and cluster.live_containers() == before, "a container was lost"
    _, seconds = cluster.time_to_grant()
    print(f"and a new grant {seconds:.2f} s after that")
    cluster.await_sums(2)


def spark(cluster, work, fault, *options):
    """Two executors and a master keep their containers, and no task runs again."""
    job = PausedJob(cluster, work, "--deploy-mode", "cluster", "--num-executors", "2", *options, rounds=2)
    app_id = job.await_round(1)
    before = container_processes(app_id)
    assert len(before) == 3, before
    fault(cluster, cluster.await_active())
    cluster.wait(lambda: cluster.app(app_id)["state"] == "RUNNING" and cluster.app(app_id)["runningContainers"] == 3,
                 "the application to be as it was")
    assert container_processes(app_id) == before, "a container was lost"
    cluster.await_sums(3)
    job.release(1)
    job.await_round(2)
    job.release(2)
    assert job.result()["task_retries"] == 0, "a task was lost"
    require_end(cluster, app_id)
    cluster.await_sums(0)


def spark_client(cluster, work, fault, *options):
    """The driver outside; an executor that is asked for after the change is granted by the new leader."""
    job = PausedJob(cluster, work, "--deploy-mode", "client", "--num-executors", "2", *options, rounds=1)
    app_id = job.await_round(1)
    before = container_processes(app_id)
    fault(cluster, cluster.await_active())
    cluster.wait(lambda: cluster.app(app_id)["runningContainers"] == 3, "the application to be as it was")
    assert container_processes(app_id) == before, "a container was lost"
    job.release(1)
    assert job.result()["task_retries"] == 0, "a task was lost"
    require_end(cluster, app_id)
    cluster.await_sums(0)


def mapreduce(cluster, work, fault):
    """One attempt, and no task runs twice: a container each for the master, the maps, of which one stands still meanwhile, and the reduce."""
    job = subprocess.Popen(cluster.example_command("pi", "-Dmapreduce.map.speculative=false", 12, 3000000), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           env=cluster.client_environment(), cwd=work)
    try:
        cluster.wait(lambda: cluster.apps() and stand_still(cluster.apps()[0]["id"]), "a task", 120)
        app_id = cluster.apps()[0]["id"]
        fault(cluster, cluster.await_active())
        go_on(app_id)
        out, _ = job.communicate(timeout=300)
    finally:
        job.kill()
    assert job.returncode == 0 and "Estimated value of Pi is 3.1" in out, out[-3000:]
    started = {log.name for log in cluster.directory.glob(f"nm*-logs/{app_id}/container_*")}
    assert len(started) == 14, sorted(started)
    cluster.wait(lambda: cluster.app(app_id)["state"] == "FINISHED", "the end to be known")
    attempts = cluster.get(f"/ws/v1/cluster/apps/{app_id}/appattempts")["appAttempts"]["appAttempt"]
    assert len(attempts) == 1, attempts
    cluster.await_sums(0)


def mapreduce_twice(cluster, work):
    """Over two takeovers."""
    def twice(cluster, leader):
        killed(cluster, leader)
        killed(cluster, cluster.await_active())
    mapreduce(cluster, work, twice)


def commands(cluster, _work):
    """`yarn application` as the leader is killed: each waits for the next one and is right."""
    for action in ("-list", "-status", "-kill"):
        app_id = cluster.submit_sleeper()
        cluster.wait(lambda app_id=app_id: cluster.has_container(app_id), "a container")
        words = cluster.java_command("org.apache.hadoop.yarn.client.cli.ApplicationCLI", "application", action, *([app_id] if action != "-list" else []))
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=cluster.client_environment()) as command:
            killed(cluster, cluster.await_active())
            out, _ = command.communicate(timeout=180)
        assert command.returncode == 0 and app_id in out, out[-3000:]
        if action == "-kill":
            cluster.wait(lambda app_id=app_id: cluster.app(app_id)["state"] == "KILLED", "the kill")
        else:
            cluster.end_app(app_id)
    cluster.await_sums(0)


def submitter(cluster, work, fault):
    """Hadoop's client submits and kills all the time: what it was told is true afterwards."""
    log = work / "submitter.log"
    with open(log, "wb") as out, open(work / "submitter.errors", "wb") as errors:
        process = subprocess.Popen(cluster.program_command("Submitter"), stdin=subprocess.PIPE, stdout=out, stderr=errors,
                                   env=cluster.client_environment())

    def told(word):
        lines = log.read_text().split("\n")[:-1]
        return {line.split()[1] for line in lines if line.startswith(word)}
    try:
        cluster.wait(lambda: len(told("killed")) > 5, "submissions", 60)
        leader = cluster.await_active()
        for _ in range(2):
            fault(cluster, leader)
            leader, before = cluster.await_active(), len(told("submitted"))
            # A call at a manager that stands still waits for its connection's time-out, two minutes.
            cluster.wait(lambda before=before: process.poll() is not None or len(told("submitted")) > before + 4, "submissions after it", 180)
        process.stdin.close()
        assert process.wait(180) == 0, (work / "submitter.errors").read_text()[-3000:]
    finally:
        process.kill()
    states = {app["id"]: app["state"] for app in cluster.apps()}
    submitted, ended = told("submitted"), told("killed")
    print(f"{fault.__name__}: {len(submitted)} submissions, {len(ended)} kills were acknowledged")
    assert submitted <= set(states), f"lost: {sorted(submitted - set(states))}"
    assert {states[app] for app in ended} == {"KILLED"}, {app: states[app] for app in ended}
    assert all(states[app] == "ACCEPTED" for app in submitted - ended), states
    cluster.await_sums()


def clients(cluster, work):
    """Hadoop's clients, a hundred of them with calls open, as each manager is killed in turn: none is sent back to the dead one, to sleep there."""
    kills, log = int(os.environ.get("FAIRLEAD_HA_KILLS", "10")), work / "clients.log"
    with open(log, "wb") as out, open(work / "clients.errors", "wb") as errors:
        process = subprocess.Popen(cluster.program_command("OpenCalls", "100"), stdin=subprocess.PIPE, stdout=out, stderr=errors, env=cluster.client_environment())

    def told():
        return log.read_text().split("\n")[:-1]

    def all_answered(since):
        """Twice each: the first answer may have come in the moment of the kill. A call that was refused by a standby and then met a kill, or met two, is sent to sleep by its own library."""
        answers = collections.Counter(line.split()[1] for line in told()[since:])
        return len(answers) == 100 and min(answers.values()) >= 2
    try:
        cluster.wait(lambda: all_answered(0), "the first calls", 60)
        for _ in range(kills):
            killed(cluster, cluster.await_active())
            before = len(told())
            cluster.wait(lambda before=before: all_answered(before), "the open calls answered", 120)
        process.stdin.close()
        assert process.wait(60) == 0
    finally:
        process.kill()
    lines = told()
    failed = [line for line in lines if line.startswith("failed")]
    assert not failed, failed
    # Those that met a takeover.
    slow = sorted(int(line.split()[2]) / 1000 for line in lines if int(line.split()[2]) > 1000)
    print(f"{kills} kills, {len(slow)} calls that met one: {slow[len(slow) // 2]:.2f} s in the middle, 99 % within {slow[len(slow) * 99 // 100]:.2f} s, {slow[-1]:.2f} s at most")
    assert len(slow) >= 50 * kills, "no calls were open"
    assert slow[len(slow) * 99 // 100] < 4 and slow[-1] < 6, slow[-100:]


# ---- Administration ----

def rmadmin(cluster, _work):
    """Hadoop's commands see one active and one standby, and move it only when forced."""
    leader = cluster.await_active()

    def admin(*words, code=0):
        run = cluster.java("org.apache.hadoop.yarn.client.cli.RMAdminCLI", *words, timeout=120, input="Y\n")
        assert (run.returncode == 0) == (code == 0), f"{words}: {run.returncode}\n{run.stdout}{run.stderr}"
        return run.stdout + run.stderr
    states = admin("-getAllServiceState")
    assert len(re.findall(r":\d+\s+active\s*$", states, re.M)) == 1 and len(re.findall(r":\d+\s+standby\s*$", states, re.M)) == 1, states
    assert "active" in admin("-getServiceState", leader) and "standby" in admin("-getServiceState", OTHER[leader])
    for rm in OTHER:
        admin("-checkHealth", rm)
    admin("-refreshQueues")
    admin("-refreshNodes")
    admin("-transitionToActive", OTHER[leader], code=255)
    assert cluster.await_active() == leader
    admin("-transitionToStandby", "--forcemanual", leader)
    assert cluster.await_active() == OTHER[leader]
    admin("-transitionToActive", "--forcemanual", "--forceactive", leader)
    assert cluster.await_active() == leader
    cluster.wait_for_nodes(len(cluster.spec.nodes))


def add(name, version, spark_version, test):
    spec = Spec(rm=None, hadoop=version, spark=spark_version, nodes=("java", "fairlead"), history=False, yarn_site=DEFAULTS)
    case("all", spec, own_cluster=True, name=f"ha-{name}-{version}")(lambda cluster, work: on_two(work, spec, test))


for _version, _spark in (("3.3.6", "3.5.9"), ("3.4.3", "4.3.0")):
    add("rmadmin", _version, _spark, rmadmin)
    add("commands", _version, _spark, commands)
    add("clients-killed", _version, _spark, clients)
    add("mapreduce-twice", _version, _spark, mapreduce_twice)
    for _fault in FAULTS_OF_BOTH:
        add(f"idle-{_fault.__name__}".replace("_", "-"), _version, _spark, lambda cluster, work, fault=_fault: idle(cluster, work, fault))
    for _on in (idle, spark, spark_client, mapreduce, submitter):
        for _fault in FAULTS:
            add(f"{_on.__name__}-{_fault.__name__}".replace("_", "-"), _version, _spark,
                lambda cluster, work, run=_on, fault=_fault: run(cluster, work, fault))
