"""Answers of Hadoop's own daemons, recorded once, and how another cluster's are held against them.

A case makes rows "name | value" with what differs from run to run already replaced. `interop.py all --record --only NAME` runs the case on
Hadoop's daemons and writes its rows; every other run compares."""
import difflib
import gzip
import json
import pathlib
import re

DIRECTORY = pathlib.Path(__file__).resolve().parent / "recordings"
RECORD = False  # set by interop.py


def plain(text):
    """Replaces what no two runs share: cluster start, times, ports, this machine's names of the loopback."""
    text = re.sub(r"(?<=_)1\d{12}(?=_)", "<start>", text)
    text = re.sub(r"\b1[5-9]\d{11}\b", "<ms>", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4}", "<iso>", text)
    text = re.sub(r"(localhost|127\.0\.0\.[12])(/127\.0\.0\.[12])?:\d{4,5}", r"\1:<port>", text)
    text = re.sub(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\]", "[<time>]", text)
    text = re.sub(r"\b[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d [+-]\d{4} \d{4}", "<date>", text)
    text = re.sub(r"(localhost|127\.0\.0\.[12])_\d{4,5}", r"\1_<port>", text)
    text = re.sub(r"[A-Z][a-z]{2} <date>", "<date>", text)
    text = re.sub(r"(\\n\t?(at|\.\.\.) [^\\]*)+", "", text)  # Java's stack traces
    text = re.sub(r"(java\.lang\.NullPointerException( \(\w+\))?): .*", r"\1", text)
    text = re.sub(r"(InvalidProtocolBufferException( \(\w+\))?):? .*missing required fields: [^|]*?(?=( detail=|$))", r"\1: missing required fields", text)
    text = re.sub(r"LocalHost:localPort [^/]+/[\d.:]+", "LocalHost:localPort <here>", text)
    text = re.sub(r"(\[<time>\]Container exited with a non-zero exit code.*?)\1", r"\1", text)  # Hadoop says it twice
    text = text.replace("preemption=strictContract { }", "preemption=null")  # an empty message
    text = re.sub(r"expect responseId to be \d+", "expect responseId to be <n>", text)
    text = re.sub(r"\d+ MB-seconds, \d+ vcore-seconds", "<n> MB-seconds, <n> vcore-seconds", text)
    text = re.sub(r"RemainingTime : \d{3,}seconds", "RemainingTime : <n>seconds", text)
    text = re.sub(r"PMem:\d+ MB, VMem:\d+ MB, VCores:[\d.E-]+", "PMem:<n> MB, VMem:<n> MB, VCores:<n>", text)
    text = re.sub(r"Last-Health-Update : .*?UTC", "Last-Health-Update : <date>", text)
    text = re.sub(r"(?<=[\[ ])FINISHING(?= )", "FINISHED", text)  # an attempt whose process has not ended yet
    text = re.sub(r"\\nCaused by: [^\\]*", "", text)
    # Which node was chosen is no question of these cases.
    return text.replace("localhost:", "127.0.0.1:").replace("127.0.0.2:<port>", "127.0.0.1:<port>")


def _rows(lines):
    """Rows by name, with applications numbered in the order in which the rows speak of them."""
    numbers = {}
    lines = [re.sub(r"(?<=_<start>_)\d{4,}", lambda m: "#%d" % numbers.setdefault(m[0], len(numbers) + 1), plain(line)) for line in lines]
    rows = {}
    for line in lines:
        name, _, value = line.partition(" | ")
        if name in rows:
            raise AssertionError(f"two rows are called {name}")
        rows[name] = _by_container(value)
    return rows


def _by_container(value):
    """Logs of several containers, in order of their ids: Hadoop's client goes by the hash of ids, in which the start's time is."""
    head, *logs = re.split(r"(?=Container: container_)", value)
    return head + "".join(sorted(log.removesuffix("\\n") for log in logs))


def compare_json(name, found):
    """Fails unless `found`, of which a case has left out what differs from run to run, is what was recorded, keys in their order."""
    path = DIRECTORY / f"{name}.json.gz"
    text = json.dumps(found, indent=1)
    if RECORD:
        with open(path, "wb") as out, gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0) as zipped:
            zipped.write(text.encode())
        return
    wanted = json.dumps(json.loads(gzip.decompress(path.read_bytes())), indent=1)
    different = "\n".join(difflib.unified_diff(wanted.splitlines(), text.splitlines(), "recorded", "this one", lineterm=""))
    assert not different, different


def compare(name, lines, work="<work>", differs=None):
    """Fails with every row that differs. `differs` maps a pattern of row names to the pattern that the value may have instead, where
    Fairlead is meant to differ (docs/yarn-compatibility.md says why)."""
    path = DIRECTORY / f"{name}.txt.gz"
    lines = [plain(line.replace(str(work), "<work>").replace("\r", "").replace("\n", "\\n")) for line in lines]
    rows = _rows(lines)
    if RECORD:
        with open(path, "wb") as out, gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0) as zipped:
            zipped.write(("\n".join(lines) + "\n").encode())
        return
    wanted = _rows(gzip.decompress(path.read_bytes()).decode().splitlines())
    wrong = []
    for row in [*wanted, *(r for r in rows if r not in wanted)]:
        want, have = wanted.get(row, "(no such row)"), rows.get(row, "(no such row)")
        own = next((value for pattern, value in (differs or {}).items() if re.fullmatch(pattern, row)), None)
        if have != want and not (own is not None and re.fullmatch(own, have)):
            wrong.append(f"{row}\n    hadoop:   {want}\n    this one: {have}")
    if not wanted or wrong:
        raise AssertionError(f"{len(wrong)} of {len(wanted)} rows differ from {path.name}:\n" + "\n".join(wrong))
