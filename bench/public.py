#!/usr/bin/env python3
"""Stands beside results that others published, on their data (docs/public-results.md).

usage: bench/public.py BUILD [SET] --data DIR [--seeds N] [--jobs N] [--why FILE]
       bench/public.py BUILD --generated

Without SET: all sets whose data DIR has (or one of its folders, plain or gzip), and `accident`, which needs none. --seeds and --jobs make runs
shorter than the published ones; --generated runs everything so on data of the same shapes that are made up (no figure means anything then).
Rows go to BUILD/bench/public.json. A minute in all.

decima, fgd, philly, swim, accident: bench/public_SET.py say what they show. --why FILE: every choice of our rule in decima's published run, a line each
with its reason.

lublin: DIR holds lublin1.swf and lublin2.swf, or the same with .gz. The publication's environment is modelled here: ten sequences of
1,024 jobs on 256 processors, a job chosen by a rule, and while it has no room, jobs of the line that end before its start at the
latest, in order of arrival. A row prints what was published and what this model gives; they must agree to the digit. Then the same
sequences through profile `fairlead` (BUILD/bench/bench_rigid_jobs) with protected backfill: run times known, and wrong by up to 50 %
either way. --promises and --slack-percent are the keys below fairlead.scheduler.backfill.
"""
import argparse
import gzip
import heapq
import math
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import public_accident
import public_data
import public_decima
import public_fgd
import public_generated
import public_philly
import public_swim
import row_file

PROCESSORS = 256
SEQUENCE = 1024
STARTS = (1981, 2756, 4299, 8850, 3316, 2714, 5228, 7762, 4022, 7085)
LONGEST_FILE = 64 << 20
COLUMNS = 18


class Job:
    """A rigid job; times in seconds."""
    __slots__ = ("number", "submit", "run", "processors", "estimate")

    def __init__(self, cells):
        self.number, self.submit, self.run = cells[0], cells[1], cells[3]
        self.processors = max(cells[4], cells[7])
        self.estimate = cells[8] if cells[8] != -1 else self.run


def read(path):
    """The jobs of a file in the Standard Workload Format that ran, by number. Exits with the file's name and line on anything else."""
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="ascii", errors="replace") as file:
            text = file.read(LONGEST_FILE + 1)
    except (OSError, EOFError) as error:
        raise SystemExit(f"{path}: {error}")
    if len(text) > LONGEST_FILE:
        raise SystemExit(f"{path}: longer than {LONGEST_FILE >> 20} MiB")
    jobs = []
    for line, row in enumerate(text.splitlines(), 1):
        if not row.strip() or row.lstrip().startswith(";"):
            continue
        try:
            cells = [int(float(cell)) for cell in row.split()]
        except (ValueError, OverflowError):
            cells = []
        if len(cells) != COLUMNS:
            raise SystemExit(f"{path}:{line}: a line of the Standard Workload Format is {COLUMNS} numbers")
        if cells[3] <= 0:
            continue
        job = Job(cells)
        if not 0 < job.processors <= PROCESSORS or job.submit < 0:
            raise SystemExit(f"{path}:{line}: a job of {job.processors} processors, submitted at {job.submit}, is not of this set")
        jobs.append(job)
    if len(jobs) < max(STARTS) + SEQUENCE:
        raise SystemExit(f"{path}: {len(jobs)} jobs, the sequences need {max(STARTS) + SEQUENCE}")
    return sorted(jobs, key=lambda job: job.number)


def log10(value):
    return math.log10(value if value > 0 else 0.1)


RULES = {
    "FCFS": lambda job: job.submit,
    "SJF": lambda job: (job.estimate, job.submit),
    "F1": lambda job: log10(job.estimate) * job.processors + 870 * log10(job.submit),
}


class Environment:
    """The publication's: a job that was chosen stays chosen until it starts; meanwhile others are backfilled."""

    def __init__(self, jobs):
        self.coming = jobs[::-1]
        self.now = jobs[0].submit
        self.free = PROCESSORS
        self.running = []  # (end, order of starting, job, start)
        self.line = [self.coming.pop()]
        self.started = 0
        self.slowdowns = []

    def start(self, job):
        self.line.remove(job)
        self.free -= job.processors
        heapq.heappush(self.running, (self.now + job.run, self.started, job, self.now))
        self.started += 1
        waited = self.now - job.submit
        self.slowdowns.append(max(1.0, (waited + job.run) / max(job.run, 10)))

    def pass_time(self):
        """To the next arrival or, when that is later, the next end."""
        if self.coming and (not self.running or self.coming[-1].submit <= self.running[0][0]):
            job = self.coming.pop()
            self.now = max(self.now, job.submit)
            self.line.append(job)
        else:
            end, _, job, _ = heapq.heappop(self.running)
            self.now = max(self.now, end)
            self.free += job.processors

    def latest_start(self, job):
        """When the chosen job has room if everybody runs for as long as was said."""
        free = self.free
        for end, one in sorted(((begun + one.estimate, one) for _, _, one, begun in self.running), key=lambda pair: pair[0]):
            free += one.processors
            if free >= job.processors:
                return end
        return self.now

    def wait_for(self, job):
        latest = self.latest_start(job)
        while job.processors > self.free:
            for other in sorted(self.line, key=lambda one: one.submit):
                if self.now + other.estimate < latest and other.processors <= self.free:
                    self.start(other)
            self.pass_time()

    def all(self, rule):
        while self.line or self.coming:
            while not self.line:
                self.pass_time()
            job = min(self.line, key=rule)
            if job.processors > self.free:
                self.wait_for(job)
            self.start(job)
        return sum(self.slowdowns) / len(self.slowdowns)


LUBLIN = {"lublin1": {"FCFS": 235.82, "SJF": 73.31, "F1": 75.07, "trained RL": 58.64}, "lublin2": {"FCFS": 247.61, "SJF": 91.99, "F1": 148.25, "trained RL": 118.79}}
# The least of what was published, and what ours is to be at most: with exact run times, and with wrong ones.
GOALS = {"lublin1": (35, 40), "lublin2": (76, None)}
WRONG = 0.5
SEEDS = range(1, 9)  # of what estimates are wrong by
MOST_LATE = 0.05  # of the mean wait: mean of (start - promised start), those before it as 0
LEAST_USE = 0.98  # of what starting whatever fits gives


def sequences(jobs):
    return [jobs[at:at + SEQUENCE] for at in STARTS]


def through_fairlead(build, jobs, promises, slack_percent, wrong=0.0, seed=1):
    """The mean figures of the sequences, and promises summed. `wrong`: estimates are off by up to that part, both ways alike."""
    draw = random.Random(seed)
    rows = []
    for sequence in sequences(jobs):
        lines = [f"{job.submit} {job.run} {max(1, int(job.run * draw.uniform(1 - wrong, 1 + wrong))) if wrong else job.run} {job.processors}\n" for job in sequence]
        run = subprocess.run([build / "bench/bench_rigid_jobs", str(PROCESSORS), str(promises), str(slack_percent)], input="".join(lines), capture_output=True, text=True)
        if run.returncode != 0:
            raise SystemExit(run.stderr)
        rows.append(json.loads(run.stdout))
    summed = ("made", "served", "missed", "late_ms", "off_ms")
    return {key: sum(row[key] for row in rows) / (1 if key in summed else len(rows)) for key in rows[0]}


def ours(build, name, jobs, arguments):
    """Rows of profile fairlead: one rule for both sets."""
    best = min(LUBLIN[name].values())
    def row(what, value, goal, met, published="-"):
        return {"name": f"{name}, fairlead, {what}", "published": published, "ours": value, "goal": goal, "met": met}
    skipping = through_fairlead(build, jobs, 0, 0)
    exact = through_fairlead(build, jobs, arguments.promises, arguments.slack_percent)
    drawn = [through_fairlead(build, jobs, arguments.promises, arguments.slack_percent, WRONG, seed) for seed in SEEDS[:arguments.seeds]]
    wrong = {key: sum(one[key] for one in drawn) / len(drawn) for key in drawn[0]}
    low, high = (round(pick(one["slowdown"] for one in drawn), 2) for pick in (min, max))
    most, most_wrong = GOALS[name]
    yield row("whatever fits starts, no run times, no promises", round(skipping["slowdown"], 2), "-", True)
    yield row("promised starts, exact run times", round(exact["slowdown"], 2), f"<= {most}", exact["slowdown"] <= most, best)
    yield row(f"promises missed of {exact['served']:.0f}", int(exact["missed"]), "0", exact["missed"] == 0)
    use = exact["use"] / skipping["use"]
    yield row("use beside starting whatever fits", round(use, 4), f">= {LEAST_USE}", use >= LEAST_USE)
    coming = exact["use_while_coming"] / skipping["use_while_coming"]
    yield row("the same until the last job comes", round(coming, 4), "-", True)
    yield row(f"run times wrong by 50 %, mean of {len(drawn)} seeds ({low} to {high})", round(wrong["slowdown"], 2), f"<= {most_wrong}" if most_wrong else "-", most_wrong is None or wrong["slowdown"] <= most_wrong)
    late = wrong["late_ms"] / wrong["served"] / 1000 / wrong["wait"]
    yield row(f"mean of (start - promise) where it is late, of the mean wait ({wrong['missed']:.0f} of {wrong['served']:.0f} missed)", round(late, 3), f"< {MOST_LATE}", late < MOST_LATE)
    ahead = -exact["off_ms"] / exact["served"] / 1000 / exact["wait"]
    yield row("how far starts lie before their promise, of the mean wait", round(ahead, 1), "-", True)


def lublin(arguments):
    for name, published in LUBLIN.items():
        jobs = read(public_data.need(arguments.data, f"{name}.swf"))
        for rule, key in RULES.items():
            here = sum(Environment(sequence).all(key) for sequence in sequences(jobs)) / len(STARTS)
            yield {"name": f"{name}, {rule} with backfilling", "published": published[rule], "ours": round(here, 2), "goal": "equal",
                   "met": round(here, 2) == published[rule]}
        yield from ours(arguments.build, name, jobs, arguments)


MODULES = {"decima": public_decima, "fgd": public_fgd, "philly": public_philly, "swim": public_swim, "accident": public_accident}
SETS = {"lublin": lublin, **{name: module.rows for name, module in MODULES.items()}}
FILES = {"lublin": [f"{name}.swf" for name in LUBLIN], **{name: module.FILES for name, module in MODULES.items()}}


def chosen(arguments):
    """The sets to run: the one that was named, or all that there are data for."""
    if arguments.set is not None:
        return [arguments.set]
    if not arguments.data.is_dir():
        raise SystemExit(f"{arguments.data}: no such folder")
    found = {name: [file for file in files if public_data.find(arguments.data, file)] for name, files in FILES.items()}
    for name, files in FILES.items():
        if 0 < len(found[name]) < len(files):
            raise SystemExit(f"{arguments.data}: {', '.join(found[name])} without {', '.join(sorted(set(files) - set(found[name])))}")
        if files and not found[name]:
            print(f"{name}: no {files[0]} in {arguments.data}, left out")
    return [name for name, files in FILES.items() if len(found[name]) == len(files)]


def count(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: at least 1")
    return number


# Sets whose runs are shorter with an option.
SHORTENED_BY = {"decima": ("seeds", "jobs"), "lublin": ("seeds",), "fgd": ("seeds",)}


def not_judged(name, arguments):
    """Why no goal is met or missed by that set's run; "" where it is the published one."""
    if name == "accident":
        return ""
    if arguments.generated:
        return "not judged: its data are made up"
    return "not judged: a shortened run" if any(getattr(arguments, option) for option in SHORTENED_BY.get(name, ())) else ""


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("set", choices=SETS, nargs="?")
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--generated", action="store_true")
    parser.add_argument("--seeds", type=count)
    parser.add_argument("--jobs", type=count)
    parser.add_argument("--why", type=pathlib.Path)
    parser.add_argument("--promises", type=int, default=1, help="fairlead.scheduler.backfill.promises")
    parser.add_argument("--slack-percent", type=int, default=4000, help="fairlead.scheduler.backfill.slack-percent")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.generated:
            arguments.data = pathlib.Path(folder)
            arguments.seeds, arguments.jobs = arguments.seeds or 1, arguments.jobs or 60
            public_generated.write(arguments.data)
        elif arguments.data is None and arguments.set != "accident":
            raise SystemExit("--data DIR: the folder with the data; docs/public-results.md says where they are published")
        rows = []
        for name in chosen(arguments):
            for row in SETS[name](arguments):
                published = "-" if row["published"] is None else row["published"]
                verdict = not_judged(name, arguments)
                row["met"] = None if verdict else row["met"]
                verdict = verdict or ("no goal" if row["goal"] == "-" else "met" if row["met"] else "not met")
                print(f"{row['name']}: goal {row['goal']}, published {published}, ours {row['ours']}, {verdict}", flush=True)
                rows.append(row)
    row_file.write(arguments.build, "public", rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
