"""MapReduce's examples, with checked results."""
import re

from jobs import Background, go_on, require_end, stand_still
from registry import Spec, case, require_success
from texts import text_file

HADOOPS = ("3.3.6", "3.4.3", "3.5.0")


def require_pi(text, within=0.02):
    estimate = float(re.search(r"Estimated value of Pi is ([0-9.]+)", text)[1])
    assert abs(estimate - 3.14159) < within, estimate


def pi(cluster, work):
    run = cluster.example("pi", "4", "1000", cwd=work)
    require_success(run, "pi")
    require_pi(run.stdout)
    app = require_end(cluster, cluster.apps()[-1]["id"])
    assert app["queue"] == "root.alpha", app


def counts_of(directory):
    found = {}
    for part in directory.glob("part-r-*"):
        found.update((word, int(count)) for word, count in (line.split("\t") for line in part.read_text().splitlines()))
    return found


def word_count(cluster, work):
    counts = text_file(work / "text")
    run = cluster.example("wordcount", "-Dmapreduce.job.queuename=root.beta", "-Dmapreduce.job.reduces=2", work / "text", work / "out", cwd=work)
    require_success(run, "wordcount")
    assert counts_of(work / "out") == dict(counts), "the word count differs"


def rows(directory):
    """TeraSort's rows of 100 bytes, file after file."""
    data = b"".join(part.read_bytes() for part in sorted(directory.glob("part-*")))
    return [data[at:at + 100] for at in range(0, len(data), 100)]


def tera_sort(cluster, work):
    """teragen, terasort, teravalidate; and the sorted rows are the generated ones, by plain Python."""
    steps = (("teragen", "-Dmapreduce.job.maps=3", "40000", work / "generated"),
             ("terasort", f"-Dmapreduce.job.working.dir={work / 'sorted'}", "-Dmapreduce.job.reduces=3", work / "generated", work / "sorted"),
             ("teravalidate", work / "sorted", work / "report"))
    for name, *arguments in steps:
        require_success(cluster.example(name, *arguments, cwd=work), name)
    generated = rows(work / "generated")
    assert len(generated) == 40000
    assert rows(work / "sorted") == sorted(generated, key=lambda row: row[:10]), "the rows are not the generated ones in order"
    report = (work / "report/part-r-00000").read_text()
    assert report.startswith("checksum\t") and report.count("\n") == 1, report


def restarted(cluster, work):
    """kill -9 of the resource manager, then of all daemons, while maps run: no task is lost."""
    job = Background(work, "pi", cluster.example_command("pi", "-Dmapreduce.map.speculative=false", "6", "1000000"), cluster.client_environment())
    cluster.wait(lambda: job.running() and cluster.apps(), "the submission", 120)
    app_id = cluster.apps()[0]["id"]
    for daemons in (("rm",), ("rm", "nm1", "nm2")):
        cluster.wait(lambda: job.running() and stand_still(app_id), "running tasks", 120)
        cluster.restart(*daemons)
        cluster.wait(lambda: cluster.app(app_id)["state"] == "RUNNING", "the master to be back")
    go_on(app_id)
    job.finish()
    require_pi(job.text())
    require_end(cluster, app_id)
    for lost in ("Failed map tasks", "Killed map tasks", "Failed reduce tasks"):
        assert lost not in job.text(), job.text()[-3000:]


case("smoke", name="mapreduce-pi")(pi)
for _version in HADOOPS:
    _spec = Spec(hadoop=_version)
    case("all", _spec, name=f"mapreduce-pi-{_version}")(pi)
    case("all", _spec, name=f"mapreduce-word-count-{_version}")(word_count)
    case("all", _spec, name=f"mapreduce-tera-sort-{_version}")(tera_sort)
    case("all", _spec, own_cluster=True, name=f"mapreduce-daemons-killed-{_version}")(restarted)
