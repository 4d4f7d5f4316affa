"""Spark on YARN."""
import re
import subprocess
import tarfile
import zipfile

import peers
from jobs import PausedJob, executors, require_end
from registry import Spec, case, require_success
from texts import text_file

SPARKS = ("3.5.9", "4.3.0")


def word_count(cluster, work, *options):
    counts = text_file(work / "text")
    output = work / "counts"
    run = cluster.spark_submit(*options, peers.HERE / "wordcount.py", work / "text", output, timeout=300)
    require_success(run, "spark-submit")
    found = {word: int(count) for word, count in (line.split() for line in output.read_text().splitlines())}
    assert found == dict(counts), "the word count differs"
    return run


def client_mode(cluster, work, *options):
    run = word_count(cluster, work, "--deploy-mode", "client", "--num-executors", "2", *options)
    app = require_end(cluster, re.search(r"APPLICATION (\S+)", run.stdout)[1])
    assert app["queue"] == "root.alpha", app


def cluster_mode(cluster, work, *options):
    run = word_count(cluster, work, "--deploy-mode", "cluster", "--num-executors", "2", *options)
    require_end(cluster, re.search(r"Submitted application (application_\w+)", run.stderr)[1])


def dynamic_allocation(cluster, work, *options):
    """All executors idle out and are given back; a later job reads their map outputs from the shuffle services."""
    job = PausedJob(cluster, work, "--deploy-mode", "client", *options, *(
        word for key, value in {
            "spark.shuffle.service.enabled": "true", "spark.dynamicAllocation.enabled": "true",
            "spark.dynamicAllocation.shuffleTracking.enabled": "false", "spark.dynamicAllocation.initialExecutors": 2,
            "spark.dynamicAllocation.minExecutors": 0, "spark.dynamicAllocation.maxExecutors": 3,
            "spark.dynamicAllocation.executorIdleTimeout": "2s"}.items() for word in ("--conf", f"{key}={value}")), again=True)
    app_id = job.await_round()
    job.release()
    cluster.wait(lambda: job.running() and (work / "idle").exists(), "the first sums", 120)
    cluster.wait(lambda: not executors(app_id), "the executors to be given back", 120)
    cluster.wait(lambda: cluster.app(app_id)["runningContainers"] == 1, "the master to be alone")
    (work / "go-on").write_text("")
    assert job.result()["task_runs"] == job.tasks, "map tasks ran again"
    require_end(cluster, app_id)


def pack(work):
    """What the localized jobs are given, and the lines they must write."""
    (work / "ending.txt").write_text("!")
    (work / "words.txt").write_text("one\ntwo\ntwo\n")
    with zipfile.ZipFile(work / "pack.zip", "w") as archive:
        archive.write(work / "words.txt", "inner/words.txt")
    with tarfile.open(work / "pack.tar.gz", "w:gz") as archive:
        archive.add(work / "words.txt", "inner/words.txt")
    return "ONE! 4\nTWO! 8\n"


def compile_jar(cluster, work, name):
    classes = work / name
    classes.mkdir()
    jars = peers.spark(cluster.spec.spark) / "jars"
    subprocess.run(["javac", "-cp", f"{jars}/*", "-d", classes, peers.HERE / f"java/{name}.java"], check=True)
    subprocess.run(["jar", "cf", work / f"{name}.jar", "-C", classes, "."], check=True)
    return work / f"{name}.jar"


def localized(cluster, work, mode, archive, *program):
    expected = pack(work)
    run = cluster.spark_submit("--deploy-mode", mode, "--num-executors", "2", "--files", work / "ending.txt",
                               "--archives", f"{work / archive}#pack", *program, work / "found", timeout=300)
    require_success(run, "spark-submit")
    assert (work / "found").read_text() == expected, (work / "found").read_text()


def localized_jvm(cluster, work, mode, archive):
    job, extra = compile_jar(cluster, work, "LocalizedJob"), compile_jar(cluster, work, "Shout")
    localized(cluster, work, mode, archive, "--jars", extra, "--class", "LocalizedJob", job)


def localized_python(cluster, work, mode, archive):
    (work / "shout.py").write_text("def shout(word):\n    return word.upper()\n")
    localized(cluster, work, mode, archive, "--py-files", work / "shout.py", peers.HERE / "localized_job.py")


def label_refused(cluster, work):
    """Without node labels an expression is refused at once, in Hadoop's words; the cluster goes on."""
    text_file(work / "text")
    run = cluster.spark_submit("--deploy-mode", "cluster", "--conf", "spark.yarn.am.nodeLabelExpression=fast", peers.HERE / "wordcount.py",
                               work / "text", work / "counts", timeout=120)
    assert run.returncode != 0
    assert "InvalidLabelResourceRequestException" in run.stderr and "node label not enabled" in run.stderr, run.stderr[-3000:]


case("smoke", name="spark-client-mode")(client_mode)
for _version in SPARKS:
    _spec = Spec(spark=_version)
    case("all", _spec, name=f"spark-client-mode-{_version}")(client_mode)
    case("all", _spec, name=f"spark-cluster-mode-{_version}")(cluster_mode)
    case("all", _spec, name=f"spark-dynamic-allocation-{_version}")(dynamic_allocation)
    case("all", _spec, name=f"spark-localized-jvm-{_version}")(lambda cluster, work: localized_jvm(cluster, work, "cluster", "pack.zip"))
    case("all", _spec, name=f"spark-localized-python-{_version}")(
        lambda cluster, work: localized_python(cluster, work, "client", "pack.tar.gz"))
    case("all", _spec, name=f"spark-label-refused-{_version}")(label_refused)
