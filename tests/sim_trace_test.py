#!/usr/bin/env python3
"""`fairlead sim run`, `sim compare` and `sim migrate` from outside: every format, results, the page, errors with file and line."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent
TRACES = ROOT / "traces"
FAIRLEAD = os.environ["FAIRLEAD"]


def sim(*words):
    return subprocess.run([FAIRLEAD, "sim", *map(str, words)], capture_output=True, text=True, timeout=250)


def runs_of(*words):
    done = sim(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["runs"]


def profiles():
    done = subprocess.run([FAIRLEAD, "config", "profiles"], capture_output=True, text=True, timeout=60, check=True)
    return re.findall(r"^\S+$", done.stdout, re.MULTILINE)


class Formats(unittest.TestCase):
    def check(self, trace, jobs, tasks, *words):
        run, = runs_of("run", TRACES / trace, *words)
        self.assertEqual((run["jobs"], run["tasks"], run["unfinished"], run["rejected"]), (jobs, tasks, 0, 0))
        return run

    def test_sls(self):
        run = self.check("sls.json", 4, 16, "--node-list", TRACES / "nodes.json", "--queues",
                         TRACES / "fair-scheduler.xml")
        self.assertEqual(run["nodes"], 4)
        self.assertEqual(run["clusterVcores"], 3 * 10 + 16)
        self.assertEqual(set(run["queues"]), {"root.adhoc", "root.reports"})
        self.assertGreater(run["nodeLocal"], 0)

    def test_rumen(self):
        run = self.check("rumen.json", 2, 16)
        self.assertEqual(run["nodes"], 4, "the nodes that the trace names")

    def test_workload_description(self):
        run, = runs_of("run", TRACES / "workload.json", "--nodes", 4)
        self.assertEqual(run["jobs"], 12)
        again, = runs_of("run", TRACES / "workload.json", "--nodes", 4)
        other, = runs_of("run", TRACES / "workload.json", "--nodes", 4, "--seed", 2)
        self.assertEqual(run["decisions"], again["decisions"])
        self.assertNotEqual(run["decisions"], other["decisions"])

    def test_swim_packed(self):
        run, = runs_of("run", TRACES / "swim.tsv.gz", "--nodes", 10)
        self.assertEqual(run["jobs"], 120)
        self.assertGreater(run["nodeLocal"], run["offSwitch"])


class Faults(unittest.TestCase):
    def test_lost_racks_and_slow_nodes_cost_work_but_no_job(self):
        words = ("run", TRACES / "swim.tsv.gz", "--nodes", 40)
        quiet, = runs_of(*words)
        rough, = runs_of(*words, "--lose-racks", 3, "--slow-nodes", 0.2, "--storms", 2)
        self.assertEqual(rough["jobs"], quiet["jobs"] + 400)
        self.assertEqual(rough["unfinished"], 0)
        self.assertEqual(quiet["lostContainers"], 0)
        self.assertGreater(rough["lostContainers"], 0)
        self.assertGreater(rough["doneContainerSeconds"], quiet["doneContainerSeconds"])


class Compare(unittest.TestCase):
    def test_table_and_files(self):
        known = profiles()
        self.assertIn("fairlead", known)
        with tempfile.TemporaryDirectory() as out:
            done = sim("compare", TRACES / "swim.tsv.gz", "--nodes", 6, "--faster", 8, "--out", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            for word in ("tdw instead of fairlead\n", "makespan", "slowdown, p99", "node-local", "fairness (Jain)", "lost work", "cores used",
                         *known):
                self.assertIn(word, done.stdout)
            page = pathlib.Path(out, "report.html").read_text()
            self.assertEqual(page.count("<svg"), page.count("</svg>"))
            self.assertGreaterEqual(page.count("<svg"), 7)
            self.assertNotRegex(page, r"https?://|<script|<link|<img|url\(")
            self.assertNotRegex(page, r"\b(nan|inf)\b")
            runs = json.loads(pathlib.Path(out, "results.json").read_text())["runs"]
            self.assertEqual([run["profile"] for run in runs], known)
            self.assertEqual({run["tasks"] for run in runs}, {runs[0]["tasks"]})
            jobs = pathlib.Path(out, "jobs.csv").read_text().splitlines()
            self.assertEqual(len(jobs), 1 + len(known) * 120)
            samples = pathlib.Path(out, "samples.csv").read_text().splitlines()
            self.assertTrue(all(line.count(",") == 7 for line in samples))

    def test_a_heavier_queue_gets_more_of_a_full_cluster(self):
        words = ("run", TRACES / "sls.json", "--nodes", 1, "--node-vcores", 6, "--node-memory", 6144, "--faster", 1000)
        plain, = runs_of(*words)
        heavy, = runs_of(*words, "--weight", "adhoc=20")

        def share(run, queue):
            at = run["queues"].index(queue)
            early = [sample for sample in run["samples"] if sample["seconds"] < 30]
            return sum(sample["share"][at] for sample in early) / len(early)

        self.assertGreater(share(heavy, "root.adhoc"), share(plain, "root.adhoc"))


class ResultFiles(unittest.TestCase):
    """docs/simulator.md, "Result files": every field that is written, and none that is not."""
    def test_fields_are_those_described(self):
        section = (ROOT.parent / "docs/simulator.md").read_text().split("## Result files")[1].split("\n## ")[0]
        rows = dict(re.findall(r"^\| (`.*?) \| (.*) \|$", section, re.MULTILINE))
        inner = {"sizes": "sizes", "queueResults": "`queues`, `queueResults`", "samples": "samples"}
        with tempfile.TemporaryDirectory() as out:
            done = sim("run", TRACES / "sls.json", "--nodes", 2, "--out", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            document = json.loads(pathlib.Path(out, "results.json").read_text())
            self.assertEqual({name: type(value) for name, value in document.items()}, {"version": int, "runs": list})
            self.assertIn(f'"version": {document["version"]}', section)
            run, = document["runs"]
            self.assertEqual(set(run), {name for key in rows for name in re.findall(r"`(\w+)`", key)})
            for name, key in inner.items():
                said = rows[key if key in rows else f"`{key}`"]
                self.assertEqual(set(run[name][0]), set(re.findall(r"`(\w+)`", said)), name)
            for name in ("samples.csv", "jobs.csv"):
                self.assertIn(f"`{pathlib.Path(out, name).read_text().splitlines()[0]}`", section)


class Migrate(unittest.TestCase):
    CONFS = ("--from", TRACES / "migrate/fair-scheduler.xml", "--to", TRACES / "migrate/capacity-scheduler.xml")
    WORDS = ("--trace", TRACES / "sls.json", "--nodes", 2)

    def test_report(self):
        with tempfile.TemporaryDirectory() as out:
            done = sim("migrate", *self.CONFS, *self.WORDS, "--out", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            text = pathlib.Path(out, "report.txt").read_text()
            self.assertTrue(done.stdout.startswith(text))
            for word in ("User ann is served later", "user limit", "Queue root.reports, asked for by", "refuses them",
                         "root.reports", "node-locality-delay is '0.5'", "resources that count",
                         "preemption below the minimum after"):
                self.assertIn(word, text)
            report = json.loads(pathlib.Path(out, "report.json").read_text())
            self.assertEqual(report["version"], 1)
            ann, = (user for user in report["users"] if user["name"] == "ann")
            self.assertEqual(ann["change"], "LATER")
            self.assertEqual(ann["to"]["held"][0]["reason"], "USER_LIMIT")
            self.assertGreater(ann["to"]["completion"]["median_ms"], ann["from"]["completion"]["median_ms"])
            self.assertEqual([(place["asked"], place["refused_from"], place["refused_to"]) for place in report["places"]],
                             [("root.reports", False, True)])
            self.assertIn({"queue": "root.reports", "setting": "queue", "from": "is there", "to": ""},
                          report["differences"])
            page = pathlib.Path(out, "report.html").read_text()
            self.assertGreaterEqual(page.count("<svg"), 6)
            self.assertEqual(page.count("<svg"), page.count("</svg>"))
            self.assertNotRegex(page, r"https?://|<script|<link|<img|url\(")
            again = sim("migrate", *self.CONFS, *self.WORDS, "--json")
            self.assertEqual(json.loads(again.stdout), report)

    def test_a_configuration_against_itself_and_against_profiles(self):
        fair = TRACES / "migrate/fair-scheduler.xml"
        for other in (f"{fair}@3.3.6", "fairlead", "tdw", "spark-standalone"):
            done = sim("migrate", "--from", fair, "--to", other, *self.WORDS, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            report = json.loads(done.stdout)
            self.assertEqual((report["to"]["ended"], report["differences"], report["places"]), (4, [], []), other)
        same = json.loads(sim("migrate", "--from", fair, "--to", fair, *self.WORDS, "--json").stdout)
        self.assertEqual({group["change"] for group in same["queues"] + same["users"]}, {"SAME"})

    def test_a_configuration_whose_mapping_rules_stand_in_a_file(self):
        with tempfile.TemporaryDirectory() as directory:
            rules, capacity = pathlib.Path(directory, "rules.json"), pathlib.Path(directory, "capacity-scheduler.xml")
            keys = "".join(f"<property><name>yarn.scheduler.capacity.{name}</name><value>{value}</value></property>"
                           for name, value in (("mapping-rule-format", "json"), ("mapping-rule-json-file", rules)))
            capacity.write_text(self.CONFS[3].read_text().replace("</configuration>", keys + "</configuration>"))
            rules.write_text('{"rules": []}')
            done = sim("migrate", "--from", self.CONFS[1], "--to", capacity, *self.WORDS)
            self.assertEqual(done.returncode, 0, done.stderr)
            rules.unlink()
            done = sim("migrate", "--from", self.CONFS[1], "--to", capacity, *self.WORDS)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"mapping-rule-json-file is '{rules}'", done.stderr)

    def test_refusals(self):
        fair, capacity = self.CONFS[1], self.CONFS[3]
        for confs, code, words in (
                (("tdw", "fairlead"), 2, "one of them has to be a Hadoop configuration"),
                ((fair, "/no/such"), 4, "--to /no/such is no file"),
                ((fair, "nosuch"), 4, "--to nosuch is no file, no directory of Hadoop's files and no profile"),
                ((TRACES / "migrate", fair), 2, "name the one that counts"),
                ((TRACES / "sls.json", fair), 2, "neither a fair-scheduler.xml"),
                ((f"{fair}@2.6.0", capacity), 2, "'2.6.0' is not a version"),
                ((fair, "tdw@3.4.3"), 2, "leave @3.4.3 away")):
            done = sim("migrate", "--from", confs[0], "--to", confs[1], *self.WORDS)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stdout, "")
        done = sim("migrate", *self.CONFS, "--trace", "/no/such")
        self.assertEqual(done.returncode, 4)


class Refusals(unittest.TestCase):
    def refused(self, text, pattern, *words, suffix=".json"):
        with tempfile.NamedTemporaryFile("w", suffix=suffix) as file:
            file.write(text)
            file.flush()
            done = sim("run", file.name, *words)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertRegex(done.stderr, re.escape(file.name) + pattern)

    def test_mistakes_are_named_by_file_and_line(self):
        self.refused("", ":1: the file is empty")
        self.refused('{"job.id": 1,\n "job.tasks": [}', ":2: syntax error")
        self.refused('{"job.id": 1,\n "job.tasks": [\n {"container.start.ms": 5}]}', ':3: "container.end.ms" is missing')
        self.refused('{"job.id": 1,\n "job.tasks": [\n {"container.start.ms": 5, "container.end.ms": 4}]}', ":3: .*before")
        self.refused('{"job.tasks": [{"container.duration.ms": 1,\n "container.vcores": -1}]}', ":2: container.vcores")
        self.refused('{"job.tasks": [{"container.duration.ms": 1, "container.count": 2000000}]}', ":1: ")
        self.refused('{"jobID": "j"}', ':1: "submitTime" is missing')
        self.refused('{"num_jobs": 1}\n', ":1: ")
        self.refused("[" * 1000, ":1: ")
        self.refused("job0\t1\t1\t5\t5\t5\njob1\tx\t1\t5\t5\t5\n", ":2: submit time must be", suffix=".tsv")
        self.refused("job0\t1\t1\t5\n", ":1: output bytes|:1: shuffle bytes", suffix=".tsv")

    def test_wrong_words(self):
        self.assertEqual(sim("run", "/no/such/file").returncode, 4)
        trace = TRACES / "sls.json"
        self.assertEqual(sim("run", trace, "--profile", "best").returncode, 2)
        self.assertEqual(sim("run", trace, "--weight", "adhoc").returncode, 2)
        self.assertEqual(sim("run", trace, "--weight", "adhoc=nan").returncode, 2)
        self.assertEqual(sim("run", trace, "--queues", trace).returncode, 2)

    def test_a_job_that_can_not_run_is_said_to_have_not_ended(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('{"job.id": "big", "job.tasks": [{"container.duration.ms": 1, "container.vcores": 99}]}')
            file.flush()
            done = sim("run", file.name, "--nodes", 2)
            self.assertEqual(done.returncode, 1)
            self.assertIn("job big did not end", done.stderr)
            self.assertIn("larger than every node", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
