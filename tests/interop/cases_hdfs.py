"""Files in Hadoop's own HDFS: what containers are given from it, and the engine's input and output in it."""
import json
import subprocess

import cases_engine
import cases_mapreduce
import peers
from registry import Spec, case, require_success
from texts import text_file

HDFS = Spec(hdfs=True)


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


def shares_of_levels(cluster, work, replication, options):
    """Runs the copy of a text by three executors, one a node; gives the share of its tasks on the host of their block, and their seconds."""
    (work / "marks").mkdir(parents=True)
    (work / "events").mkdir()
    job = [peers.ROOT / "build/tests/engine_faults", "places", work / "marks", 3, f"{cluster.hdfs.web}/places/text-{replication}", work / "out"]
    command = [peers.BINARY, "submit", "--hadoop-conf", cluster.conf, "--json", "--queue", "root.alpha", "--executors", 3, "--executor-memory", 3584,
               "--event-log", work / "events", *options, *job]
    cases_engine.finish(subprocess.Popen([str(word) for word in command], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    log = next((work / "events").glob("*.jsonl"))
    history = subprocess.run([peers.BINARY, "history", "--json", log], capture_output=True, text=True, check=True)
    stage = next(stage for stage in json.loads(history.stdout)["stages"] if stage["name"] == "text")
    levels = dict(stage["summary"]["levels"])
    near = levels.get("NODE_LOCAL", 0) + levels.get("PROCESS_LOCAL", 0)
    return near / sum(levels.values()), (stage["ended_ms"] - stage["started_ms"]) / 1000, levels


def tasks_beside_their_blocks(cluster, work):
    """A text in blocks on three DataNodes of two racks: with the default wait nearly all of its tasks run on a host that has their block."""
    text_file(work / "text", words=1_500_000)
    (work / "text").write_bytes((work / "text").read_bytes() * 5)  # some 30 blocks
    cluster.hdfs.shell("-mkdir", "-p", "/places")
    for replication in (1, 2):
        cluster.hdfs.shell("-D", f"dfs.replication={replication}", "-put", work / "text", f"/places/text-{replication}")
        for wait, options in (("3s", ()), ("0", ("--conf", "spark.locality.wait=0"))):
            share, seconds, levels = shares_of_levels(cluster, work / f"{replication}-{wait}", replication, options)
            print(f"replication {replication}, spark.locality.wait={wait}: {share:.0%} of the tasks beside their block, {seconds:.1f} s, {levels}")
            assert wait == "0" or share >= 0.95, levels
            assert (work / f"{replication}-{wait}/out/_SUCCESS").exists()


PLACES = Spec(nodes=("fairlead",) * 3, hdfs=True, racks=("/one", "/one", "/two"), history=False)
case("all", spec=PLACES, name="hdfs-engine-places")(tasks_beside_their_blocks)
case("all", spec=PLACES.all_java(), name="hdfs-engine-places-on-hadoop")(tasks_beside_their_blocks)


@case("all", spec=HDFS)
def hdfs_engine_missing_input(cluster, work):
    job = cases_engine.start(cluster, work, "word_count", f"{cluster.hdfs.web}/no/such/text", f"{cluster.hdfs.web}/no/out")
    out, err = job.communicate(timeout=120)
    assert job.returncode != 0 and "/no/such/text: no such file or directory" in out + err, (job.returncode, out, err)
