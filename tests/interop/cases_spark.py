"""Spark on YARN."""
import re

import peers
from registry import case, require_success
from texts import text_file


def word_count(cluster, work, *options):
    counts = text_file(work / "text")
    output = work / "counts"
    run = cluster.spark_submit("--queue", "root.alpha", *options, peers.HERE / "wordcount.py", work / "text", output, timeout=300)
    require_success(run, "spark-submit")
    found = {word: int(count) for word, count in (line.split() for line in output.read_text().splitlines())}
    assert found == dict(counts), "the word count differs"
    return run


@case("smoke")
def spark_client_mode(cluster, work):
    run = word_count(cluster, work, "--deploy-mode", "client", "--num-executors", "2")
    app_id = re.search(r"APPLICATION (\S+)", run.stdout)[1]
    # The client is gone a moment before the resource manager has stored the end.
    cluster.wait(lambda: cluster.app(app_id)["state"] == "FINISHED", "the application's end")
    assert cluster.app(app_id)["finalStatus"] == "SUCCEEDED"
    assert cluster.app(app_id)["queue"] == "root.alpha"


@case("all")
def spark_cluster_mode(cluster, work):
    word_count(cluster, work, "--deploy-mode", "cluster", "--num-executors", "2")


@case("all")
def spark_dynamic_allocation(cluster, work):
    word_count(cluster, work, "--deploy-mode", "client", "--conf", "spark.dynamicAllocation.enabled=true",
               "--conf", "spark.shuffle.service.enabled=true", "--conf", "spark.dynamicAllocation.maxExecutors=3")
