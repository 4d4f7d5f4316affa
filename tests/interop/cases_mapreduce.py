"""MapReduce's examples, with checked results."""
import re

from registry import case, require_success
from texts import text_file


@case("smoke")
def mapreduce_pi(cluster, work):
    run = cluster.example("pi", "-Dmapreduce.job.queuename=root.alpha", "4", "1000", cwd=work)
    require_success(run, "pi")
    estimate = float(re.search(r"Estimated value of Pi is ([0-9.]+)", run.stdout)[1])
    assert abs(estimate - 3.14) < 0.02, estimate


@case("all")
def mapreduce_word_count(cluster, work):
    counts = text_file(work / "text")
    run = cluster.example("wordcount", "-Dmapreduce.job.queuename=root.beta", work / "text", work / "out", cwd=work)
    require_success(run, "wordcount")
    found = {}
    for part in (work / "out").glob("part-r-*"):
        found.update((word, int(count)) for word, count in (line.split("\t") for line in part.read_text().splitlines()))
    assert found == dict(counts), "the word count differs"
