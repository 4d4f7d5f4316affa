"""Profile `tdw`: groups, pools and sessions for unmodified MapReduce and Spark."""
import subprocess

import peers
from cases_mapreduce import counts_of
from jobs import Background, PausedJob, container_processes, executors, require_end
from registry import Spec, case, require_success
from texts import text_file

ALLOCATIONS = """<allocations>
  <queue name="bi">
    <priority>1</priority>
    <queue name="daily"><weight>2</weight></queue>
    <queue name="hourly"><minResources>0 mb, 3 vcores</minResources></queue>
  </queue>
  <queue name="search"><queue name="index"><schedulingPolicy>fifo</schedulingPolicy></queue></queue>
</allocations>
"""
TDW = Spec(allocations=ALLOCATIONS, history=False, yarn_site=(
    ("fairlead.scheduler.profile", "tdw"),
    ("yarn.scheduler.fair.preemption", "true"),
))
MOST_EXECUTORS = 10  # with Spark's master they leave one of the cluster's twelve cores


def app_of(cluster, queue):
    """The one application that the queue has."""
    found = [app for app in cluster.apps() if app["queue"] == queue]
    assert len(found) == 1, (queue, cluster.apps())
    return found[0]["id"]


@case("all", spec=TDW)
def tdw_three_pools(cluster, work):
    """MapReduce and Spark at the same time in three pools of two groups."""
    counts = text_file(work / "text")
    job = PausedJob(cluster, work, "--deploy-mode", "client", "--num-executors", "2", "--conf", "spark.yarn.queue=root.search.index")
    daily = Background(work, "daily", cluster.example_command("pi", "-Dmapreduce.job.queuename=root.bi.daily", "3", "1000"),
                       cluster.client_environment())
    hourly = Background(work, "hourly", cluster.example_command("wordcount", "-Dmapreduce.job.queuename=root.bi.hourly", work / "text", work / "out"),
                        cluster.client_environment())
    spark = job.await_round()
    assert cluster.app(spark)["queue"] == "root.search.index"
    daily.finish()
    hourly.finish()
    assert "Estimated value of Pi is 3.1" in daily.text(), daily.text()[-2000:]
    assert counts_of(work / "out") == dict(counts), "the word count differs"
    for queue in ("root.bi.daily", "root.bi.hourly"):
        require_end(cluster, app_of(cluster, queue))
    job.release()
    job.result()
    require_end(cluster, spark)


def generate(cluster, work, name):
    """A job of two maps in the pool with a minimum: in a full cluster they run where Spark's youngest executors were."""
    run = cluster.example("teragen", "-Dmapreduce.job.maps=2", "-Dmapreduce.job.queuename=root.bi.hourly", "2000", work / name, cwd=work, timeout=120)
    require_success(run, "teragen")
    assert sum(part.stat().st_size for part in (work / name).glob("part-m-*")) == 200_000


@case("all", spec=TDW, own_cluster=True)
def tdw_preemption(cluster, work):
    """A full cluster: the hungry pool gets young grants of another one, before and after a restart of the resource manager."""
    job = PausedJob(cluster, work, "--deploy-mode", "client", "--num-executors", str(MOST_EXECUTORS),
                    "--conf", "spark.yarn.queue=root.search.index")
    app_id = job.await_round()

    def all_run():
        return cluster.app(app_id)["runningContainers"] == MOST_EXECUTORS + 1 and len(executors(app_id)) == MOST_EXECUTORS

    cluster.wait(all_run, "all executors", 120)
    before = executors(app_id)
    generate(cluster, work, "first")
    cluster.wait(all_run, "executors in place of those taken back", 120)
    assert len(before - executors(app_id)) == 2, "other than two executors were taken back"
    before = container_processes(app_id)
    cluster.restart("rm")
    cluster.wait(lambda: cluster.app(app_id)["state"] == "RUNNING" and all_run(), "the application to be as it was")
    assert container_processes(app_id) == before, "a container died with the resource manager"
    generate(cluster, work, "second")
    job.release()
    job.result()
    require_end(cluster, app_id)


@case("all", spec=TDW, own_cluster=True)
def tdw_sessions_that_are_not_preempted(cluster, work):
    """By its tag a session keeps what it has; `why` says what the hungry pool's task waits for."""
    job = PausedJob(cluster, work, "--deploy-mode", "client", "--num-executors", str(MOST_EXECUTORS), "--conf", "spark.yarn.queue=root.search.index",
                    "--conf", "spark.yarn.tags=fairlead.not-preemptable")
    spark = job.await_round()
    cluster.wait(lambda: len(executors(spark)) == MOST_EXECUTORS, "all executors", 120)
    hungry = Background(work, "hungry", cluster.example_command("teragen", "-Dmapreduce.job.maps=2", "-Dmapreduce.job.queuename=root.bi.hourly",
                                                                "2000", work / "rows"), cluster.client_environment())

    def waits():
        found = [app for app in cluster.apps() if app["queue"] == "root.bi.hourly" and app["state"] == "RUNNING"]
        if not hungry.running() or not found:
            return False
        why = subprocess.run([peers.BINARY, "app", found[0]["id"], "--hadoop-conf", cluster.conf], capture_output=True, text=True, timeout=30)
        return "CLUSTER_FULL" in why.stdout

    cluster.wait(waits, "the maps to wait for room", 60)
    job.release()
    job.result()
    hungry.finish()
    require_end(cluster, app_of(cluster, "root.bi.hourly"))
    assert cluster.app(spark)["preemptedMemorySeconds"] == 0, "an executor was taken back"
