"""Daemons, executors and masters killed in the middle of a job (kill -9): nothing that was promised is lost."""
from jobs import PausedJob, container_processes, executors, kill, master, require_end
from registry import Spec, case

SPARKS = ("3.5.9", "4.3.0")


def daemons_killed(cluster, work, *options):
    """The resource manager, the nodes' agents, and all of them at once, each in the middle of a round of one application."""
    job = PausedJob(cluster, work, "--num-executors", "2", *options, rounds=3)
    for number, daemons in enumerate((("rm",), ("nm1", "nm2"), ("rm", "nm1", "nm2")), 1):
        app_id = job.await_round(number)
        before = container_processes(app_id)
        assert len(before) == 3, before
        cluster.restart(*daemons)
        # The nodes report what they still have, and the master comes again: the application lives with each of its containers.
        cluster.wait(lambda: cluster.app(app_id)["state"] == "RUNNING" and cluster.app(app_id)["runningContainers"] == 3,
                     "the application to be as it was")
        assert container_processes(app_id) == before, "a container died with its daemon"
        job.release(number)
    assert job.result()["task_retries"] == 0, "a task was lost"
    require_end(cluster, app_id)
    cluster.wait(lambda: not container_processes(app_id), "the containers' end")


def executors_killed(cluster, work, count):
    job = PausedJob(cluster, work, "--deploy-mode", "client", "--num-executors", "2")
    app_id = job.await_round()
    before = executors(app_id)
    assert len(before) == 2, before
    kill(sorted(before)[:count])
    # Spark asks for others in their place, and runs the lost tasks again.
    cluster.wait(lambda: len(executors(app_id) - before) == count, f"{count} executors in place of the killed", 90)
    job.release()
    assert job.result()["task_retries"] > 0
    require_end(cluster, app_id)


def map_outputs_outlive_executors(cluster, work):
    """All executors are killed between two jobs over one shuffle: the nodes' services still have its files, nothing runs again."""
    job = PausedJob(cluster, work, "--deploy-mode", "client", "--num-executors", "2", "--conf", "spark.shuffle.service.enabled=true", again=True)
    app_id = job.await_round()
    job.release()
    cluster.wait(lambda: job.running() and (work / "idle").exists(), "the first sums", 120)
    before = executors(app_id)
    kill(before)
    cluster.wait(lambda: executors(app_id) - before, "new executors", 90)
    (work / "go-on").write_text("")
    assert job.result()["task_runs"] == job.tasks, "map tasks ran again"
    require_end(cluster, app_id)


def master_killed(cluster, work, *options):
    """Cluster mode: the driver dies with its master, and a second attempt does the whole job."""
    job = PausedJob(cluster, work, "--deploy-mode", "cluster", "--num-executors", "2", *options)
    app_id = job.await_round()
    first = container_processes(app_id)
    kill([master(app_id)])
    job.await_round(attempt=2)
    assert not set(first) & set(container_processes(app_id)), "a container of the first attempt still runs"
    job.release(attempt=2)
    job.result(attempt=2)
    require_end(cluster, app_id)
    attempts = cluster.get(f"/ws/v1/cluster/apps/{app_id}/appattempts")["appAttempts"]["appAttempt"]
    assert len(attempts) == 2, attempts


def master_killed_once_too_often(cluster, work):
    """With one attempt allowed the application fails, and its diagnostics tell how the master ended."""
    job = PausedJob(cluster, work, "--deploy-mode", "cluster", "--num-executors", "1", "--conf", "spark.yarn.maxAppAttempts=1", tasks=1)
    app_id = job.await_round()
    kill([master(app_id)])
    job.finish(code=None)
    app = require_end(cluster, app_id, "FAILED", "FAILED")
    assert "exitCode: 137" in app["diagnostics"], app["diagnostics"]
    cluster.wait(lambda: not container_processes(app_id), "the executors' end")


def submitted_only(cluster, work):
    """An application that no node could take yet outlives its resource manager."""
    for name in ("nm1", "nm2"):
        cluster.kill(name)
    cluster.kill("rm")
    cluster.start_rm()
    cluster.wait_for_nodes(0)
    job = PausedJob(cluster, work, "--deploy-mode", "cluster", "--num-executors", "1", tasks=1)
    cluster.wait(lambda: job.running() and cluster.apps(), "the submission", 120)
    app_id = cluster.apps()[0]["id"]
    cluster.wait(lambda: cluster.app(app_id)["state"] == "ACCEPTED", "the application to be accepted")
    cluster.kill("rm")
    cluster.start_rm()
    cluster.wait(lambda: cluster.app(app_id)["state"] == "ACCEPTED", "the application to be known again")
    for number in (1, 2):
        cluster.start_nm(number)
    assert job.await_round() == app_id
    job.release()
    job.result()
    require_end(cluster, app_id)


for _version in SPARKS:
    _spec = Spec(spark=_version)
    for _mode in ("client", "cluster"):
        case("all", _spec, own_cluster=True, name=f"daemons-killed-{_mode}-{_version}")(
            lambda cluster, work, mode=_mode: daemons_killed(cluster, work, "--deploy-mode", mode))
    case("all", _spec, name=f"one-executor-killed-{_version}")(lambda cluster, work: executors_killed(cluster, work, 1))
    case("all", _spec, name=f"all-executors-killed-{_version}")(lambda cluster, work: executors_killed(cluster, work, 2))
    case("all", _spec, name=f"map-outputs-outlive-executors-{_version}")(map_outputs_outlive_executors)
    case("all", _spec, name=f"master-killed-{_version}")(master_killed)
    case("all", _spec, name=f"master-killed-once-too-often-{_version}")(master_killed_once_too_often)
case("all", Spec(spark="3.5.9"), own_cluster=True)(submitted_only)
