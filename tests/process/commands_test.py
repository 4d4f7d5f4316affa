#!/usr/bin/env python3
"""What the commands answer, on a cluster of `fairlead up`: wrong words, numbers that cannot be meant, ends, logs."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build"))
FAIRLEAD = BUILD / "fairlead"


def run(*words):
    return subprocess.run([str(w) for w in (FAIRLEAD, *words)], capture_output=True, text=True, timeout=120)


class Words(unittest.TestCase):
    def test_an_unknown_command_is_named(self):
        for word in ("foo", "ap"):
            shown = run(word)
            self.assertEqual(shown.returncode, 2)
            self.assertIn(word, shown.stderr)
            self.assertIn("--help", shown.stderr)

    def test_version(self):
        shown = run("--version")
        self.assertEqual(shown.returncode, 0)
        self.assertRegex(shown.stdout, r"^fairlead \d+\.\d+")

    def test_an_option_that_may_be_repeated_takes_one_word(self):
        # Before: --set swallowed the id, and the command missed its positional.
        shown = run("app", "--set", "yarn.resourcemanager.address=127.0.0.1:1", "--set", "a=b", "application_x")
        self.assertEqual(shown.returncode, 2)
        self.assertIn("application_x", shown.stderr)
        self.assertNotIn("required", shown.stderr)

    def test_config_check_says_where_queues_come_from(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("queues: {prod: {weight: 3}}\n")
            file.flush()
            self.assertIn("queues from Fairlead's YAML", run("config", "check", "--config", file.name).stdout)
        self.assertIn("queues from Fairlead's defaults", run("config", "check").stdout)

    def test_numbers_that_cannot_be_meant(self):
        for option in ("--executors", "--executor-memory", "--driver-memory", "--executor-cores", "--executor-idle"):
            for value in ("0", "-1", "x", "99999999999999999999"):
                shown = run("submit", f"{option}={value}", "/bin/true")
                self.assertEqual(shown.returncode, 2, f"{option}={value}")
                self.assertIn(option, shown.stderr)
                self.assertLess(len(shown.stderr), 300, shown.stderr)
        shown = run("submit", "--executors", "2", "--executors-min", "3", "/bin/true")
        self.assertEqual(shown.returncode, 2)
        self.assertIn("--executors-min", shown.stderr)


class OnACluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-commands-"))
        cls.addClassCleanup(shutil.rmtree, cls.work, ignore_errors=True)
        ready = cls.work / "ready"
        cls.up = subprocess.Popen([FAIRLEAD, "up", "--nodes", "2", "--memory", "2048", "--queue", "small=1", "--ready-file", ready],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        cls.addClassCleanup(cls.end)
        deadline = time.monotonic() + 60
        while not ready.exists():
            if cls.up.poll() is not None or time.monotonic() > deadline:
                raise AssertionError("the cluster did not come up")
            time.sleep(0.05)
        cls.conf = ready.read_text().strip()
        (cls.work / "text").write_text("a b a\n")

    @classmethod
    def end(cls):
        cls.up.terminate()
        cls.announced = cls.up.communicate(timeout=60)[0]

    def ask(self, name, *words):
        return run(name, "--hadoop-conf", self.conf, *words)

    def finished_job(self):
        out = self.work / f"out{time.monotonic_ns()}"
        shown = self.ask("submit", "--executors", "1", BUILD / "examples/word_count", self.work / "text", out)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return next(word for word in shown.stderr.split() if word.startswith("application_"))

    def test_what_has_ended_is_not_said_to_be_killed(self):
        app = self.finished_job()
        shown = self.ask("kill", app)
        self.assertEqual(shown.returncode, 1)
        self.assertIn("has ended before: FINISHED", shown.stderr)
        self.assertNotIn("killed", shown.stdout)

    def test_logs_of_executors_after_the_end(self):
        app = self.finished_job()
        shown = self.ask("logs", app, "--file", "stderr")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual(shown.stdout.count("==> container_"), 2, "the driver's and an executor's: " + shown.stdout)
        shown = self.ask("logs", app, "--file", "nosuch")
        self.assertEqual(shown.returncode, 4)
        self.assertIn("has no nosuch; it has", shown.stderr)
        self.assertIn("stdout", shown.stderr)

    def test_options_after_the_job_are_noted(self):
        shown = self.ask("submit", "--detach", BUILD / "examples/word_count", self.work / "text", self.work / "o", "--queue", "small")
        self.assertIn("--queue stands after the job", shown.stderr)

    def test_queues_say_what_they_may_have_at_most(self):
        shown = self.ask("queues")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("AT MOST", shown.stdout.splitlines()[0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
