#!/usr/bin/env python3
"""`./bench/run public` on data that are made up in the shapes of the published ones, and on bad data."""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ["FAIRLEAD"]).parent
sys.path.insert(0, str(ROOT / "bench"))
sys.dont_write_bytecode = True
import public_generated  # noqa: E402


def public(out, *words):
    """Rows go below `out`, which stands for the build's folder."""
    (out / "bench").mkdir(exist_ok=True)
    for name in ("fairlead", "bench/bench_public_sets", "bench/bench_rigid_jobs"):
        if not (out / name).exists():
            (out / name).symlink_to(BUILD / name)
    return subprocess.run([sys.executable, "-B", ROOT / "bench/public.py", out, *map(str, words)], capture_output=True, text=True, timeout=200)


class Public(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.out = pathlib.Path(cls.folder.name)
        cls.data = cls.out / "data"
        cls.data.mkdir()
        public_generated.write(cls.data)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def bad(self, name, text, *expected):
        """One file of the data is exchanged; what the command then says."""
        path = self.data / name
        good = path.read_text(encoding="utf-8")
        try:
            path.unlink()
            if text is not None:
                (path.write_bytes if isinstance(text, bytes) else path.write_text)(text)
            done = public(self.out, expected[0], "--data", self.data, "--seeds", 1, "--jobs", 20)
        finally:
            path.write_text(good, encoding="utf-8")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertNotIn("Traceback", done.stderr)
        for word in expected[1:]:
            self.assertIn(word, done.stderr)

    def test_every_set_has_rows(self):
        done = public(self.out, "--generated")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads((self.out / "bench/public.json").read_text())
        for name in ("lublin1", "lublin2", "decima", "gpu2023", "philly", "swim", "accident"):
            self.assertTrue(any(row["name"].startswith(name) for row in rows), name)
        for row in rows:
            self.assertLessEqual({"name", "goal", "published", "ours", "met"}, set(row))
        self.assertEqual({row["met"] for row in rows if not row["name"].startswith("accident")}, {None}, "data that are made up meet no goal")
        for line in done.stdout.splitlines():
            self.assertFalse(line.endswith(("met", "no goal")) and not line.startswith("accident"), line)
        accident = {row["name"].split(":")[0]: row["met"] for row in rows if row["name"].startswith("accident")}
        self.assertEqual(accident, {"accident, yarn-fair": True, "accident, fairlead": True})
        drawn = subprocess.run([sys.executable, "-B", ROOT / "bench/public_pictures.py", self.out / "bench/public.json", self.out / "pictures"], timeout=60)
        self.assertEqual(drawn.returncode, 0)
        for name in ("decima", "gpu2023", "lublin", "philly"):
            picture = xml.etree.ElementTree.parse(self.out / f"pictures/public-{name}.svg").getroot()
            bars = picture.findall("{http://www.w3.org/2000/svg}rect")
            self.assertGreater(len(bars), 3, name)
            self.assertTrue(all(0 <= float(bar.get("width")) <= 380 for bar in bars), name)
        philly = {row["name"].partition(":")[0]: row["ours"] for row in rows if row["name"].startswith("philly")}
        for part in (100, 50, 25):  # two programs, one rule
            fifo, fair = (philly[f"philly, {part} % of the largest use, {rule}"] for rule in ("fifo", "yarn-fair, policy fifo"))
            self.assertEqual(fifo, fair)
        self.assertTrue(all(row["late"] == 0 for row in (one["further"] for one in rows if one["name"].startswith("philly"))))

    def test_a_shortened_run_is_not_judged(self):
        short = public(self.out, "decima", "--data", self.data, "--seeds", 1, "--jobs", 20).stdout.splitlines()[:-1]
        self.assertTrue(short and all(line.endswith("not judged: a shortened run") for line in short), short)
        why = self.out / "why.txt"
        self.assertEqual(public(self.out, "decima", "--data", self.data, "--seeds", 1, "--jobs", 20, "--why", why).returncode, 0)
        for line in why.read_text().splitlines():
            self.assertRegex(line, r"^\d+\.\d{3} s: \d+ executors? of (no job|job \d+)( for stage \d+ of job \d+, which has \d+)?: (stays|goes to) ")
        whole = public(self.out, "philly", "--data", self.data, "--seeds", 1).stdout.splitlines()[:-1]
        self.assertTrue(whole and all(line.endswith(("met", "no goal")) for line in whole), whole)

    def test_estimates_are_held_against_a_trace_of_others(self):
        """Where every run time is known hardly anything but the jobs to come is missed."""
        def calibrated(*words, jobs=(self.data / "lublin1.swf").read_text()):
            command = [BUILD / "bench/bench_when_calibration", *words, "-", "0", "1", "4", "8", "fairlead"]
            return subprocess.run(list(map(str, command)), input=jobs, capture_output=True, text=True, timeout=200)
        learned, known = (json.loads(calibrated(*words).stdout) for words in ((), ("--true-run-times",)))
        self.assertEqual((learned["true_run_times"], known["true_run_times"]), (False, True))
        self.assertGreater(learned["asks"], 30)
        self.assertEqual((learned["asks"], learned["jobs"]), (known["asks"], known["jobs"]), "the same day")
        self.assertGreater(known["close"], learned["close"])
        self.assertLess(known["median_error"], learned["median_error"])
        self.assertGreater(learned["ms_an_ask"], 0)
        bad = calibrated(jobs="1 2 3\n")
        self.assertEqual((bad.returncode, bad.stdout), (2, ""))
        self.assertIn("standard input:1: a line of the Standard Workload Format", bad.stderr)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-B", ROOT / "bench/ask.py", self.out, "--calibration", "--data", folder, "--seeds"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("lublin1.swf: not in ", done.stdout)

    def test_help_and_wrong_words(self):
        done = public(self.out, "--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("--data DIR", done.stdout)
        for words, said in ((("--seeds", 0), "--seeds"), (("--jobs", -5), "--jobs"), (("nowhere",), "nowhere")):
            done = public(self.out, *words, "--data", self.data)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(said, done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_what_is_not_there_is_left_out_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "deep").mkdir()
            (pathlib.Path(folder) / "deep/philly.csv.gz").write_bytes(gzip.compress((self.data / "philly.csv").read_bytes()))
            done = public(self.out, "--data", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("decima: no tpch.json", done.stdout)
            self.assertIn("philly, 100 %", done.stdout)

    def test_bad_data_are_said_by_name(self):
        self.bad("tpch.json", None, "decima", "no tpch.json and no tpch.json.gz")
        self.bad("tpch.json", "{\"2g/1\": ", "decima", "tpch.json", "byte")
        self.bad("tpch.json", "{}", "decima", "tpch.json", "no query 2g/1")
        self.bad("tpch.json", b"\xff\xfe", "decima", "tpch.json: no text")
        self.bad("openb_node_list_gpu_node.csv", "sn\n", "fgd", "openb_node_list_gpu_node.csv", "nodes, line 1")
        pods = (self.data / "openb_pod_list_default.csv").read_text()
        self.bad("openb_pod_list_default.csv", pods[:500], "fgd", "openb_pod_list_default.csv: cut")
        self.bad("openb_pod_list_default.csv", pods[:500].rsplit(",", 1)[0] + "\n", "fgd", "pods, line", "a row has 11 columns")
        self.bad("philly.csv", "timestamp,duration\n", "philly", "philly.csv", "line 1")
        self.bad("lublin1.swf", "1 2 3\n", "lublin", "lublin1.swf:1")
        self.bad("FB-2009_samples_24_times_1hr_0.tsv", "job0\t0\n", "swim", "FB-2009")

    def test_a_cut_archive(self):
        with tempfile.TemporaryDirectory() as folder:
            whole = gzip.compress((self.data / "philly.csv").read_bytes())
            (pathlib.Path(folder) / "philly.csv.gz").write_bytes(whole[:len(whole) // 2])
            done = public(self.out, "philly", "--data", folder)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("philly.csv.gz", done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_half_of_a_set(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "lublin1.swf").write_text((self.data / "lublin1.swf").read_text())
            done = public(self.out, "--data", folder)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("lublin1.swf without lublin2.swf", done.stderr)


if __name__ == "__main__":
    unittest.main()
