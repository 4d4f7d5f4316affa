"""Strangers at a daemon's ports: crowds of half-open peers, and bytes of every kind that no honest peer sends."""
import contextlib
import os
import pathlib
import random
import resource
import socket
import struct
import time
import urllib.request

import rpc

PEERS = 2000
MEMORY = 64 << 20
KIB = 1024
LOG_MAX = 256 << 10
HALF_BODY = b"x" * (20 * KIB)


def seed():
    """Where random cases begin (./test)."""
    return int(os.environ.get("FAIRLEAD_SEED", "0"))


def raise_open_files():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def resident(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * KIB
    raise AssertionError("no VmRSS")


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
            peer = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            peer.settimeout(None if isinstance(address, str) else 10)  # the kernel's own names know no waiting with a bound
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

# What no honest peer sends: oversize, malformed, with numbers that cannot be, with characters that terminals obey.
TERMINAL = b"\x1b]0;owned\x07\x1b[2J\x9b31m\x00\x7f"
HEAD = b" HTTP/1.1\r\nHost: 127.0.0.1\r\n"
HOSTILE_WEB = [
    b"GET /" + b"a" * 200_000 + HEAD + b"\r\n", b"GET /" + TERMINAL + HEAD + b"\r\n", b"GET / HTTP/9.9\r\n\r\n", TERMINAL * 100 + b"\r\n\r\n",
    b"GET /" + HEAD + b"X: " + b"y" * 200_000 + b"\r\n\r\n", b"GET /" + HEAD + b"X-Many: 1\r\n" * 20_000 + b"\r\n",
    b"GET /" + HEAD + b"X: " + TERMINAL + b"\r\n\r\n", b"GET /%00%1b%5b2J%0d%0aX:%20y?a=%00%1b&b=" + b"%ff" * 100 + HEAD + b"\r\n",
    *[b"POST /" + HEAD + b"Content-Length: " + length + b"\r\n\r\nx" for length in (b"99999999999999999999999", b"-1", b"0x10", b"18446744073709551615", b"9223372036854775807", b"1, 2", b"")],
    b"POST /" + HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx", b"POST /" + HEAD + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    *[b"POST /" + HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + size + b"\r\nx" for size in (b"ffffffffffffffff", b"7fffffffffffffff", b"-1", b"1" * 5000, b"1;" + b"e" * 100_000)],
    b"GET /mapOutput?job=job_1_0001&reduce=99999999999999999999&map=" + b"a," * 50_000 + HEAD + b"\r\n",
    b"GET /mapOutput?job=job_9223372036854775808_-1&reduce=-1&map=../../etc/passwd" + HEAD + b"\r\n",
    # What is no UTF-8, where answers repeat what was asked.
    *[b"GET /" + path + HEAD + b"\r\n" for path in (b"\xff\x80[", b"%ff%80%5b", b"v1/submissions/status/%ff%80%5b", b"v1/%ff/status/driver-1", b"app/?appId=%ff%80", b"json/%ff%80",
                                                   b"ws/v1/cluster/apps/%ff%80", b"ws/v1/node/apps/%ff%80", b"fairlead/v1/apps/%ff%80", b"fairlead/v1/logs/%ff%80", b"proxy/%ff%80/")],
]
HOSTILE_RPC = [
    *[CALLS + struct.pack(">i", length) + HALF_BODY for length in (-1, -2**31, 0, 1, 2**31 - 1)],
    *[rpc.preamble(auth=auth) + rpc.context() for auth in (1, 0x51, 0xFF)], rpc.preamble(version=255) + rpc.context(), b"hrpc" + TERMINAL * 1000, b"GET / HTTP/1.1\r\n\r\n",
    CALLS + rpc.frame(b"\xff" * 5000), CALLS + rpc.frame(rpc.varint(2**63) + b"x"), CALLS + rpc.frame(b"\x80" * 64),
    CALLS + rpc.call("\x1b[2J" * 20_000), CALLS + rpc.call("getApplications", b"\x0a\xff\xff\xff\xff\x0f" + b"\x12" * 100_000), CALLS + rpc.call("getApplications", b"\x0b" * 200_000),
    rpc.preamble() + rpc.context(user="\x1b]0;x\x07" * 20_000), rpc.preamble() + rpc.context(user="") + rpc.call("getNewApplication"),
    *[CALLS + rpc.call(method, rpc.field(1, rpc.field(1, 2**64 - 1) + rpc.field(2, 2**63)), call_id=2**31 - 1) for method in ("getApplicationReport", "submitApplication", "forceKillApplication", "getContainers")],
    rpc.preamble(auth=0xDF) + rpc.sasl(1) + rpc.sasl(2**63, b"\xff" * 100_000) + rpc.sasl(1) * 1000, CALLS + rpc.context() * 2000, CALLS + rpc.call("getClusterMetrics", version=2**63),
]
HOSTILE_SPARK = [
    *[struct.pack(">qb", length, kind) + HALF_BODY for length in (-1, -2**63, 0, 7, 8, 9, 2**31, 2**63 - 1) for kind in (0, 3, 9, 11)],
    *[struct.pack(">qbqi", 8 + 1 + 8 + 4 + 4, kind, -1, length) + b"\xff" * 4 for kind in (0, 3, 6, 9, 11) for length in (-1, 2**31 - 1, 0, 4)],
    # Java's objects, as a Master's messages are: an array of 2^31 - 1, a text of 2^63, arrays in arrays.
    *[struct.pack(">qbi", 8 + 1 + 4 + len(body), 9, len(body)) + body for body in (
        b"\xac\xed\x00\x05ur\x00\x02[B" + b"\x00" * 8 + b"\x02\x00\x00xp\x7f\xff\xff\xff", b"\xac\xed\x00\x05\x7c\x7f" + b"\xff" * 7, b"\xac\xed\x00\x05" + b"ur\x00\x13[Ljava.lang.Object;" * 2000,
        b"\x01\x00\x09127.0.0.1\x00\x00\x00\x01\x01\x00\x09127.0.0.1\x00\x00\x00\x02\x00\x06Master\xac\xed\x00\x05" + b"q\x00\x7e\xff\xff" * 1000, TERMINAL * 500)],
    b"\xff" * 50_000, b"GET / HTTP/1.1\r\n\r\n", TERMINAL * 1000,
]


def hostile(kinds, rng, count=200):
    """All of them, and some with bytes changed, cut or repeated."""
    yield from kinds
    for _ in range(count):
        words = bytearray(rng.choice(kinds))
        for _ in range(rng.randrange(8)):
            words[rng.randrange(min(len(words), 300))] = rng.randrange(256)
        yield bytes(words[:rng.randrange(1, len(words) + 1)] if rng.random() < 0.3 else words * rng.choice((1, 1, 3)))


class Daemon:
    """A process of Fairlead's and where its /healthz is."""

    def __init__(self, process, web, log):
        self.process = process
        self.web = web
        self.log = pathlib.Path(log)

    def require_answer(self, seconds=1):
        """/healthz in time; twice again, should this machine have had something else to do."""
        assert self.process.poll() is None, f"it ended with {self.process.poll()}: {self.log.read_text(errors='replace')[-2000:]}"
        for last in (False, False, True):
            began = time.monotonic()
            host, port = self.web
            with urllib.request.urlopen(f"http://{host}:{port}/healthz", timeout=30) as answer:
                assert answer.status == 200, answer.status
            took = time.monotonic() - began
            if took < seconds:
                return
            assert not last, f"/healthz of {self.log.stem} took {took} s"

    def require_bounded(self, before):
        grown = resident(self.process.pid) - before
        assert grown < MEMORY, f"{self.log.stem} has grown by {grown >> 20} MiB"

    def require_clean_log(self, since=0):
        """Nothing in it, from that byte on, that a terminal obeys, nor bytes that are no text, nor a line for each of them."""
        text = self.log.read_bytes()[since:].decode()
        assert len(text) < LOG_MAX, f"{len(text)} bytes of log"
        assert not any(not char.isprintable() and char not in "\t\n" for char in text), "control characters in the log"

    def meet_crowd(self, address, words, seconds=4):
        """Crowds of one kind: it answers, and holds little for them."""
        before = resident(self.process.pid)
        crowd = Crowd(address, words)
        try:
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline:
                self.require_answer()
                self.require_bounded(before)
        finally:
            crowd.close()
        self.require_answer()

    def meet_hostile(self, address, kinds, seed):
        """One after the other, each said whole or until it is refused."""
        before = resident(self.process.pid)
        logged = self.log.stat().st_size
        rng = random.Random(seed)
        for number, words in enumerate(hostile(kinds, rng)):
            with contextlib.closing(socket.create_connection(address, timeout=10)) as peer, contextlib.suppress(OSError):
                peer.settimeout(0.2)
                peer.sendall(words)
                peer.shutdown(socket.SHUT_WR)
                while peer.recv(65536):
                    pass
            if self.process.poll() is not None or number % 20 == 0:
                self.require_answer()
        self.require_answer()
        self.require_bounded(before)
        self.require_clean_log(logged)
