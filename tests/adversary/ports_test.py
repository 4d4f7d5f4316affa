#!/usr/bin/env python3
"""Strangers at every port of the real daemons: half-open peers of each kind, peers that never read, announced frames, want of open
files."""
import os
import pathlib
import resource
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/interop"), str(ROOT / "tests/process")]
import cluster as lab  # noqa: E402
import peers  # noqa: E402
import process_test  # noqa: E402
import registry  # noqa: E402
import rpc  # noqa: E402

peers.BINARY = process_test.BUILD / "fairlead"
PEERS = 2000
MEMORY = 64 << 20
KIB = 1024
HALF_BODY = b"x" * (20 * KIB)


def raise_open_files():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def resident(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * KIB
    raise AssertionError("no VmRSS")


def processor_seconds(pid):
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def listening(pid):
    """The TCP addresses on which a process listens."""
    inodes = set()
    for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            link = os.readlink(entry)
        except OSError:
            continue
        if link.startswith("socket:["):
            inodes.add(link[8:-1])
    found = set()
    for line in pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if words[3] == "0A" and words[9] in inodes:
            address, port = words[1].split(":")
            host = socket.inet_ntoa(struct.pack("<I", int(address, 16)))
            found.add(("127.0.0.1" if host == "0.0.0.0" else host, int(port, 16)))
    return sorted(found)


class Crowd:
    """Many connections that say `words` and never read."""

    def __init__(self, address, words, count=PEERS):
        self.sockets = []
        for _ in range(count):
            peer = socket.socket()
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            peer.settimeout(10)
            peer.connect(address)
            peer.setblocking(False)
            self.sockets.append(peer)
            try:
                peer.send(words)
            except OSError:  # already refused, or it reads no more
                pass

    def close(self):
        for peer in self.sockets:
            peer.close()

    def all_closed(self):
        """Whether the daemon has ended every one of them."""
        for peer in self.sockets:
            try:
                while peer.recv(65536):
                    pass
            except BlockingIOError:
                return False
            except OSError:
                pass
        return True


CALLS = rpc.preamble() + rpc.context()
RPC_KINDS = {
    "silent": b"",
    "half a preamble": b"hrpc\x09",
    "half a frame": CALLS + struct.pack(">i", 40 << 20) + HALF_BODY,
    "half a frame before it is known": rpc.preamble() + struct.pack(">i", 1000 * KIB) + HALF_BODY,
    "half a SASL hand-shake": rpc.preamble(auth=0xDF) + rpc.sasl(1),
    "never reading": CALLS + b"".join(rpc.call("getApplications", call_id=i) for i in range(300)),
}
WEB_KINDS = {
    "silent": b"",
    "half a head": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: ",
    "half a body": b"PUT /ws/v1/cluster/apps HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4000000\r\n\r\n" + HALF_BODY,
    "never reading": b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 300,
}
SPARK_KINDS = {
    "silent": b"",
    "half a frame": struct.pack(">qb", 900 * KIB, 3) + HALF_BODY,
    # Requests for streams that nobody opened; each is answered.
    "never reading": b"".join(struct.pack(">qbqi", 21, 0, 1, i) for i in range(500)),
}
JOB_KINDS = {
    "silent": b"",
    "half a head": b"GET /mapOutput?job=job_1_0001&reduce=0 HTTP/1.1\r\nX-Half: " + HALF_BODY,
    "never reading": b"GET / HTTP/1.1\r\n\r\n" * 300,
}


class Ports(unittest.TestCase):
    """A resource manager, a node with both shuffle services, a shuffle service of its own."""

    @classmethod
    def setUpClass(cls):
        raise_open_files()
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

    def answers(self, name):
        """/healthz of the daemon, and a call of the resource manager, each within a second; once more, should this machine have
        had something else to do."""
        for last in (False, False, True):
            health = self.seconds_of_health(name)
            call = self.seconds_of_call() if name == "rm" else 0
            if health < 1 and call < 1.3:  # a call waits for 0.3 s for what comes behind its answer
                return
            self.assertFalse(last, f"/healthz of {name} took {health} s, a call {call} s")

    def seconds_of_health(self, name):
        began = time.monotonic()
        host, port = self.web[name]
        with urllib.request.urlopen(f"http://{host}:{port}/healthz", timeout=5) as answer:
            self.assertEqual(answer.status, 200)
        return time.monotonic() - began

    def seconds_of_call(self):
        began = time.monotonic()
        received, _ = rpc.talk(("127.0.0.1", self.cluster.client), CALLS + rpc.call("getClusterMetrics", call_id=7), seconds=0.3)
        self.assertIn("7 SUCCESS", "".join(rpc.answers(received)))
        return time.monotonic() - began

    def crowd(self, name, address, kinds):
        pid = self.cluster.processes[name].pid
        for kind, words in kinds.items():
            with self.subTest(daemon=name, port=address, kind=kind):
                before = resident(pid)
                crowd = Crowd(address, words)
                try:
                    deadline = time.monotonic() + 4
                    while time.monotonic() < deadline:
                        self.answers(name)
                        self.assertLess(resident(pid) - before, MEMORY)
                finally:
                    crowd.close()
                self.answers(name)

    def test_resource_manager(self):
        ports = listening(self.cluster.processes["rm"].pid)
        self.assertEqual(len(ports), 5)
        for address in ports:
            self.crowd("rm", address, WEB_KINDS if address[1] == self.cluster.web else RPC_KINDS)

    def test_node(self):
        for address in listening(self.cluster.processes["nm1"].pid):
            kinds = JOB_KINDS
            if address == self.node_web:
                kinds = WEB_KINDS
            elif address == self.node_rpc or address[1] == self.node_rpc[1]:
                kinds = RPC_KINDS
            elif address[1] == self.cluster.shuffle:
                kinds = SPARK_KINDS
            self.crowd("nm1", address, kinds)

    def test_shuffle(self):
        for address in listening(self.cluster.processes["shuffle"].pid):
            self.crowd("shuffle", address, WEB_KINDS if address[1] == self.own_shuffle_web else SPARK_KINDS)

    def test_half_open_peers_are_closed_within_seconds(self):
        crowds = [Crowd(("127.0.0.1", self.cluster.client), RPC_KINDS["half a SASL hand-shake"], 20),
                  Crowd(("127.0.0.1", self.cluster.web), WEB_KINDS["half a head"], 20),
                  Crowd(("127.0.0.1", self.own_shuffle), SPARK_KINDS["half a frame"], 20)]
        for crowd in crowds:
            self.addCleanup(crowd.close)
        process_test.until(lambda: all(crowd.all_closed() for crowd in crowds), "the end of half-open connections", 20)

    def test_frames_take_memory_for_what_arrives_only(self):
        pid = self.cluster.processes["rm"].pid
        before = resident(pid)
        crowd = Crowd(("127.0.0.1", self.cluster.client), CALLS + struct.pack(">i", 256 << 20), 200)
        self.addCleanup(crowd.close)
        self.answers("rm")
        self.assertLess(resident(pid) - before, 16 << 20)
        # Half frames of a megabyte each: those that have moved least go.
        words = CALLS + struct.pack(">i", 40 << 20) + b"x" * (1 << 20)
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
        self.assertLess(resident(pid) - before, MEMORY + (32 << 20))


class OpenFiles(unittest.TestCase):
    """A resource manager that may open 256 files."""

    def test_their_want_is_survived_and_said_once(self):
        raise_open_files()
        directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-files-"))
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        cluster = lab.Cluster(directory / "cluster", registry.Spec(nodes=()))
        cluster.write()
        self.addCleanup(cluster.stop)
        cluster.spawn("rm", ["prlimit", "--nofile=256:256", peers.BINARY, "rm", "--hadoop-conf", cluster.conf])
        cluster.wait(lambda: cluster.get("/ws/v1/cluster/info"), "the resource manager")
        pid = cluster.processes["rm"].pid
        began = processor_seconds(pid)
        crowd = Crowd(("127.0.0.1", cluster.client), b"", 1000)
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
        raise_open_files()
        job = self.submit()
        self.wait_for_executors(job)
        crowds = []
        self.addCleanup(lambda: [crowd.close() for crowd in crowds])
        attacked = 0
        for pid in process_test.processes_naming(str(self.directory)):
            try:
                if "word_count" not in os.readlink(f"/proc/{pid}/exe"):
                    continue
                addresses = listening(pid)
            except OSError:
                continue
            for address in addresses:
                for words in (b"", b"GET / HTTP/1.1\r\nX-Half: ", struct.pack(">i", 4000) + b"x" * 3000):
                    try:
                        crowds.append(Crowd(address, words, 300))
                        attacked += 1
                    except OSError:  # the job is over
                        pass
        self.assertGreater(attacked, 0)
        self.assert_right(job)


if __name__ == "__main__":
    unittest.main(verbosity=2)
