#!/usr/bin/env python3
"""One release after another on the same state, one daemon at a time, and back: `./test --upgrade COMMIT` builds COMMIT, names its fairlead
in FAIRLEAD_OLD and runs this. What ran runs on, what was acknowledged is there, new work is granted after each step. Once with kills, and once
by the steps of docs/upgrade.md, with a job that works meanwhile."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
import cluster as lab  # noqa: E402
import ha_cluster  # noqa: E402
import peers  # noqa: E402
import registry  # noqa: E402
from ha_cluster import STANDBY  # noqa: E402

BUILD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build"))
NEW = BUILD / "fairlead"
OLD = pathlib.Path(os.environ["FAIRLEAD_OLD"])
LARGE = (("yarn.nodemanager.resource.memory-mb", 32768), ("yarn.nodemanager.resource.cpu-vcores", 64))  # room for every step's container
OTHER = {"rm1": "rm2", "rm2": "rm1"}


class Upgrade(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-upgrade-"))
        self.directory.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        peers.BINARY = OLD

    def assert_release(self, process, binary):
        self.assertEqual(os.readlink(f"/proc/{process.pid}/exe"), str(binary.resolve()))

    def test_two_managers_one_after_the_other_and_back(self):
        cluster = ha_cluster.HaCluster(self.directory / "cluster", registry.Spec(nodes=("fairlead",), yarn_site=LARGE))
        self.addCleanup(cluster.stop)
        cluster.start()
        leader = cluster.await_active()
        running = [cluster.submit_sleeper()]
        for release in (NEW, OLD, NEW):
            peers.BINARY = release
            cluster.wait(lambda: all(cluster.has_container(app) for app in running), "the containers from before")
            standby = OTHER[leader]
            cluster.kill(standby)
            cluster.start_manager(standby)
            cluster.wait(lambda: cluster.state(standby) == STANDBY, "the other release as standby")
            running.append(cluster.submit_sleeper())  # written by one release, taken over by the other
            cluster.wait(lambda: cluster.has_container(running[-1]), "a container beside the standby")
            cluster.kill(leader)
            fresh, _ = cluster.time_to_grant()
            running.append(fresh)
            leader = cluster.await_active()
            self.assertEqual(leader, standby)
            self.assert_release(cluster.processes[leader], release)
            cluster.await_sums(len(running))
            cluster.start_manager(OTHER[leader])
            cluster.wait(lambda: cluster.state(OTHER[leader]) == STANDBY, "the old leader as standby of the same release")
        for app in running:
            cluster.end_app(app)
        cluster.await_sums(0)
        said = "\n".join((cluster.directory / f"{rm}.log").read_text() for rm in OTHER)
        self.assertNotRegex(said, re.compile("cannot be read|FATAL|check failed", re.IGNORECASE))

    def test_a_manager_and_a_node_one_after_the_other_and_back(self):
        cluster = lab.Cluster(self.directory / "cluster", registry.Spec(nodes=("fairlead",), yarn_site=LARGE))
        self.addCleanup(cluster.stop)
        cluster.write()
        cluster.start_rm()
        cluster.start_nm(1)
        cluster.wait_for_nodes(1)
        running = []

        def run_another():
            running.append(cluster.submit_sleeper())
            cluster.wait(lambda: cluster.has_container(running[-1]), "its container")
        run_another()
        for release in (NEW, OLD, NEW):
            peers.BINARY = release
            for daemon, start in (("rm", cluster.start_rm), ("nm1", lambda: cluster.start_nm(1))):
                cluster.kill(daemon)
                start()
                self.assert_release(cluster.processes[daemon], release)
                cluster.wait_for_nodes(1)
                cluster.wait(lambda: all(cluster.app(app)["runningContainers"] == 1 for app in running), f"the containers from before the new {daemon}")
                run_another()


class Planned(unittest.TestCase):
    """docs/upgrade.md, step by step: two managers and an agent, there and back, while a job of an engine runs."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-upgrade-"))
        self.directory.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        peers.BINARY = OLD
        keys = (*LARGE, ("yarn.nodemanager.recovery.supervised", "true"))
        self.cluster = ha_cluster.HaCluster(self.directory / "cluster", registry.Spec(nodes=("fairlead",), yarn_site=keys))
        self.addCleanup(self.cluster.stop)
        self.cluster.start()

    def type(self, binary, *words):
        """A command of the page; what it shows."""
        shown = subprocess.run([str(word) for word in (binary, *words, "--hadoop-conf", self.cluster.conf)], capture_output=True, text=True, timeout=60)
        self.assertEqual(shown.returncode, 0, f"{words}: {shown.stdout}{shown.stderr}")
        return shown.stdout

    def install(self, binary, name, start):
        """Stop (SIGTERM), install, start."""
        daemon = self.cluster.processes.pop(name)
        daemon.terminate()
        self.assertEqual(daemon.wait(timeout=30), 0, name)
        peers.BINARY = binary
        start()
        self.assertEqual(os.readlink(f"/proc/{self.cluster.processes[name].pid}/exe"), str(binary.resolve()))

    def states(self, binary):
        return {manager["id"]: manager["state"] for manager in json.loads(self.type(binary, "status", "--json"))["managers"]}

    def change_managers(self, binary):
        """The standby, the leadership to it, the other one."""
        first, = (rm for rm, state in self.states(binary).items() if state == "STANDBY")
        for standby in (first, OTHER[first]):
            self.install(binary, standby, lambda rm=standby: self.cluster.start_manager(rm))
            self.cluster.wait(lambda rm=standby: self.cluster.state(rm) == STANDBY, "the standby of this release")
            self.assertEqual(self.states(binary)[standby], "STANDBY")
            if standby == first:
                self.assertIn(f"{standby} leads", self.type(binary, "ha", "transfer", standby))
                self.assertEqual(self.cluster.await_active(), standby)

    def change(self, binary):
        self.change_managers(binary)
        self.install(binary, "nm1", lambda: self.cluster.start_nm(1))
        self.cluster.wait_for_nodes(1)

    def test_by_the_page_there_and_back(self):
        marks = self.directory / "marks"
        marks.mkdir()
        job = subprocess.Popen([str(word) for word in (OLD, "submit", "--hadoop-conf", self.cluster.conf, "--json", "--executors", 2,
                                                       "--executor-memory", 256, BUILD / "tests/engine_faults", "meet", marks, 3)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        self.cluster.wait(lambda: sorted(path.name for path in marks.iterdir()) == ["0", "1"] or job.poll(), "two tasks that wait for the third", 120)
        before = self.cluster.live_containers()
        self.assertEqual(len(before), 3, before)  # its master and two executors
        self.type(NEW, "config", "check", "--as", "rm1")
        self.type(NEW, "config", "check", "--as", "rm2")
        for number, binary in enumerate((NEW, OLD, NEW)):
            # Both run on this host, so its name does not say which of them is meant.
            self.type(OLD, "state", "backup", self.directory / f"backup-{number}", "--set", "yarn.resourcemanager.ha.id=rm1")
            self.change(binary)
            self.assertIsNone(job.poll(), "the job runs on")
            self.cluster.await_sums(3)
            self.assertEqual(self.cluster.live_containers(), before, "in the same containers")
            fresh, _ = self.cluster.time_to_grant()
            self.cluster.end_app(fresh)
            self.cluster.await_sums(3)
        (marks / "2").write_text("")
        out, err = job.communicate(timeout=120)
        self.assertEqual((job.returncode, json.loads(out)["finalStatus"]), (0, "SUCCEEDED"), out + err)
        self.assertEqual(self.cluster.apps()[0]["runningContainers"], -1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
