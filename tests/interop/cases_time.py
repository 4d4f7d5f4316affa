"""Time that goes wrong under a Standalone cluster in mid-job: its daemons are stopped for longer than the master waits for workers, or
their clock is set an hour forward and back. What of this happens to the other daemons is in tests/adversary/time_test.py."""
import signal
import time

import spark_cluster
from clock import HOUR, Clock
from jobs import PausedJob
from registry import case

TIMEOUT_S = 6


def heard_from(cluster, since, ahead=0):
    """Whether all workers are alive and have sent heartbeats since, by a clock that is ahead."""
    workers = cluster.page()["workers"]
    return all(worker["state"] == "ALIVE" and abs(worker["lastheartbeat"] / 1000 - ahead - time.time()) < HOUR / 2
               and worker["lastheartbeat"] / 1000 - ahead > since for worker in workers)


def require_end(cluster, job, app_id, before):
    assert cluster.processes_of(app_id) == before
    job.release()
    assert job.result()["task_retries"] == 0
    assert [worker["state"] for worker in cluster.page()["workers"]] == ["ALIVE", "ALIVE"]
    assert "worker lost" not in job.text()


def stopped(cluster, work):
    """Master, then also workers, do not run for a while: nobody is given up, the job has its executors still."""
    job = PausedJob(cluster, work)
    app_id = job.await_round()
    before = cluster.processes_of(app_id)
    ours = [name for name in ("worker-0", "worker-1") if cluster.spec.worker == "fairlead"]
    for names in (["master"], ["master", *ours]):
        for name in names:
            cluster.processes[name].send_signal(signal.SIGSTOP)
        time.sleep(TIMEOUT_S * 2)  # the fault itself
        resumed = time.time()
        for name in names:
            cluster.processes[name].send_signal(signal.SIGCONT)
        cluster.wait(lambda: heard_from(cluster, resumed), "the workers", 20)  # pylint: disable=cell-var-from-loop
    require_end(cluster, job, app_id, before)


def clock_set(cluster, work):
    """Master and workers see an hour more, then less."""
    clock = Clock()
    plain = cluster.environment
    cluster.environment = {**plain, **clock.environment}
    try:
        for name in ("worker-0", "worker-1", "master"):
            cluster.kill(name)
        cluster.start_master()
        for number, cores in enumerate(cluster.spec.workers):
            cluster.start_worker(number, cores)
        cluster.wait(lambda: cluster.page()["aliveworkers"] == 2, "the workers' registration")
        cluster.environment = plain  # Spark's driver is not to be tested
        job = PausedJob(cluster, work)
        app_id = job.await_round()
        before = cluster.processes_of(app_id)
        for seconds in (HOUR, 0, -HOUR, 0):
            clock.set(seconds)
            since = time.time()
            cluster.wait(lambda: heard_from(cluster, since, seconds), "the workers", 20)  # pylint: disable=cell-var-from-loop
        require_end(cluster, job, app_id, before)
    finally:
        clock.remove()


def register(name, run, workers):
    for worker in workers:
        made = spark_cluster.Spec(spark="3.5.9", worker=worker, conf=(("spark.worker.timeout", str(TIMEOUT_S)),))
        case("all", made, own_cluster=True, name=f"time-{name}-{worker}-workers")(run)


register("stopped", stopped, ("spark", "fairlead"))
register("clock-set", clock_set, ("fairlead",))
