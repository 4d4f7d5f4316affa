#!/usr/bin/env python3
"""One release after another on the same state, one daemon at a time, and back: `./test --upgrade COMMIT` builds COMMIT, names its fairlead
in FAIRLEAD_OLD and runs this. What ran runs on, what was acknowledged is there, new work is granted after each step."""
import os
import pathlib
import re
import shutil
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

NEW = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build")) / "fairlead"
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


if __name__ == "__main__":
    unittest.main(verbosity=2)
