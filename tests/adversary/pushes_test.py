#!/usr/bin/env python3
"""Hostile executors at a shuffle service that merges: sizes that are none, streams without an end, ids that are paths, more partitions than there is
room for. What an honest application pushes meanwhile is merged and read back."""
import contextlib
import json
import os
import pathlib
import re
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
sys.path.insert(0, str(ROOT / "tests/interop"))
import shuffle_scripts as frames  # noqa: E402
import strangers  # noqa: E402
from merge_scripts import MERGER  # noqa: E402
from peers import free_ports  # noqa: E402

BUILD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build"))
RESOLVER = "spark.shuffle.push.server.mergedShuffleFileManagerImpl=org.apache.spark.network.shuffle.RemoteBlockPushResolver"
MERGE_MEMORY = 8 << 20
PUSH_MS = 0.5  # of the service's threads; 0.1 where nothing else runs
MERGED, TOO_LATE = 0, 1  # what a push is answered


class Executor:
    """A connection of an application's executor."""

    def __init__(self, port, app):
        self.app = app
        self.peer = socket.create_connection(("127.0.0.1", port), 30)

    def close(self):
        self.peer.close()

    def take(self, count):
        """So many bytes, or fewer where the connection ends."""
        out = b""
        with contextlib.suppress(ConnectionError):
            while len(out) < count and (part := self.peer.recv(count - len(out))):
                out += part
        return out

    def read(self):
        """An answer's kind and what follows its request; None: the connection ended."""
        head = self.take(9)
        if len(head) < 9:
            return None
        length, kind = struct.unpack(">qb", head)
        return kind, self.take(length - 9)[8:]

    def rpc(self, body):
        self.peer.sendall(frames.rpc(1, body))
        return self.read()

    def register(self, directory, manager=f'{frames.SORT}:{{"mergeDir":"merge_manager"}}'):
        return self.rpc(b"\2" + frames.text(self.app) + frames.text("1") + frames.texts([str(directory)]) + struct.pack(">i", 64) + frames.text(manager))

    def header(self, map_index, reduce, size, shuffle=0, merge=0):
        push = b"\x0c" + frames.text(self.app) + struct.pack(">iiiiii", -1, shuffle, merge, map_index, reduce, 0)
        return frames.frame(frames.UPLOAD, struct.pack(">q", map_index) + frames.text(push) + struct.pack(">q", size))

    def push(self, map_index, reduce, block, shuffle=0, merge=0):
        """What it is answered; None: the connection ended, or a failure."""
        self.peer.sendall(self.header(map_index, reduce, len(block), shuffle, merge) + block)
        answer = self.read()
        return answer[1][5] if answer and answer[0] == frames.RPC_RESPONSE else None

    def finalize(self):
        return self.rpc(b"\x0d" + frames.text(self.app) + struct.pack(">iii", -1, 0, 0))

    def merged(self, reduce):
        """Its first chunk."""
        _, body = self.rpc(b"\x0f" + frames.text(self.app) + frames.text(MERGER) + struct.pack(">ii", 0, 0) + frames.numbers("i", [reduce]) + frames.lists([[0]]))
        (stream,) = struct.unpack_from(">q", body, 5)
        self.peer.sendall(frames.frame(frames.CHUNK, struct.pack(">qi", stream, 0)))
        kind, body = self.read()
        assert kind == frames.CHUNK_SUCCESS, body
        return body[4:]


class Pushes(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-pushes-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.roots = self.directory / "roots"
        for app in ("honest", "hostile"):
            (self.roots / app / "blockmgr").mkdir(parents=True)
            for at in range(64):
                (self.roots / app / "merge_manager" / f"{at:02x}").mkdir(parents=True)
        self.port, self.web = free_ports(2)
        words = [BUILD / "fairlead", "shuffle", "--port", self.port, "--web-port", self.web, "--local-roots", self.roots, "--state", self.directory / "state"]
        for setting in (RESOLVER, f"fairlead.shuffle.merge.memory={MERGE_MEMORY}b", "fairlead.shuffle.merge.partitions-per-application=100"):
            words += ["--conf", setting]
        with open(self.directory / "log", "wb") as log:
            self.service = subprocess.Popen([str(word) for word in words], stdout=log, stderr=log)
        self.addCleanup(self.service.wait)
        self.addCleanup(self.service.kill)
        deadline = time.monotonic() + 30
        while True:
            try:
                self.honest = self.executor("honest")
                break
            except OSError:
                self.assertLess(time.monotonic(), deadline, (self.directory / "log").read_text())
                time.sleep(0.02)
        self.resident = strangers.resident(self.service.pid)

    def executor(self, app):
        out = Executor(self.port, app)
        self.addCleanup(out.close)
        self.assertEqual(out.register(self.roots / app / "blockmgr")[0], frames.RPC_RESPONSE)
        return out

    def status(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.web}/status", timeout=10) as answer:
            return json.load(answer)

    def tearDown(self):
        """The honest application's blocks are merged and read back, and the service holds no more than it may."""
        blocks = [bytes([65 + at % 26]) * (1 + at * 7 % 900) for at in range(200)]
        for at, block in enumerate(blocks):
            self.assertEqual(self.honest.push(at, 0, block), MERGED)
        self.assertLess(strangers.resident(self.service.pid) - self.resident, MERGE_MEMORY + (32 << 20))
        self.assertEqual(self.honest.finalize()[0], frames.RPC_RESPONSE)
        self.assertEqual(self.honest.merged(0), b"".join(blocks))

    def test_sizes_that_are_none(self):
        for size in (-1, -(1 << 63), (1 << 63) - 1, 1 << 62):
            with self.subTest(size=size):
                hostile = self.executor("hostile")
                hostile.peer.sendall(hostile.header(1, 1, size) + b"x" * 1000)
                hostile.close()
        hostile = self.executor("hostile")
        for meta, why in ((b"", "no message"), (b"\x0c", "a cut one"), (b"\x0c" + struct.pack(">i", 1 << 30), "a long text"), (b"\x0d" * 40, "another")):
            with self.subTest(message=why):
                hostile.peer.sendall(frames.frame(frames.UPLOAD, struct.pack(">q", 1) + frames.text(meta) + struct.pack(">q", 0)))
                while hostile.read():
                    pass
                hostile = self.executor("hostile")
        self.assertIsNone(hostile.push(-1, 0, b"x"))

    def test_a_stream_without_an_end(self):
        """Two of them to one partition, so that one waits for the other; each sends far more than the service may hold."""
        hostiles = [self.executor("hostile") for _ in range(2)]
        for at, hostile in enumerate(hostiles):
            hostile.peer.sendall(hostile.header(at, 1, 1 << 40))
            hostile.peer.settimeout(0.5)  # who has too much is not read
            with contextlib.suppress(TimeoutError, ConnectionError):
                for _ in range(64):
                    hostile.peer.sendall(b"x" * (1 << 20))
        self.assertEqual(self.honest.push(300, 0, b""), MERGED, "while they go on")
        for hostile in hostiles:
            hostile.close()

    def test_ids_that_are_paths(self):
        secret = self.roots / "honest/merge_manager/00/secret"
        secret.write_text("not to be touched")
        (self.roots / "hostile/merge_manager/00/shuffleMerged_x").mkdir()
        for app in ("../honest", "x/../../../honest/merge_manager/00/secret", "/honest", "..", "a\0b"):
            with self.subTest(app=app):
                hostile = Executor(self.port, app)
                self.addCleanup(hostile.close)
                self.assertEqual(hostile.register(self.roots / "hostile/blockmgr")[0], frames.RPC_FAILURE)
                self.assertIsNone(hostile.push(0, 0, b"x"))
        for name in ("../honest/merge_manager", "/etc", "..", "a/b", ""):
            with self.subTest(directory=name):
                hostile = Executor(self.port, "third")
                self.addCleanup(hostile.close)
                self.assertEqual(hostile.register(self.roots / "hostile/blockmgr", f'{frames.SORT}:{json.dumps({"mergeDir": name})}')[0], frames.RPC_FAILURE)
        outside = Executor(self.port, "fourth")
        self.addCleanup(outside.close)
        self.assertEqual(outside.register(self.directory / "elsewhere/blockmgr")[0], frames.RPC_FAILURE)
        self.assertEqual(secret.read_text(), "not to be touched")

    def test_more_partitions_than_an_application_may_open(self):
        hostile = self.executor("hostile")
        answers = [hostile.push(0, reduce, b"x" * 10) for reduce in range(300)]
        self.assertEqual(answers, [MERGED] * 100 + [TOO_LATE] * 200)
        app = next(app for app in self.status()["apps"] if app["id"] == "hostile")
        self.assertEqual((app["openMergedPartitions"], app["pushesRefused"]), (100, 200))
        told = subprocess.run([BUILD / "fairlead", "shuffle", "status", "--state", self.directory / "state"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(told, r"no room 200")
        self.assertRegex(told, re.compile(r"^hostile .* 200$", re.M))

    def processor_ms(self):
        tasks = pathlib.Path(f"/proc/{self.service.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e6

    def require_cheap(self, hostile, pushes):
        """Each is answered before the next comes."""
        before = self.processor_ms()
        for shuffle, merge in pushes:
            self.assertIsNotNone(hostile.push(1, 0, b"x", shuffle, merge))
        self.assertLess((self.processor_ms() - before) / len(pushes), PUSH_MS)

    def test_new_merges_of_one_shuffle(self):
        self.require_cheap(self.executor("hostile"), [(0, merge) for merge in range(10_000)])

    def test_new_merges_of_ten_thousand_shuffles(self):
        """As many as are known of an application; and then more."""
        hostile = self.executor("hostile")
        self.require_cheap(hostile, [(shuffle, 0) for shuffle in range(10_000)])
        self.require_cheap(hostile, [(10_000 - shuffle, 1) for shuffle in range(1, 5000)])
        self.require_cheap(hostile, [(10_000 + shuffle, 0) for shuffle in range(2000)])


if __name__ == "__main__":
    unittest.main()
