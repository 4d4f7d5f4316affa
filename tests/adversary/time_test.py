#!/usr/bin/env python3
"""Time that goes wrong, under the real daemons in mid-job: one is stopped (SIGSTOP) for longer than others wait for it, or the machine's
clock is set an hour forward and back (clock_step.cc). Nobody is given up, nothing ends, the job is right."""
import json
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/interop"), str(ROOT / "tests/process")]
import daemons  # noqa: E402
import peers  # noqa: E402
import process_test  # noqa: E402
import shuffle_peer  # noqa: E402
from clock import HOUR, Clock  # noqa: E402

EXPIRY = 3


def pause(*processes):
    """SIGSTOP for longer than the expiry."""
    for process in processes:
        process.send_signal(signal.SIGSTOP)
    time.sleep(EXPIRY * 2.5)  # the fault itself
    for process in processes:
        process.send_signal(signal.SIGCONT)


class Cluster(process_test.Daemons):
    def further_keys(self):
        return {"yarn.nm.liveness-monitor.expiry-interval-ms": EXPIRY * 1000,
                "yarn.am.liveness-monitor.expiry-interval-ms": EXPIRY * 1000}

    def assert_nobody_was_given_up(self):
        metrics = self.cluster.get("/ws/v1/cluster/metrics")["clusterMetrics"]
        self.assertEqual((metrics["activeNodes"], metrics["lostNodes"]), (2, 0))
        for app in self.cluster.apps():
            attempts = self.cluster.get(f"/ws/v1/cluster/apps/{app['id']}/appattempts")["appAttempts"]["appAttempt"]
            self.assertEqual(len(attempts), 1, attempts)
        log = (self.cluster.directory / "rm.log").read_text()
        self.assertNotIn("LOST", log)


class Stopped(Cluster):
    def pause(self, *names):
        pause(*(self.cluster.processes[name] for name in names))

    def test_rm_in_mid_job(self):
        job = self.submit()
        self.wait_for_executors(job)
        self.pause("rm")
        self.assert_right(job)
        self.assert_nobody_was_given_up()

    def test_rm_and_nodes_in_mid_job(self):
        job = self.submit()
        self.wait_for_executors(job)
        self.pause("rm", "nm1", "nm2")
        self.assert_right(job)
        self.assert_nobody_was_given_up()

    def test_nm_in_mid_job(self):
        job = self.submit()
        self.wait_for_executors(job)
        self.pause("nm2")
        self.assert_right(job)
        self.wait_for_nodes()


class ClockSteps(Cluster):
    def setUp(self):
        self.clock = Clock()
        self.addCleanup(self.clock.remove)
        with self.clock.given():
            super().setUp()

    def further_keys(self):
        # A node tells its time with each run of the script.
        return {**super().further_keys(), "yarn.nodemanager.health-checker.interval-ms": 500,
                "yarn.nodemanager.health-checker.script.path": "/bin/true"}

    def step(self, seconds):
        """Sets the clock, and waits until every node has told the manager so."""
        self.clock.set(seconds)

        def seen():
            nodes = self.cluster.get("/ws/v1/cluster/nodes")["nodes"]["node"]
            return all(abs(node["lastHealthUpdate"] / 1000 - time.time() - seconds) < HOUR / 2 for node in nodes)
        self.cluster.wait(seen, "the nodes' new time")

    def test_in_mid_job(self):
        job = self.submit()
        self.wait_for_executors(job)
        for seconds in (HOUR, 0, -HOUR, 0):
            self.step(seconds)
        self.assert_right(job)
        self.assert_nobody_was_given_up()

    def test_tokens_are_valid_afterwards(self):
        for seconds in (HOUR, -HOUR):
            self.step(seconds)
            self.assert_right(self.submit(f"out{seconds}"))
        self.assert_nobody_was_given_up()


class Shuffle(unittest.TestCase):
    """A shuffle service of its own."""
    HANDSHAKE_S = 10  # how long a peer may be silent that has not shown what it is (docs/ports.md)

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-time-"))
        self.addCleanup(shutil.rmtree, self.directory)
        (self.directory / "roots/blocks").mkdir(parents=True)
        self.port, web = peers.free_ports(2)
        self.daemons = daemons.Daemons(self.directory)
        self.addCleanup(self.daemons.stop)
        self.clock = Clock()
        self.addCleanup(self.clock.remove)
        with self.clock.given():
            self.daemons.spawn("shuffle", [peers.BINARY, "shuffle", "--port", self.port, "--web-port", web, "--state", self.directory / "state",
                                           "--local-roots", self.directory / "roots"])
        self.daemons.wait(lambda: self.connect().close() or True, "the service")

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), 10)

    def register(self, peer, executor):
        shuffle_peer.register(peer, executor, self.directory / "roots/blocks")

    def assert_registered(self, peer, executor):
        shuffle_peer.await_answer(peer, executor)
        out = subprocess.run([peers.BINARY, "shuffle", "status", "--state", self.directory / "state", "--json"], capture_output=True, text=True,
                             check=True)
        self.assertEqual(json.loads(out.stdout)["counters"]["registeredExecutorsSize"], executor)

    def test_what_came_while_it_was_stopped_is_read_before_anybody_is_late(self):
        with self.connect() as peer, self.connect() as silent:
            process = self.daemons.processes["shuffle"]
            process.send_signal(signal.SIGSTOP)
            self.register(peer, 1)
            time.sleep(self.HANDSHAKE_S * 1.2)  # the fault itself
            process.send_signal(signal.SIGCONT)
            self.assert_registered(peer, 1)
            silent.settimeout(self.HANDSHAKE_S * 2)
            self.assertEqual(silent.recv(1), b"", "and who says nothing is late in the end")

    def test_registrations_and_connections_outlive_steps_of_the_clock(self):
        with self.connect() as peer:
            self.register(peer, 1)
            self.assert_registered(peer, 1)
            for executor, seconds in ((2, HOUR), (3, 0), (4, -HOUR), (5, 0)):
                self.clock.set(seconds)
                self.register(peer, executor)
                self.assert_registered(peer, executor)


if __name__ == "__main__":
    unittest.main(verbosity=2)
