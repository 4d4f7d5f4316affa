"""The engine's examples as applications of Fairlead and of stock Hadoop, each with its answer computed here; and with an executor
or the shuffle service killed in the middle."""
import collections
import csv
import dataclasses
import json
import math
import os
import random
import signal
import subprocess
import sys

import peers
from jobs import executors_below
from registry import Spec, case
from texts import text_file

sys.path.insert(0, str(peers.ROOT / "tools"))
import quickstart  # noqa: E402  (brings the flights table)

CLUSTERS = {
    "fairlead": Spec(),
    "hadoop": Spec(rm="java", nodes=("java", "java")),
    # A stock node without Spark's auxiliary service: executors serve their own shuffle files.
    "hadoop-without-shuffle-service": Spec(rm="java", nodes=("java", "java"),
                                           yarn_site=(("yarn.nodemanager.aux-services", "mapreduce_shuffle"),)),
}
KEY_SYMBOLS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def start(cluster, work, example, *arguments, executors=2):
    """`fairlead submit` of an example with `work` as working directory: paths in `arguments` are relative to it."""
    (work / "events").mkdir()
    command = [peers.BINARY, "submit", "--hadoop-conf", cluster.conf, "--json", "--queue", "root.alpha", "--driver-memory", "256", "--executors", executors,
               "--executor-memory", "512", "--event-log", "events", peers.ROOT / "build/examples" / example, *arguments]
    return subprocess.Popen([str(word) for word in command], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(job, timeout=180):
    """Waits for a good end; gives the application's id."""
    try:
        out, err = job.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        job.kill()
        raise AssertionError("the job did not end: " + job.communicate()[1][-2000:])
    assert job.returncode == 0, f"submit ended with {job.returncode}\n{out[-2000:]}\n{err[-4000:]}"
    answer = json.loads(out)
    assert answer["finalStatus"] == "SUCCEEDED", answer
    return answer["id"]


def parts_of(directory):
    """The bytes of all parts in order, after a look that the output is whole."""
    names = sorted(entry.name for entry in directory.iterdir())
    assert "_SUCCESS" in names and "_temporary" not in names, names
    return b"".join((directory / name).read_bytes() for name in names if name.startswith("part-"))


def rows_of(directory):
    return [line.split("\t") for line in parts_of(directory).decode().splitlines()]


# ---- the examples: each gives its arguments and the check of its output ----------------------------------------------------------

def word_count(work):
    wanted = text_file(work / "text")

    def check():
        found = rows_of(work / "out")
        assert len(found) == len(wanted), "a word is missing or doubled"
        assert {word: int(count) for word, count in found} == wanted
    return ["text", "out"], check


def terasort(work, records=30000):
    rng = random.Random(3)
    rows = ["".join(rng.choices(KEY_SYMBOLS, k=10)) + f"{number:088d}\r\n" for number in range(records)]
    (work / "records").write_bytes("".join(rows).encode())

    def check():
        text = parts_of(work / "out").decode()
        found = [text[at:at + 100] for at in range(0, len(text), 100)]
        assert [row[:10] for row in found] == sorted(row[:10] for row in rows), "not in order"
        assert sorted(found) == sorted(rows), "records differ"
    return ["records", "out"], check


def join_aggregate(work):
    tables = quickstart.prepare_flights()
    flights, airlines = tables / "flights/copy-00.csv", tables / "airlines.csv"
    with open(airlines, newline="") as rows:
        names = {row["carrier"]: row["name"] for row in csv.DictReader(rows)}
    wanted = collections.defaultdict(lambda: [0, 0, 0.0])
    with open(flights, newline="") as rows:
        for row in csv.DictReader(rows):
            sums = wanted[names[row["carrier"]]]
            sums[0] += 1
            if row["arr_delay"] not in ("", "NA"):
                sums[1] += 1
                sums[2] += float(row["arr_delay"])

    def check():
        found = rows_of(work / "out")
        assert found == [[name, str(n), str(arrived), f"{minutes / arrived:.3f}"] for name, (n, arrived, minutes) in sorted(wanted.items())]
    return [flights, airlines, "out"], check


def page_rank(work, edges=60000, iterations=4):
    rng = random.Random(5)
    links = {(rng.randrange(edges // 10), int(rng.paretovariate(0.7)) % (edges // 10)) for _ in range(edges)}
    (work / "edges").write_text("".join(f"{a}\t{b}\n" for a, b in sorted(links)))
    targets = collections.defaultdict(list)
    for a, b in links:
        targets[a].append(b)
    ranks = {page: 1.0 for page in targets}
    for _ in range(iterations):
        sums = collections.defaultdict(float)
        for page, to in targets.items():
            if page in ranks:
                for target in to:
                    sums[target] += ranks[page] / len(to)
        ranks = {page: 0.15 + 0.85 * value for page, value in sums.items()}

    def check():
        found = [(int(page), float(rank)) for page, rank in rows_of(work / "out")]
        assert len(found) == len(ranks) and dict(found).keys() == ranks.keys()
        assert all(math.isclose(rank, ranks[page], rel_tol=1e-9) for page, rank in found)
        assert all(a[1] >= b[1] for a, b in zip(found, found[1:])), "not in order"
    return ["edges", "out", iterations], check


def k_means(work, iterations=5):
    rng = random.Random(11)
    points = [(rng.gauss(x, 1), rng.gauss(y, 1)) for x, y in ((0, 0), (8, 8), (0, 9)) for _ in range(4000)]
    rng.shuffle(points)
    (work / "points.csv").write_text("x,y\n" + "".join(f"{x!r},{y!r}\n" for x, y in points))
    centres = points[:3]
    for _ in range(iterations):
        groups = collections.defaultdict(list)
        for point in points:
            groups[min(range(3), key=lambda i: (point[0] - centres[i][0]) ** 2 + (point[1] - centres[i][1]) ** 2)].append(point)
        centres = [(sum(p[0] for p in groups[i]) / len(groups[i]), sum(p[1] for p in groups[i]) / len(groups[i])) for i in range(3)]

    def check():
        found = [(float(x), float(y), int(count)) for x, y, count in rows_of(work / "out")]
        wanted = sorted((x, y, len(groups[i])) for i, (x, y) in enumerate(centres))
        assert len(found) == 3 and all(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) for f, w in zip(found, wanted) for a, b in zip(f, w)), found
    return ["points.csv", "out", 3, iterations], check


def log_search(work):
    rng = random.Random(13)
    lines = [f"{rng.choice(('INFO', 'WARN', 'ERROR'))} worker-{rng.randrange(40)} took {rng.randrange(5000)} ms" for _ in range(80000)]
    (work / "logs").mkdir()
    for part in range(4):
        (work / f"logs/day-{part}.log").write_text("\n".join(lines[part::4]) + "\n")

    def check():
        wanted = [line for part in range(4) for line in lines[part::4] if "worker-17 " in line]
        assert parts_of(work / "out").decode().splitlines() == wanted
    return ["logs", "out", "worker-17 "], check


EXAMPLES = {function.__name__: function for function in (word_count, terasort, join_aggregate, page_rank, k_means, log_search)}


def register_examples():
    for where, spec in CLUSTERS.items():
        for name, prepare in EXAMPLES.items():
            if where == "hadoop-without-shuffle-service" and name != "terasort":
                continue

            def run(cluster, work, name=name, prepare=prepare):
                arguments, check = prepare(work)
                finish(start(cluster, work, name, *arguments))
                check()
            case("all", spec, name=f"engine-{name.replace('_', '-')}-on-{where}")(run)


register_examples()


# ---- what other executors wrote, from a node's shuffle service: Spark's own, or ours ------------------------------------------------

# Spark's service of one Java node listens for all nodes of the machine, and knows an application only when the node runs it: one node.
SERVICES = {"fairlead": Spec(nodes=("fairlead",)), "hadoop": Spec(rm="java", nodes=("java",))}
AUTHENTICATION = {  # settings of the node's service and of the job
    "sasl": {"spark.authenticate": "true"},
    "sasl-encrypted": {"spark.authenticate": "true", "spark.authenticate.enableSaslEncryption": "true"},
    "aes": {"spark.authenticate": "true", "spark.network.crypto.enabled": "true"},
}


def read_from_service(cluster, work, mode, settings=None):
    """Runs a mode of engine_faults on two executors; what it printed, and its events by kind."""
    (work / "marks").mkdir()
    (work / "events").mkdir()
    options = [word for key, value in {"spark.locality.wait": "0s", **(settings or {})}.items() for word in ("--conf", f"{key}={value}")]
    command = [peers.BINARY, "submit", "--hadoop-conf", cluster.conf, "--json", "--queue", "root.alpha", "--driver-memory", "256", "--executors", 2,
               "--executor-memory", "512", "--event-log", "events", *options, peers.ROOT / "build/tests/engine_faults", mode, work / "marks"]
    application = finish(subprocess.Popen([str(word) for word in command], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    # A Java node shows it only while the job runs; the driver writes its last line when the resource manager knows the end already.
    stdout = next(cluster.directory.glob(f"nm*-logs/{application}/container_*_000001/stdout"))
    last = {"long-blocks": "whole", "cached": "again"}[mode]
    cluster.wait(lambda: last in stdout.read_text(), f"the line {last}")
    printed = stdout.read_text()
    events = collections.defaultdict(list)
    for log in (work / "events").iterdir():
        for line in log.open():
            for kind, event in json.loads(line).items():
                events[kind].append(event)
    return printed, events


def served_by_the_node(events):
    joined = events["executor_joined"]
    assert len(joined) == 2, joined
    return not any(event["serves_own_files"] for event in joined)


def long_blocks(cluster, work, settings=None):
    """A block beyond the bytes in flight comes in pieces from the service; from ours of the same host, in the clear, as an open file."""
    gives_files = cluster.spec.nodes == ("fairlead",) and not any("ncrypt" in key or "crypto" in key for key in settings or {})
    printed, events = read_from_service(cluster, work, "long-blocks", settings)
    assert "whole 160000 of 160000" in printed, printed
    assert served_by_the_node(events), events["executor_joined"]
    way = "local" if gives_files else "remote"
    read = sum(event["metrics"][f"shuffle_bytes_{way}"] for event in events["task_finished"])
    assert read > 80_000_000, read


def cached_partition(cluster, work):
    """A partition that another executor keeps comes from the service, and is made once."""
    printed, events = read_from_service(cluster, work, "cached")
    assert f"again {2 * sum(range(100_000))}" in printed, printed
    assert served_by_the_node(events), events["executor_joined"]
    counts = [sum(event["metrics"][f"cached_{what}"] for event in events["task_finished"]) for what in ("made", "fetched")]
    assert counts[0] == 1 and counts[1] >= 1, counts
    assert len(list((work / "marks/made").iterdir())) == 1


def authenticated(settings):
    def run(cluster, work):
        long_blocks(cluster, work, settings)
        without = work / "without"
        without.mkdir()
        printed, events = read_from_service(cluster, without, "cached")
        assert "again" in printed and not served_by_the_node(events), "a service that authenticates took a job that does not"
    return run


for _where, _spec in SERVICES.items():
    case("all", _spec, name=f"engine-long-blocks-on-{_where}")(long_blocks)
    case("all", _spec, name=f"engine-cached-partition-on-{_where}")(cached_partition)
    for _kind, _settings in AUTHENTICATION.items():
        _node = dataclasses.replace(_spec, yarn_site=tuple(_settings.items()))
        case("all", _node, name=f"engine-{_kind}-on-{_where}")(authenticated(_settings))


# ---- faults ----------------------------------------------------------------------------------------------------------------------

def long_page_rank(cluster, work):
    """A running PageRank of many shuffles whose executors have written some of them."""
    arguments, check = page_rank(work, edges=20000, iterations=400)
    job = start(cluster, work, "page_rank", *arguments)

    def shuffled():
        assert job.poll() is None, "the job ended before the fault: " + job.communicate()[1][-2000:]
        return len(list(cluster.directory.glob("nm*-local/usercache/*/appcache/*/blockmgr-*/*/shuffle_3_*.data"))) > 0
    cluster.wait(shuffled, "shuffle files")
    return job, check


def executor_is_killed(cluster, work):
    job, check = long_page_rank(cluster, work)
    os.kill(executors_below(cluster.directory)[0], signal.SIGKILL)
    finish(job)
    check()
    left = [json.loads(line)["executor_left"] for log in (work / "events").iterdir() for line in log.open() if "executor_left" in line]
    assert any("ended with status 137" in event["reason"] for event in left), f"the driver saw no executor die: {left}"


def shuffle_service_is_restarted(cluster, work):
    job, check = long_page_rank(cluster, work)
    cluster.restart("nm1")  # with its service; among Java nodes of one machine it is the one that executors use
    finish(job)
    check()


for _where, _spec in CLUSTERS.items():
    case("all", _spec, own_cluster=True, name=f"engine-executor-killed-on-{_where}")(executor_is_killed)
    if _where != "hadoop-without-shuffle-service":
        case("all", _spec, own_cluster=True, name=f"engine-shuffle-service-restarted-on-{_where}")(shuffle_service_is_restarted)
