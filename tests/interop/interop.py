#!/usr/bin/env python3
"""Interop cases: real Spark, MapReduce and YarnClient against Fairlead. Usage: interop.py smoke|all [--require] [--only NAME]."""
import argparse
import collections
import pathlib
import random
import re
import shutil
import sys
import tempfile
import time
import traceback

import cluster as lab

HERE = pathlib.Path(__file__).resolve().parent
CASES = []


def case(kind):
    """Registers a case; `kind` is smoke (runs always) or all."""
    def register(function):
        CASES.append((kind, function.__name__.replace("_", "-"), function))
        return function
    return register


def text_file(path, words=60000):
    """Seeded text, and its word counts made without Spark."""
    rng = random.Random(7)
    counts = collections.Counter()
    with open(path, "w") as out:
        for _ in range(words // 10):
            line = [f"w{int(rng.paretovariate(0.8)) % 5000}" for _ in range(10)]
            counts.update(line)
            print(" ".join(line), file=out)
    return counts


def require_success(run, what):
    if run.returncode != 0:
        raise AssertionError(f"{what} ended with {run.returncode}\n{run.stdout[-2000:]}\n{run.stderr[-4000:]}")


def spark_word_count(cluster, work, *options):
    counts = text_file(work / "text")
    output = work / "counts"
    run = cluster.spark_submit("--queue", "root.alpha", *options, HERE / "wordcount.py", work / "text", output, timeout=300)
    require_success(run, "spark-submit")
    found = {word: int(count) for word, count in (line.split() for line in output.read_text().splitlines())}
    assert found == dict(counts), "the word count differs"
    return run


@case("smoke")
def yarn_client(cluster, work):
    run = cluster.java(HERE / "java/YarnClientCase.java", timeout=180)
    require_success(run, "YarnClientCase")


@case("smoke")
def spark_client_mode(cluster, work):
    run = spark_word_count(cluster, work, "--deploy-mode", "client", "--num-executors", "2")
    app_id = re.search(r"APPLICATION (\S+)", run.stdout)[1]
    # The client is gone a moment before the resource manager has stored the end.
    cluster.wait(lambda: cluster.app(app_id)["state"] == "FINISHED", "the application's end")
    assert cluster.app(app_id)["finalStatus"] == "SUCCEEDED"
    assert cluster.app(app_id)["queue"] == "root.alpha"


@case("smoke")
def mapreduce_pi(cluster, work):
    jar = next(lab.HADOOP.glob("hadoop-mapreduce-examples-*.jar"))
    run = cluster.java("org.apache.hadoop.util.RunJar", jar, "pi", "-Dmapreduce.job.queuename=root.alpha", "4", "1000", timeout=300, cwd=work)
    require_success(run, "pi")
    estimate = float(re.search(r"Estimated value of Pi is ([0-9.]+)", run.stdout)[1])
    assert abs(estimate - 3.14) < 0.02, estimate


@case("all")
def spark_cluster_mode(cluster, work):
    spark_word_count(cluster, work, "--deploy-mode", "cluster", "--num-executors", "2")


@case("all")
def spark_dynamic_allocation(cluster, work):
    spark_word_count(cluster, work, "--deploy-mode", "client", "--conf", "spark.dynamicAllocation.enabled=true",
                     "--conf", "spark.shuffle.service.enabled=true", "--conf", "spark.dynamicAllocation.maxExecutors=3")


@case("all")
def mapreduce_word_count(cluster, work):
    counts = text_file(work / "text")
    jar = next(lab.HADOOP.glob("hadoop-mapreduce-examples-*.jar"))
    run = cluster.java("org.apache.hadoop.util.RunJar", jar, "wordcount", "-Dmapreduce.job.queuename=root.beta", work / "text", work / "out", timeout=300, cwd=work)
    require_success(run, "wordcount")
    found = {}
    for part in (work / "out").glob("part-r-*"):
        found.update((word, int(count)) for word, count in (line.split("\t") for line in part.read_text().splitlines()))
    assert found == dict(counts), "the word count differs"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", choices=["smoke", "all"])
    parser.add_argument("--require", action="store_true", help="a skipped case is a failure")
    parser.add_argument("--only", help="only the case of this name")
    parser.add_argument("--keep", action="store_true", help="keep logs and work files")
    arguments = parser.parse_args()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-interop-"))
    directory.chmod(0o755)
    passed, failed = [], []
    cluster = lab.Cluster(directory)
    try:
        cluster.start()
        for kind, name, function in CASES:
            if (kind == "all" and arguments.set == "smoke") or (arguments.only and arguments.only != name):
                continue
            work = directory / "work" / name
            work.mkdir(parents=True)
            started = time.monotonic()
            try:
                function(cluster, work)
                passed.append(name)
                print(f"ok      {name} ({time.monotonic() - started:.0f} s)", flush=True)
            except Exception:  # a case may fail in any way; the others go on
                failed.append(name)
                print(f"FAILED  {name}\n{traceback.format_exc()}", flush=True)
    finally:
        cluster.stop()
        if failed or arguments.keep:
            print(f"logs are in {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)
    print(f"{len(passed)} passed, {len(failed)} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
