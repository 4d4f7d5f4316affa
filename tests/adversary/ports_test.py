#!/usr/bin/env python3
"""Strangers at every port of the real daemons: half-open peers of each kind, peers that never read, announced frames, want of open
files.

usage: ports_test.py [TEST...] | --flood [CONNECTIONS]
--flood: strangers' connections (10,000) from eight addresses at each port of a resource manager, a node agent and a shuffle service, while applications
or executors register from a ninth."""
import contextlib
import math
import os
import pathlib
import random
import re
import shutil
import socket
import struct
import sys
import tempfile
import threading
import time
import unittest

import flood
import shuffle_peer

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/interop"), str(ROOT / "tests/process")]
import cluster as lab  # noqa: E402
import peers  # noqa: E402
import process_test  # noqa: E402
import raw_master  # noqa: E402
import registry  # noqa: E402
import rpc  # noqa: E402
import strangers  # noqa: E402

peers.BINARY = process_test.BUILD / "fairlead"


def processor_seconds(pid):
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Ports(unittest.TestCase):
    """A resource manager, a node with both shuffle services, a shuffle service of its own."""

    strangers, samples = 400, 30  # of the flood

    @classmethod
    def setUpClass(cls):
        strangers.raise_open_files()
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-ports-"))
        cls.directory.chmod(0o755)
        cls.cluster = lab.Cluster(cls.directory / "cluster", registry.Spec(nodes=("fairlead",)))
        cls.addClassCleanup(cls.clean_up)
        cls.cluster.write()
        cls.cluster.start_rm()
        cls.cluster.start_nm(1)
        (cls.directory / "roots").mkdir()
        cls.own_shuffle, cls.own_shuffle_web = peers.free_ports(2)
        cls.cluster.spawn("shuffle", [peers.BINARY, "shuffle", "--port", cls.own_shuffle, "--web-port", cls.own_shuffle_web,
                                      "--local-roots", cls.directory / "roots"])
        cls.cluster.wait_for_nodes(1)
        node = cls.cluster.get("/ws/v1/cluster/nodes")["nodes"]["node"][0]
        web_host, web_port = node["nodeHTTPAddress"].rsplit(":", 1)
        cls.node_web = (web_host, int(web_port))
        cls.node_rpc = (node["nodeHostName"], int(node["id"].rsplit(":", 1)[1]))
        cls.web = {"rm": ("127.0.0.1", cls.cluster.web), "nm1": cls.node_web, "shuffle": ("127.0.0.1", cls.own_shuffle_web)}

    @classmethod
    def clean_up(cls):
        cls.cluster.stop()
        shutil.rmtree(cls.directory, ignore_errors=True)

    def daemon(self, name):
        return strangers.Daemon(self.cluster.processes[name], self.web[name], self.cluster.directory / f"{name}.log")

    def seconds_of_call(self):
        """Of a call that is answered with success; of another, which nothing came to for 0.3 s, they have no end."""
        began = time.monotonic()
        received, _ = rpc.talk(("127.0.0.1", self.cluster.client), strangers.CALLS + rpc.call("getClusterMetrics", call_id=7), seconds=0.3)
        return time.monotonic() - began if "7 SUCCESS" in "".join(rpc.answers(received)) else math.inf

    def answers(self, name):
        """/healthz of the daemon, and a call of the resource manager, each within a second; once more, should this machine have
        had something else to do."""
        self.daemon(name).require_answer()
        if name == "rm":  # a call waits for 0.3 s for what comes behind its answer
            took = [self.seconds_of_call()]
            while took[-1] >= 1.3 and len(took) < 3:
                took.append(self.seconds_of_call())
            self.assertLess(took[-1], 1.3)

    def crowd(self, name, address, kinds):
        pid = self.cluster.processes[name].pid
        for kind, words in kinds.items():
            with self.subTest(daemon=name, port=address, kind=kind):
                before = strangers.resident(pid)
                crowd = strangers.Crowd(address, words)
                try:
                    deadline = time.monotonic() + 2
                    while time.monotonic() < deadline:
                        self.answers(name)
                        self.assertLess(strangers.resident(pid) - before, strangers.MEMORY)
                finally:
                    crowd.close()
                self.answers(name)

    def kinds(self, name, address):
        """Of crowds and of hostile words for a port of a daemon."""
        if address[1] == self.web[name][1]:
            return strangers.WEB_KINDS, strangers.HOSTILE_WEB
        if address[1] in (self.cluster.shuffle, self.own_shuffle):
            return strangers.SPARK_KINDS, strangers.HOSTILE_SPARK
        if name == "rm" or address[1] == self.node_rpc[1]:
            return strangers.RPC_KINDS, strangers.HOSTILE_RPC
        return strangers.JOB_KINDS, strangers.HOSTILE_WEB

    def all_ports(self, name):
        for address in strangers.listening(self.cluster.processes[name].pid):
            yield address, *self.kinds(name, address)

    def test_hostile_words_harm_nobody(self):
        for name in self.web:
            for address, _, words in self.all_ports(name):
                with self.subTest(daemon=name, port=address):
                    self.daemon(name).meet_hostile(address, words, strangers.seed())

    def test_resource_manager(self):
        ports = list(self.all_ports("rm"))
        self.assertEqual(len(ports), 5)
        for address, kinds, _ in ports:
            self.crowd("rm", address, kinds)

    def test_a_list_is_had_beside_a_crowd_that_asks_for_it(self):
        crowd = strangers.Crowd(("127.0.0.1", self.cluster.client), strangers.RPC_KINDS["never reading"])  # 600,000 asks
        self.addCleanup(crowd.close)
        for _ in range(3):
            received, closed = rpc.talk(("127.0.0.1", self.cluster.client), strangers.CALLS + rpc.call("getApplications", call_id=7), seconds=3)
            self.assertIn("7 SUCCESS", "".join(rpc.answers(received)), f"{len(received)} bytes, closed: {closed}")

    def test_others_are_served_beside_hundreds_of_thousands_of_asks(self):
        master, _ = self.unmanaged_master()
        self.addCleanup(master.close)
        self.assertIsNone(master.register()[0])
        before = strangers.resident(self.cluster.processes["rm"].pid)
        lines = [raw_master.ask(1 + i % 500, "*" if i < 500 else f"host{i // 500}", 128 + i % 50, 2) for i in range(300_000)]
        outcomes = []
        calls = threading.Thread(target=lambda: outcomes.extend(master.allocate(each)[0] for each in (lines, lines[:60_000], [], [])))
        calls.start()
        while calls.is_alive():
            self.answers("rm")
        calls.join()
        self.assertRegex(outcomes[0], "InvalidResourceRequestException: .*ask has 300000 entries, and a call may carry 100000")
        self.assertEqual(outcomes[1:], [None] * 3)
        self.assertLess(strangers.resident(self.cluster.processes["rm"].pid) - before, strangers.MEMORY)

    def unmanaged_master(self):
        """Of an application that is new, and the seconds that it waited for the answers to its submission and its login."""
        client = ("127.0.0.1", self.cluster.client)
        begin = time.monotonic()
        _, answer = rpc.ask(client, strangers.CALLS + rpc.call("getNewApplication"))
        app = rpc.fields(answer)[1]
        context = rpc.field(1, app) + rpc.field(2, "asks") + rpc.field(3, "root.alpha") + rpc.field(5, b"") + rpc.field(7, 1) + rpc.field(9, rpc.field(1, 128) + rpc.field(2, 1))
        refused, _ = rpc.ask(client, strangers.CALLS + rpc.call("submitApplication", rpc.field(1, context)))
        self.assertIsNone(refused)
        took = time.monotonic() - begin

        def token():
            _, report = rpc.ask(client, strangers.CALLS + rpc.call("getApplicationReport", rpc.field(1, app)))
            return rpc.fields(rpc.fields(report)[1]).get(19)  # am_rm_token

        self.cluster.wait(token, "the application's token")
        secret = token()
        begin = time.monotonic()
        master = raw_master.Master(("127.0.0.1", self.cluster.scheduler), secret)
        return master, took + time.monotonic() - begin

    def seconds_of_application(self):
        """Until it is submitted and its master has registered."""
        master, took = self.unmanaged_master()
        with contextlib.closing(master):
            begin = time.monotonic()
            self.assertIsNone(master.register()[0])
            took += time.monotonic() - begin
            self.assertIsNone(master.call("finishApplicationMaster", rpc.field(1, "") + rpc.field(3, 1))[0])
        return took

    def seconds_of_executor(self, port, directory):
        """Until it has registered with a shuffle service."""
        begin = time.monotonic()
        with socket.create_connection(("127.0.0.1", port), timeout=20) as peer:
            shuffle_peer.register(peer, 1, directory)
            shuffle_peer.await_answer(peer, 1)
        return time.monotonic() - begin

    def test_honest_ones_are_undisturbed_by_a_flood(self):
        newcomers = {"rm": self.seconds_of_application, "nm1": lambda: self.seconds_of_executor(self.cluster.shuffle, self.cluster.directory / "nm1-local/usercache/root/appcache/app-1"),
                     "shuffle": lambda: self.seconds_of_executor(self.own_shuffle, self.directory / "roots")}
        for name, register in newcomers.items():
            ports = [(address, [words for kind, words in kinds.items() if kind != "never reading"]) for address, kinds, _ in self.all_ports(name)]
            before = strangers.resident(self.cluster.processes[name].pid)
            flood.require_undisturbed(self, ports, self.strangers, self.samples, register)
            self.answers(name)
            # A connection has some KiB of its own while it is there, and an honest application is remembered.
            of_connections, of_applications = 4096 * self.strangers, 2 * 8192 * self.samples * len(ports)
            self.assertLess(strangers.resident(self.cluster.processes[name].pid) - before, strangers.MEMORY + of_connections + of_applications)

    def test_node(self):
        ports = list(self.all_ports("nm1"))
        self.assertEqual(len(ports), 4)
        for address, kinds, _ in ports:
            self.crowd("nm1", address, kinds)

    def test_shuffle(self):
        for address, kinds, _ in self.all_ports("shuffle"):
            self.crowd("shuffle", address, kinds)
        # The kernel's name by which readers on this host come.
        self.crowd("shuffle", f"\0fairlead-shuffle/127.0.0.1:{self.own_shuffle}", strangers.SPARK_KINDS)

    def one_message_costs_little(self, name, words, memory=16 << 20):
        """Said at a port of the daemon by somebody who is not asked for more; the most that it takes meanwhile."""
        pid = self.cluster.processes[name].pid
        pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")
        before = strangers.resident(pid)
        yield
        self.answers(name)
        peak = int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1)) << 10
        self.assertLessEqual(peak - before, memory, words)

    def test_calls_at_a_nodes_port_cost_little(self):
        """Of whoever has no token: he is refused before his call is read, and so are logins that are none."""
        protocol = "org.apache.hadoop.yarn.api.ContainerManagementProtocolPB"
        hello = rpc.preamble() + rpc.context(protocol=protocol)
        login = rpc.preamble(auth=0xDF) + rpc.sasl(1)
        calls = {method: rpc.call(method, b"\x0a\x00" * (size // 2), protocol, call_id=1)
                 for method, size in (("startContainers", 31 << 20), ("stopContainers", 7 << 20), ("getContainerStatuses", 1000 << 10))}
        words = {**{method: hello + call for method, call in calls.items()}, "a call in the middle of a login": login + calls["startContainers"],
                 "a long answer": login + rpc.sasl(2, b"username=" + b"x" * (1000 << 10), "TOKEN"), "answers of nothing": login + rpc.sasl(2, b",=," * 10_000, "TOKEN") * 30,
                 "many beginnings": login + rpc.sasl(1) * 20_000}
        for kind, said in words.items():
            with self.subTest(kind), contextlib.contextmanager(self.one_message_costs_little)("nm1", kind):
                received, closed = rpc.talk(self.node_rpc, said, seconds=1.0)
                self.assertTrue(closed or "FATAL" in " ".join(rpc.answers(received)))

    def test_requests_for_map_outputs_cost_little(self):
        """Without a job's signature, with one that is made up, and with more than a head may have."""
        [address] = [address for address, kinds, _ in self.all_ports("nm1") if kinds is strangers.JOB_KINDS]
        maps = b",".join(b"attempt_1_0001_m_%06d_0" % i for i in range(2500))
        heads = [b"GET /mapOutput?job=job_1_0001&reduce=0&map=" + maps + b" HTTP/1.1\r\n" + more + b"\r\n\r\n"
                 for more in (b"X: y", b"UrlHash: " + b"A" * 500 + b"\r\nname: mapreduce\r\nversion: 1.0.0", b"UrlHash: \xff\xfe==\r\n" * 60 + b"X: y")]
        heads += [b"GET /mapOutput?" + b"map=a&" * 10_000 + b" HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n" + b":\n" * 30_000 + b"\r\n\r\n", heads[0] * 300, b"%" * 65_000 + b"\r\n\r\n"]
        for number, head in enumerate(heads):
            with self.subTest(number), contextlib.contextmanager(self.one_message_costs_little)("nm1", head[:100]):
                with socket.create_connection(address, timeout=10) as peer, contextlib.suppress(OSError):
                    peer.sendall(head)
                    peer.shutdown(socket.SHUT_WR)
                    answer = peer.recv(65536)
                    self.assertNotIn(b" 200 ", answer[:20])
        # A port's 16 MiB of heads (docs/ports.md), and some KiB of each connection's own.
        with contextlib.contextmanager(self.one_message_costs_little)("nm1", "a thousand heads", (16 << 20) + 1000 * (8 << 10)):
            crowd = strangers.Crowd(address, heads[0][:60_000], 1000)
            self.addCleanup(crowd.close)

    def test_half_open_peers_are_closed_within_seconds(self):
        crowds = [strangers.Crowd(("127.0.0.1", self.cluster.client), strangers.RPC_KINDS["half a SASL hand-shake"], 20),
                  strangers.Crowd(("127.0.0.1", self.cluster.web), strangers.WEB_KINDS["half a head"], 20),
                  strangers.Crowd(("127.0.0.1", self.own_shuffle), strangers.SPARK_KINDS["half a frame"], 20)]
        for crowd in crowds:
            self.addCleanup(crowd.close)
        process_test.until(lambda: all(crowd.all_closed() for crowd in crowds), "the end of half-open connections", 20)

    def test_frames_take_memory_for_what_arrives_only(self):
        pid = self.cluster.processes["rm"].pid
        before = strangers.resident(pid)
        crowd = strangers.Crowd(("127.0.0.1", self.cluster.client), strangers.CALLS + struct.pack(">i", 256 << 20), 200)
        self.addCleanup(crowd.close)
        self.answers("rm")
        self.assertLess(strangers.resident(pid) - before, 16 << 20)
        # Half frames of a megabyte each: those that have moved least go.
        words = strangers.CALLS + struct.pack(">i", 40 << 20) + b"x" * (1 << 20)
        senders = []
        for _ in range(200):
            sender = socket.create_connection(("127.0.0.1", self.cluster.client), timeout=10)
            self.addCleanup(sender.close)
            try:
                sender.sendall(words)
            except OSError:
                pass
            senders.append(sender)
        self.answers("rm")
        self.assertLess(strangers.resident(pid) - before, strangers.MEMORY + (32 << 20))


class OpenFiles(unittest.TestCase):
    """A resource manager that may open 256 files."""

    def test_their_want_is_survived_and_said_once(self):
        strangers.raise_open_files()
        directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-files-"))
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        cluster = lab.Cluster(directory / "cluster", registry.Spec(nodes=()))
        cluster.write()
        self.addCleanup(cluster.stop)
        cluster.spawn("rm", ["prlimit", "--nofile=256:256", peers.BINARY, "rm", "--hadoop-conf", cluster.conf])
        cluster.wait(lambda: cluster.get("/ws/v1/cluster/info"), "the resource manager")
        pid = cluster.processes["rm"].pid
        began = processor_seconds(pid)
        crowd = strangers.Crowd(("127.0.0.1", cluster.client), b"", 1000)
        self.addCleanup(crowd.close)
        for _ in range(5):
            cluster.get("/ws/v1/cluster/info")
            time.sleep(0.5)  # the time in which a loop that spins would show
        self.assertLess(processor_seconds(pid) - began, 1.5)
        log = (cluster.directory / "rm.log").read_text()
        self.assertEqual(log.count("want of open files"), 1, log)

    def test_the_limit_is_raised_at_start(self):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-files-"))
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        cluster = lab.Cluster(directory / "cluster", registry.Spec(nodes=("fairlead",)))
        cluster.write()
        self.addCleanup(cluster.stop)
        web = peers.free_ports(2)
        for name, words in {"rm": ["rm", "--hadoop-conf", cluster.conf], "nm1": ["nm", "--hadoop-conf", cluster.node_conf(1)],
                            "shuffle": ["shuffle", "--port", web[0], "--web-port", web[1], "--local-roots", directory]}.items():
            cluster.spawn(name, ["prlimit", "--nofile=512:4096", peers.BINARY, *words])
        cluster.wait_for_nodes(1)
        for name, process in cluster.processes.items():
            limits = pathlib.Path(f"/proc/{process.pid}/limits").read_text()
            self.assertRegex(limits, r"Max open files +4096 +4096", name)


class Job(process_test.Daemons):
    """A driver with its page, and executors."""

    def test_strangers_at_every_port_do_not_harm_it(self):
        strangers.raise_open_files()
        rng = random.Random(strangers.seed())
        # Half a hello, whole ones that are none, orders of an executor that nobody admitted, lengths of every kind.
        frames = [struct.pack(order, size) + rng.randbytes(min(size, 4096)) for order in (">I", "<I") for size in (0, 1, 40, 4095, 4097, 2**31, 2**32 - 1)]
        crowds_of = [(b"", 300), (b"GET / HTTP/1.1\r\nX-Half: ", 300), (struct.pack(">i", 4000) + b"x" * 3000, 300), *[(frame * 20, 5) for frame in frames]]
        for number in range(20):  # a job may be over before the first crowd is there
            job = self.submit(f"out{number}")
            self.wait_for_executors(job)
            attacked = self.attack(crowds_of)
            self.assert_right(job)
            if attacked > 0:
                break
        self.assertGreater(attacked, 0)

    def attack(self, crowds_of):
        """At every port of the job; how many crowds came."""
        crowds = []
        self.addCleanup(lambda: [crowd.close() for crowd in crowds])
        attacked = 0
        for pid in process_test.processes_naming(str(self.directory)):
            try:
                if "word_count" not in os.readlink(f"/proc/{pid}/exe"):
                    continue
                addresses = strangers.listening(pid)
            except OSError:
                continue
            for address in addresses:
                for words, count in crowds_of:
                    try:
                        crowds.append(strangers.Crowd(address, words, count))
                        attacked += 1
                    except OSError:  # the job is over
                        pass
        return attacked


if __name__ == "__main__":
    flood.by_command(Ports, "test_honest_ones_are_undisturbed_by_a_flood")
    unittest.main(verbosity=2)
