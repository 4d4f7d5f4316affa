#!/usr/bin/env python3
"""Logs of a running application roll, and the node agent is killed with SIGKILL in the middle of that: every line is gathered, and once. What it
says of them is shown."""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
import cluster as lab  # noqa: E402
import peers  # noqa: E402
import registry  # noqa: E402

peers.BINARY = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build")) / "fairlead"
KILLS = 6
# Parts of a log that is rolled by its program, until the test says that it is enough.
PROGRAM = """cd $1
n=0
while [ ! -e {gate} ]; do
  n=$((n+1))
  echo "<<$n>>" > open
  mv open part.$n
  sleep 0.02
done
echo "<<last>>"
echo $n > {gate}.count
exit 3
"""


class Rolls(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-logs-"))
        self.directory.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.cluster = lab.Cluster(self.directory / "cluster", registry.Spec(nodes=("fairlead",), yarn_site=tuple({
            "yarn.log-aggregation-enable": "true",
            "yarn.nodemanager.remote-app-log-dir": f"file://{self.directory}/gathered",
            "yarn.nodemanager.log-aggregation.roll-monitoring-interval-seconds": 1,
            "yarn.nodemanager.log-aggregation.debug-enabled": "true",
            "yarn.nodemanager.log-aggregation.num-log-files-per-app": 1000,
            "yarn.nodemanager.recovery.supervised": "true",
        }.items())))
        self.addCleanup(self.cluster.stop)
        self.cluster.write()
        self.cluster.start_rm()
        self.cluster.start_nm(1)
        self.cluster.wait(lambda: self.cluster.get("/ws/v1/cluster/metrics")["clusterMetrics"]["activeNodes"] == 1, "the node")

    def submit(self):
        app, program = self.cluster.new_application(), self.directory / "program"
        program.write_text(PROGRAM.format(gate=self.directory / "gate"))
        self.cluster.send("POST", "/ws/v1/cluster/apps", {
            "application-id": app, "application-name": "rolling", "queue": "root.alpha", "max-app-attempts": 1,
            "am-container-spec": {"commands": {"command": f"/bin/sh {program} <LOG_DIR> 1> <LOG_DIR>/stdout 2> <LOG_DIR>/stderr"}},
            "log-aggregation-context": {"rolled-log-include-pattern": "part\\.[0-9]+$", "log-exclude-pattern": "stderr|launch|directory|prelaunch"},
            "resource": {"memory": 256, "vCores": 1}})
        return app

    def on_their_way(self):
        """Rolls that have begun, of the only application."""
        return [name for name in os.listdir(self.logs) if name.startswith("rolled-")]

    def gathered(self):
        return [pathlib.Path(place) / name for place, _, names in os.walk(self.directory / "gathered") for name in names if not name.endswith(".tmp")]

    def test_an_agent_that_is_killed_in_the_middle_of_rolls_loses_no_line_and_doubles_none(self):
        app = self.submit()
        self.logs = self.cluster.directory / "nm1-logs" / app
        self.cluster.wait(self.gathered, "the first roll", pause=0.01)
        cut = 0
        for _ in range(KILLS):
            deadline = time.monotonic() + 10
            while not self.on_their_way() and time.monotonic() < deadline:
                pass
            self.cluster.kill("nm1")
            cut += bool(self.on_their_way())
            self.cluster.start_nm(1)
            before = len(self.gathered())
            self.cluster.wait(lambda: len(self.gathered()) > before, "another roll", pause=0.01)
        self.assertGreater(cut, 0, "no roll was cut off")
        (self.directory / "gate").touch()
        status = lambda: self.cluster.get(f"/ws/v1/cluster/apps/{app}")["app"]["logAggregationStatus"]  # noqa: E731
        self.cluster.wait(lambda: status() == "SUCCEEDED", "the last logs")
        lines = collections.Counter(line for path in self.gathered() for line in re.findall(rb"<<(\w+)>>", path.read_bytes()))
        count = int((self.directory / "gate.count").read_text())
        self.assertEqual(lines, collections.Counter([*(str(n).encode() for n in range(1, count + 1)), b"last"]))
        self.cluster.wait(lambda: not self.logs.exists(), "the end of the logs here")
        for words in ((), ("--set", "yarn.log-aggregation.file-formats=IFile,TFile")):  # written before another format came first
            shown = subprocess.run([peers.BINARY, "logs", app, "--hadoop-conf", self.cluster.conf, *words], capture_output=True, text=True, timeout=60)
            self.assertEqual((shown.returncode, shown.stderr), (0, ""))
            self.assertRegex(shown.stdout, r"^==> container_\S+_000001 stdout <==\n<<last>>\n$")

    def test_what_a_job_printed_is_shown_when_its_logs_have_left_the_node(self):
        text = self.directory / "text"
        text.write_text("a word and a word\n")
        for number in range(4):  # the node takes its logs away at once, sometimes before they are asked for
            shown = subprocess.run([peers.BINARY, "submit", "--hadoop-conf", self.cluster.conf, "--executors", "1", "--driver-memory", "256", "--executor-memory", "256",
                                    peers.BINARY.parent / "examples/word_count", text, self.directory / f"counts-{number}"], capture_output=True, text=True, timeout=60)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertRegex(shown.stdout, r"^\d+ different words", shown.stderr)

    def test_what_a_node_says_of_the_logs_is_shown_and_said_again_to_the_next_manager(self):
        (self.directory / "gathered").rmdir()
        (self.directory / "gathered").write_text("a file where the directory should be")
        app, told = self.submit(), lambda: self.cluster.get(f"/fairlead/v1/apps/{app}")["logs"]
        self.cluster.wait(lambda: told()["status"] == "RUNNING_WITH_FAILURE", "a roll that fails")
        node, = told()["nodes"]
        self.assertIn("gathered", node["failures"])
        (self.directory / "gate").touch()
        status = lambda: self.cluster.get(f"/ws/v1/cluster/apps/{app}")["app"]["logAggregationStatus"]  # noqa: E731
        self.cluster.wait(lambda: status() == "FAILED", "the end")
        node, = told()["nodes"]
        self.assertEqual((node["status"], node["messages"]), ("FAILED", ""))
        self.assertIn("gathered", node["failures"])
        self.cluster.kill("rm")
        self.cluster.start_rm()
        self.cluster.wait(lambda: status() == "FAILED", "what the node says to the next manager")


if __name__ == "__main__":
    unittest.main()
