"""Files in Hadoop's own HDFS: what containers are given from it, and the engine's input and output in it."""
import collections
import dataclasses
import json
import re
import subprocess

import cases_engine
import cases_mapreduce
import peers
from registry import Spec, case, require_success
from texts import text_file

HDFS = Spec(hdfs=True)
# Where logs go is not said: Hadoop's default is /tmp/logs on the default file system.
LOGS = Spec(hdfs=True, history=False, yarn_site=(("yarn.log-aggregation-enable", "true"),))


@case("all", spec=HDFS)
def hdfs_mapreduce(cluster, work):
    """Job, jars, splits, input and output of a MapReduce job lie in HDFS: Fairlead's nodes localize from it (over WebHDFS)."""
    counts = text_file(work / "text")
    cluster.hdfs.shell("-mkdir", "-p", "/mapreduce")
    cluster.hdfs.shell("-put", work / "text", "/mapreduce/text")
    run = cluster.example("wordcount", "-Dmapreduce.job.reduces=2", "/mapreduce/text", "/mapreduce/out", cwd=work)
    require_success(run, "wordcount")
    cluster.hdfs.shell("-get", "/mapreduce/out", work / "out")
    assert cases_mapreduce.counts_of(work / "out") == dict(counts), "the word count differs"
    logs = cluster.hdfs.shell("-ls", "/mapreduce/out")
    assert "_SUCCESS" in logs, logs


@case("all", spec=HDFS)
def hdfs_engine(cluster, work):
    """The engine reads from and saves to HDFS; a second save to the same place is refused, and nothing is left aside."""
    arguments, check = cases_engine.word_count(work)
    hdfs = cluster.hdfs
    hdfs.shell("-mkdir", "-p", "/engine")
    hdfs.shell("-put", work / arguments[0], "/engine/text")
    paths = [f"{hdfs.web}/engine/text", f"{hdfs.web}/engine/out"]
    cases_engine.finish(cases_engine.start(cluster, work, "word_count", *paths))
    hdfs.shell("-get", "/engine/out", work / "out")
    check()
    listed = hdfs.shell("-ls", "-R", "/engine")
    assert "_temporary" not in listed, listed
    again = work / "again"
    again.mkdir()
    job = cases_engine.start(cluster, again, "word_count", *paths)
    out, err = job.communicate(timeout=120)
    assert job.returncode != 0 and "/engine/out" in out + err, (job.returncode, out, err)
    assert hdfs.shell("-ls", "-R", "/engine") == listed


HA = dataclasses.replace(LOGS, name_nodes=2)


@case("all", spec=HA, own_cluster=True)
def hdfs_of_two_name_nodes(cluster, work):
    """Of two NameNodes the second serves, and then the first: nodes localize MapReduce's files and gather logs there, the engine reads and writes."""
    hdfs = cluster.hdfs
    for serves in ("nn2", "nn1"):
        own = work / serves
        own.mkdir()
        arguments, check = cases_engine.word_count(own)
        cluster.wait(lambda serves=serves: hdfs.serve(serves), "the other NameNode to serve", 60)
        require_success(cluster.example("pi", 2, 10, cwd=own), "pi")
        app = max(app["id"] for app in cluster.apps())
        cluster.wait(lambda app=app: cluster.app(app)["logAggregationStatus"] == "SUCCEEDED", "the logs in HDFS", 60)
        hdfs.shell("-put", own / arguments[0], f"/{serves}")
        cases_engine.finish(cases_engine.start(cluster, own, "word_count", f"hdfs:///{serves}", f"{hdfs.uri}/{serves}-out"))
        hdfs.shell("-get", f"/{serves}-out", own / "out")
        check()


@case("all", spec=LOGS)
def hdfs_logs(cluster, work):
    """The logs of an application are gathered in HDFS, and `yarn logs` finds every container's there."""
    run = cluster.example("pi", 2, 10, cwd=work)
    require_success(run, "pi")
    app = max(app["id"] for app in cluster.apps())
    place = f"/tmp/logs/{cluster.user}/bucket-logs-tfile/{int(app[-4:]):04d}/{app}"

    def listed():
        try:
            return cluster.hdfs.shell("-ls", place)
        except subprocess.CalledProcessError:  # nothing is there yet
            return ""

    cluster.wait(lambda: "127.0.0" in listed() and ".tmp" not in listed(), "the logs in HDFS", 60)
    files = [line.split() for line in listed().splitlines() if app in line]
    assert all(mode.startswith("-rw-r-----") and owner == cluster.user for mode, _, owner, *_ in files), files
    root = next(line for line in cluster.hdfs.shell("-ls", "/tmp").splitlines() if line.endswith("/tmp/logs"))
    assert root.startswith("drwxrwxrwt"), root
    shown = cluster.java("org.apache.hadoop.yarn.client.cli.LogsCLI", "-applicationId", app)
    require_success(shown, "yarn logs")
    containers = set(re.findall(r"^Container: (container_\S+)", shown.stdout, re.M))
    assert len(containers) == 4 and "LogType:syslog" in shown.stdout, (containers, shown.stdout[-2000:])  # the master, two maps, the reduce


def places_text(cluster, work, replication, block_mib=1):
    """A text of some 30 MiB in the HDFS; its path there."""
    path = f"/places/text-{replication}-{block_mib}"
    if path not in cluster.hdfs.shell("-ls", "-R", "/"):
        text_file(work / "text", words=1_500_000)
        (work / "text").write_bytes((work / "text").read_bytes() * 5)
        cluster.hdfs.shell("-mkdir", "-p", "/places")
        cluster.hdfs.shell("-D", f"dfs.replication={replication}", "-D", f"dfs.blocksize={block_mib << 20}", "-put", work / "text", path)
        (work / "text").unlink()
    return path


@dataclasses.dataclass
class Copy:
    """How the tasks that copied the text ran."""
    levels: dict
    seconds: float
    on_host: dict  # tasks by host
    away: dict = dataclasses.field(default_factory=dict)  # of the engine's that ran farther off than they could have: by why

    def __str__(self):
        return f"{self.near():.0%} of the tasks beside their block, {self.seconds:.1f} s, {self.levels}, by host {self.on_host}"

    def near(self):
        return (self.levels.get("NODE_LOCAL", 0) + self.levels.get("PROCESS_LOCAL", 0)) / sum(self.levels.values())


def engine_copy(cluster, work, text, settings, slow_host="nowhere"):
    """The copy by three executors, one a node; a task on `slow_host` takes a second longer."""
    run = work / f"engine-{len(list(work.iterdir()))}"
    for name in ("marks", "events"):
        (run / name).mkdir(parents=True)
    job = [peers.ROOT / "build/tests/engine_faults", "places", run / "marks", 3, f"{cluster.hdfs.web}{text}", run / "out", slow_host]
    options = [word for setting in settings for word in ("--conf", setting)]
    command = [peers.BINARY, "submit", "--hadoop-conf", cluster.conf, "--json", "--queue", "root.alpha", "--executors", 3, "--executor-memory", 3584,
               "--event-log", run / "events", *options, *job]
    cases_engine.finish(subprocess.Popen([str(word) for word in command], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    assert (run / "out/_SUCCESS").exists()
    log = next((run / "events").glob("*.jsonl"))
    history = subprocess.run([peers.BINARY, "history", "--json", log], capture_output=True, text=True, check=True)
    stage = next(stage for stage in json.loads(history.stdout)["stages"] if stage["name"] == "text")
    events = [json.loads(line) for line in log.open()]
    hosts = {event["executor_joined"]["executor"]: event["executor_joined"]["host"] for event in events if "executor_joined" in event}
    launches = [event["task_finished"]["launch"] for event in events if "task_finished" in event]
    on_host = collections.Counter(hosts[launch["executor"]] for launch in launches if launch["stage"] == stage["stage"])
    return Copy(dict(stage["summary"]["levels"]), (stage["ended_ms"] - stage["started_ms"]) / 1000, dict(on_host), dict(stage["summary"]["away"]))


def engine_places(cluster, work):
    """With the default wait nearly all tasks run on a host that has their block."""
    engine_copy(cluster, work, places_text(cluster, work, 1), [])  # the daemons' first work is slow
    for replication in (1, 2):
        for wait in ("3s", "0s"):
            copy = engine_copy(cluster, work, places_text(cluster, work, replication), [f"spark.locality.wait={wait}"])
            print(f"replication {replication}, spark.locality.wait={wait}: {copy}")
            assert wait == "0s" or copy.near() >= 0.95, copy


def engine_beside_a_loaded_host(cluster, work):
    """The tasks of a host that is busy with other work are waited for as Spark does, or taken by others when loads count."""
    text = places_text(cluster, work, 1, block_mib=4)  # several tasks have nothing but one block of one host
    hosts = engine_copy(cluster, work, text, []).on_host
    loaded = max(hosts, key=hosts.get)  # others must have time for its tasks
    (work / "loads").write_text(f"{loaded} 1000\n")
    copies = {}
    for weight in (0, 1.5):
        copies[weight] = engine_copy(cluster, work, text, [f"fairlead.locality.loadWeight={weight}", f"fairlead.locality.loadFile={work}/loads"], loaded)
        print(f"{loaded} is loaded, a task there takes 1 s longer, fairlead.locality.loadWeight={weight}: {copies[weight]}")
    reason = "there, but its host is busier"
    assert reason not in copies[0].away and copies[1.5].away.get(reason, 0) > 0, copies


def spark_places(cluster, work):
    """The same copy by Spark, whose places and waits the engine's are: what is measured beside it."""
    for replication in (1, 2):
        text = places_text(cluster, work, replication)
        for wait in ("3s", "0s"):
            run = work / f"spark-{replication}-{wait}"
            (run / "events").mkdir(parents=True)
            settings = {"spark.locality.wait": wait, "spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file://{run}/events",
                        "spark.eventLog.rolling.enabled": "false", "spark.eventLog.compress": "false", "spark.executor.memory": "3072m",
                        "spark.scheduler.minRegisteredResourcesRatio": "1.0", "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s"}
            options = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
            done = cluster.spark_submit("--num-executors", 3, *options, peers.HERE / "text_copy.py", cluster.hdfs.uri + text, run / "out", timeout=600)
            require_success(done, "spark-submit")
            events = [json.loads(line) for line in next((run / "events").iterdir()).open()]
            tasks = [event["Task Info"] for event in events if event["Event"] == "SparkListenerTaskEnd"]
            stage = next(event["Stage Info"] for event in events if event["Event"] == "SparkListenerStageCompleted")
            copy = Copy(dict(collections.Counter(task["Locality"] for task in tasks)), (stage["Completion Time"] - stage["Submission Time"]) / 1000,
                        dict(collections.Counter(task["Host"] for task in tasks)))
            print(f"Spark {cluster.spec.spark}, replication {replication}, spark.locality.wait={wait}: {copy}")
            assert sum(copy.levels.values()) >= 20, copy


PLACES = Spec(nodes=("fairlead",) * 3, hdfs=True, racks=("/one", "/one", "/two"), history=False)
for _where, _spec in (("", PLACES), ("-on-hadoop", PLACES.all_java())):
    case("all", spec=_spec, name=f"hdfs-engine-places{_where}")(engine_places)
    case("all", spec=_spec, name=f"hdfs-engine-loaded-host{_where}")(engine_beside_a_loaded_host)
    case("all", spec=_spec, name=f"hdfs-spark-places{_where}")(spark_places)


@case("all", spec=HDFS)
def hdfs_engine_missing_input(cluster, work):
    job = cases_engine.start(cluster, work, "word_count", f"{cluster.hdfs.web}/no/such/text", f"{cluster.hdfs.web}/no/out")
    out, err = job.communicate(timeout=120)
    assert job.returncode != 0 and "/no/such/text: no such file or directory" in out + err, (job.returncode, out, err)
