"""Files in Hadoop's own HDFS: what containers are given from it, and the engine's input and output in it."""
import cases_engine
import cases_mapreduce
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


@case("all", spec=HDFS)
def hdfs_engine_missing_input(cluster, work):
    job = cases_engine.start(cluster, work, "word_count", f"{cluster.hdfs.web}/no/such/text", f"{cluster.hdfs.web}/no/out")
    out, err = job.communicate(timeout=120)
    assert job.returncode != 0 and "/no/such/text: no such file or directory" in out + err, (job.returncode, out, err)
