"""Spark's drivers on `--master spark://` of `fairlead spark-master`."""
import copy
import dataclasses
import json
import pathlib
import re
import subprocess

import peers
import spark_messages
from jobs import Background, PausedJob, container_processes, kill, require_end
from registry import Spec, case, require_success
from texts import text_file

SPARKS = ("3.5.9", "4.3.0")
HERE = Spec(spark=SPARKS[0], history=False)
READY = "the Spark master is ready"
DYNAMIC = {"spark.shuffle.service.enabled": "true", "spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.shuffleTracking.enabled": "false",
           "spark.dynamicAllocation.initialExecutors": 2, "spark.dynamicAllocation.minExecutors": 0, "spark.dynamicAllocation.maxExecutors": 3,
           "spark.dynamicAllocation.executorIdleTimeout": "2s"}


def master(cluster, sparks=SPARKS):
    """The address of the cluster's Spark master, started by its first user. It takes drivers of these releases."""
    if "spark-master" not in cluster.processes:
        cluster.spark_master, = peers.free_ports(1)
        peers.fetch(*(f"spark-{spark}" for spark in sparks))
        start_master(cluster, sparks)
    return f"spark://127.0.0.1:{cluster.spark_master}"


def start_master(cluster, sparks=SPARKS):
    homes = [word for spark in sparks for word in ("--spark-home", peers.spark(spark))]
    ready = log(cluster).count(READY)
    cluster.spawn("spark-master", [peers.BINARY, "spark-master", "--hadoop-conf", cluster.conf, "--port", cluster.spark_master, "--queue", "root.alpha", *homes])
    cluster.wait(lambda: log(cluster).count(READY) > ready, "the Spark master")


def log(cluster):
    path = cluster.directory / "spark-master.log"
    return path.read_text() if path.exists() else ""


def options(cluster, **conf):
    """The words of spark-submit for it."""
    every = {"spark.cores.max": 2, "spark.driver.bindAddress": "127.0.0.1", **conf}
    return ["--master", master(cluster), *(word for key, value in every.items() for word in ("--conf", f"{key}={value}"))]


def with_spark(cluster, spark):
    """The same cluster for drivers of another release."""
    other = copy.copy(cluster)
    other.spec = dataclasses.replace(cluster.spec, spark=spark)
    return other


def word_count(cluster, work, **conf):
    counts = text_file(work / "text")
    run = cluster.spark_submit(*options(cluster, **conf), peers.HERE / "wordcount.py", work / "text", work / "counts", timeout=300)
    require_success(run, "spark-submit")
    found = {word: int(count) for word, count in (line.split() for line in (work / "counts").read_text().splitlines())}
    assert found == dict(counts), "the word count differs"
    return require_end(cluster, re.search(r"APPLICATION (\S+)", run.stdout)[1])


def finds_its_queue(cluster, work):
    app = word_count(cluster, work, **{"spark.executorEnv.FAIRLEAD_QUEUE": "root.beta"})
    assert app["queue"] == "root.beta" and app["applicationType"] == "SPARK" and app["name"] == "interop word count", app


def dynamic_allocation(cluster, work):
    """All executors idle out and are given back; a later job reads their map outputs from the shuffle services."""
    job = PausedJob(cluster, work, *options(cluster, **DYNAMIC), again=True)
    app_id = job.await_round()
    job.release()
    cluster.wait(lambda: job.running() and (work / "idle").exists(), "the first sums", 120)
    cluster.wait(lambda: not container_processes(app_id), "the executors to be given back", 120)
    cluster.wait(lambda: cluster.app(app_id)["runningContainers"] <= 0, "the containers to be gone")
    (work / "go-on").write_text("")
    assert job.result()["task_runs"] == job.tasks, "map tasks ran again"
    require_end(cluster, app_id)


def executor_killed(cluster, work):
    """The tasks of a killed executor run again on one that replaces it."""
    job = PausedJob(cluster, work, *options(cluster), rounds=2)
    app_id = job.await_round()
    job.release()
    job.await_round(2)
    victim = next(iter(container_processes(app_id).values()))
    kill([victim])
    job.release(2)
    result = job.result()
    assert result["task_runs"] > 2 * job.tasks or result["task_retries"] > 0, result
    assert "an executor ended" in log(cluster)
    require_end(cluster, app_id)


def application_killed(cluster, work):
    """The driver ends and says who killed it."""
    job = PausedJob(cluster, work, *options(cluster))
    app_id = job.await_round()
    require_success(subprocess.run([peers.BINARY, "kill", "--hadoop-conf", cluster.conf, app_id], capture_output=True, text=True), "fairlead kill")
    job.finish(code=None, timeout=120)
    assert re.search(f"Master removed our application: .*{app_id} was killed by user", job.text()), job.text()[-4000:]
    require_end(cluster, app_id, "KILLED", "KILLED")
    cluster.wait(lambda: not container_processes(app_id), "the executors' end")


def driver_killed(cluster, work):
    """The application of a driver that is gone fails and leaves nothing behind."""
    job = PausedJob(cluster, work, *options(cluster))
    app_id = job.await_round()
    job.stop()
    app = require_end(cluster, app_id, "FINISHED", "FAILED")
    assert "the driver's connection ended" in app["diagnostics"], app
    cluster.wait(lambda: not container_processes(app_id), "the executors' end")


def master_killed(cluster, work):
    """kill -9 of the Spark master in mid-task: no executor ends, no task runs again. What ends while it is away, or later, is replaced."""
    job = PausedJob(cluster, work, *options(cluster), rounds=3)
    app_id = job.await_round()
    before = container_processes(app_id)
    restart_master(cluster, app_id)
    job.release()
    job.await_round(2)
    assert container_processes(app_id) == before, "executors were lost"
    restart_master(cluster, app_id, lambda: kill([next(iter(before.values()))]))
    cluster.wait(lambda: len(container_processes(app_id)) == 2 and container_processes(app_id) != before, "the killed executor's successor")
    job.release(2)
    job.await_round(3)
    between = container_processes(app_id)
    kill([next(iter(between.values()))])
    cluster.wait(lambda: len(container_processes(app_id)) == 2 and container_processes(app_id) != between, "its successor's successor")
    job.release(3)
    assert job.result()["task_retries"] <= 2
    require_end(cluster, app_id)


def restart_master(cluster, app_id, meanwhile=lambda: None):
    """kill -9 and a new start; returns when the application's driver has been called back."""
    line = f"an application goes on application={app_id}"
    lives = log(cluster).count(line)
    cluster.kill("spark-master")
    meanwhile()
    start_master(cluster)
    cluster.wait(lambda: log(cluster).count(line) > lives, "the driver to be called back")


def manager_killed(cluster, work):
    """kill -9 of the resource manager in mid-task: no executor ends, and the application is there again."""
    job = PausedJob(cluster, work, *options(cluster), rounds=2)
    app_id = job.await_round()
    before = container_processes(app_id)
    cluster.restart("rm")
    cluster.wait(lambda: cluster.app(app_id)["state"] == "RUNNING", "the application to run again")
    job.release()
    job.await_round(2)
    job.release(2)
    assert container_processes(app_id) == before, "executors were lost"
    assert job.result()["task_retries"] == 0
    require_end(cluster, app_id)


def crashing_executors(cluster, work):
    """An application whose executors cannot start is given up, and its driver says why."""
    conf = {"spark.executor.extraJavaOptions": "-XX:+NoSuchOptionAtAll -XX:-IgnoreUnrecognizedVMOptions"}
    text_file(work / "text")
    run = cluster.spark_submit(*options(cluster, **conf), peers.HERE / "wordcount.py", work / "text", work / "counts", timeout=200)
    assert run.returncode != 0
    assert "executors failed one after the other" in run.stderr, run.stderr[-4000:]
    app = cluster.apps()[-1]
    assert "executors failed one after the other" in require_end(cluster, app["id"], "FINISHED", "FAILED")["diagnostics"], app


def too_large(cluster, work):
    """Executors larger than any container may be end the driver with the resource manager's reason."""
    run = cluster.spark_submit(*options(cluster, **{"spark.executor.memory": "100g"}), peers.HERE / "wordcount.py", work, work / "counts", timeout=120)
    assert run.returncode != 0
    assert re.search("Master removed our application: .*Invalid resource request", run.stderr), run.stderr[-4000:]


def node_lost(cluster, work):
    """A node that the resource manager gives up takes its map outputs with it: the driver is told, and computes them again."""
    job = PausedJob(cluster, work, *options(cluster, **{"spark.shuffle.service.enabled": "true"}), rounds=1, again=True)
    app_id = job.await_round()
    job.release()
    cluster.wait(lambda: job.running() and (work / "idle").exists(), "the first sums", 120)
    cluster.may_end.add("nm2")
    cluster.kill("nm2")
    gone = re.compile(r"Executor updated: \S+ is now LOST \(node 127\.0\.0\.2 is lost")
    cluster.wait(lambda: job.running() and gone.search(job.text()), "the driver to hear of it", 60)
    (work / "go-on").write_text("")
    job.result()
    require_end(cluster, app_id)


def profiles(cluster, work):
    """Stage-level scheduling: some stages' executors have another size than the default one, which says what a profile leaves open."""
    conf = {**DYNAMIC, "spark.cores.max": 6, "spark.executor.cores": 3, "spark.executor.memory": "800m"}
    run = cluster.spark_submit(*options(cluster, **conf), peers.HERE / "profiles_job.py", work / "result", timeout=300)
    require_success(run, "spark-submit")
    found = json.loads((work / "result").read_text())
    require_end(cluster, found.pop("application"))
    executors = {"own": [2, "-Xmx600M"], "tasks only": [3, "-Xmx800M"], "heap only": [3, "-Xmx700M"]}
    assert found == {name: {"sum": sum(range(100)), "executors": [executor]} for name, executor in executors.items()}, found


def placeholders(cluster, work):
    """Java options of executors may name their application and their own number."""
    conf = {"spark.executor.extraJavaOptions": "-Dinterop={{APP_ID}}/{{EXECUTOR_ID}}"}
    job = PausedJob(cluster, work, *options(cluster, **conf))
    app_id = job.await_round()
    for pid in container_processes(app_id).values():
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        assert f"-Dinterop={app_id}/{words[words.index('--executor-id') + 1]}" in words, words
    job.release()
    job.result()
    require_end(cluster, app_id)


def messages(cluster, work):
    """Random messages of Spark's own serializer are understood, and what a master says has the bytes it gives."""
    assert spark_messages.compare(peers.spark(cluster.spec.spark), 1, 3000, work), "there are differences; see above"


def class_numbers(cluster, work):
    """What is computed from the class files of an installed Spark is what its Java virtual machine wrote when it was recorded."""
    spark = cluster.spec.spark
    run = subprocess.run([peers.BINARY.parent / "tests/oracle/oracle_spark_classes", peers.spark(spark), spark], capture_output=True, text=True)
    require_success(run, "oracle_spark_classes")
    assert int(run.stdout.split()[0]) > 60, run.stdout


def two_releases(cluster, work):
    jobs = []
    for spark in SPARKS:
        (work / spark).mkdir()
        jobs.append(PausedJob(with_spark(cluster, spark), work / spark, *options(cluster)))
    apps = [job.await_round() for job in jobs]
    for job in jobs:
        job.release()
    for job, app_id in zip(jobs, apps):
        job.result()
        require_end(cluster, app_id)


def unknown_build(cluster, work):
    """A driver of a build that the master does not know is refused with what to do."""
    url = master(cluster, sparks=SPARKS[:1])
    command, environment = with_spark(cluster, SPARKS[1]).spark_command("--master", url, peers.HERE / "wordcount.py", work, work / "counts")
    driver = Background(work, "driver", command, environment)
    cluster.wait(lambda: driver.running() and "of a build of Spark that is not known here" in log(cluster), "the refusal")
    line = next(line for line in log(cluster).splitlines() if "not known here" in line)
    assert "3.5.9, Scala 2.12" in line and "--spark-home" in line, line
    driver.stop()
    assert cluster.apps() == [], cluster.apps()


for _version in SPARKS:
    _spec = dataclasses.replace(HERE, spark=_version)
    case("all", _spec, name=f"spark-master-word-count-{_version}")(word_count)
    case("all", _spec, name=f"spark-master-dynamic-allocation-{_version}")(dynamic_allocation)
    case("all", _spec, name=f"spark-master-executor-killed-{_version}")(executor_killed)
    case("all", _spec, name=f"spark-master-killed-{_version}")(master_killed)
    case("all", _spec, own_cluster=True, name=f"spark-master-rm-killed-{_version}")(manager_killed)
    case("all", _spec, name=f"spark-master-application-killed-{_version}")(application_killed)
case("all", HERE, name="spark-master-queue")(finds_its_queue)
case("all", HERE, name="spark-master-driver-killed")(driver_killed)
case("all", HERE, name="spark-master-crashing-executors")(crashing_executors)
case("all", HERE, name="spark-master-too-large")(too_large)
_soon = dataclasses.replace(HERE, yarn_site=(("yarn.nm.liveness-monitor.expiry-interval-ms", "6000"),))
case("all", _soon, own_cluster=True, name="spark-master-node-lost")(node_lost)
for _version in SPARKS:
    case("all", dataclasses.replace(HERE, spark=_version), name=f"spark-master-profiles-{_version}")(profiles)
case("all", HERE, name="spark-master-placeholders")(placeholders)
case("all", HERE, name="spark-master-two-releases")(two_releases)
case("all", HERE, own_cluster=True, name="spark-master-unknown-build")(unknown_build)
for _version in ("3.5.5", "4.3.0"):
    case("all", Spec(spark=_version, rm=None), name=f"spark-class-numbers-{_version}")(class_numbers)
    case("all", Spec(spark=_version, rm=None), name=f"spark-messages-{_version}")(messages)
for _case in (word_count, dynamic_allocation, application_killed, master_killed, manager_killed):
    case("all", HERE.all_java(), name="spark-master-java-yarn-" + _case.__name__.replace("_", "-"))(_case)
