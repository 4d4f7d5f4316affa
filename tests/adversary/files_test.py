#!/usr/bin/env python3
"""Files that are not what they should be: a resource manager's journal and a job's event log, cut, damaged, huge, compressed, of somebody else. The
commands that read them end soon, with a sentence and within their memory; a manager starts beside such a journal."""
import gzip
import json
import os
import pathlib
import random
import resource
import shutil
import struct
import subprocess
import tempfile
import unittest

from strangers_test import FAIRLEAD, Daemons
from strangers_test import ask as ask_web

SEED = int(os.environ.get("FAIRLEAD_SEED", "0"))
MEMORY = 4 << 30  # of addresses
SECONDS = 20  # each command; most take some milliseconds


def run(*words):
    """(exit code, what it said), within a bound of memory."""
    def bounded():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    done = subprocess.run([str(word) for word in (FAIRLEAD, *words)], capture_output=True, timeout=SECONDS, preexec_fn=bounded, check=False)
    return done.returncode, (done.stdout + done.stderr).decode(errors="surrogateescape")


class Files:
    def require_a_sentence(self, words, may_succeed=True):
        code, told = run(*words)
        self.assertIn(code, range(6) if may_succeed else range(1, 6), told[-500:])
        self.assertLess(len(told), 1 << 20)
        self.assertFalse([char for char in told if not char.isprintable() and char not in "\n\t"], told[:300])
        if code != 0:
            self.assertTrue(told.strip(), words)
        return told


class Journal(Files, Daemons):
    """Of a manager that has taken some applications."""

    def setUp(self):
        super().setUp()
        for _ in range(3):
            ask_web(self.rm, "/ws/v1/cluster/apps/new-application", "POST")
        self.stop()
        [self.journal] = self.directory.rglob("rm.journal")
        self.good = self.journal.read_bytes()

    def damaged(self):
        rng = random.Random(SEED)
        yield from (self.good[:int(len(self.good) * part)] for part in (0, 0.01, 0.3, 0.6, 0.999))
        for _ in range(12):
            words = bytearray(self.good)
            for _ in range(rng.choice((1, 3, 50))):
                words[rng.randrange(len(words))] = rng.randrange(256)
            yield bytes(words)
        head = self.good[:8]
        for length in (0, 1, 0x7fffffff, 0xffffffff):  # of the header; of the first batch
            yield head + struct.pack(">I", length) + self.good[12:]
            (header,) = struct.unpack(">I", self.good[8:12])
            batch = 16 + header
            yield self.good[:batch] + struct.pack(">I", length) + self.good[batch + 4:]
        yield head + b"\0" * 10_000
        yield gzip.compress(self.good)
        yield os.urandom(100_000)
        yield self.good + self.good

    def test_commands_end_with_a_sentence(self):
        file = self.directory / "bad.journal"
        for number, words in enumerate(self.damaged()):
            with self.subTest(number):
                file.write_bytes(words)
                self.require_a_sentence(["replay", file])
                if number % 4 == 0:
                    self.require_a_sentence(["replay", file, "--story", "application_1_0001"])

    def test_one_without_end_is_refused(self):
        file = self.directory / "bad.journal"
        file.write_bytes(self.good)
        os.truncate(file, 8 << 30)  # a hole
        self.require_a_sentence(["replay", file], may_succeed=False)

    def test_a_manager_starts_beside_them(self):
        for words in (b"", os.urandom(50_000), self.good[:len(self.good) // 2], self.good[:8] + b"\xff" * 1000):
            self.journal.write_bytes(words)
            self.spawn("rm", "rm", "--hadoop-conf", self.conf)
            self.await_port(self.rm)
            self.assertEqual(ask_web(self.rm, "/healthz")[0], 200)
            self.stop()


class EventLog(Files, unittest.TestCase):
    """A job's; `fairlead history` reads it."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-event-log-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def lines(self):
        rng = random.Random(SEED)
        yield b""
        yield b"\0" * 100_000
        yield b"[" * 200_000
        yield b'{"a":' * 200_000
        yield b'{"event": "' + b"x" * (8 << 20) + b'"}\n'
        yield b"{}\n" * 200_000
        yield b'{"event":"TaskFinished","stage":1e999,"task":-9223372036854775809}\n' * 1000
        yield json.dumps({"event": "ApplicationStarted", "version": 2**63}).encode() + b"\n"
        yield json.dumps({"event": "ApplicationStarted", "application": "\x1b[2J\u202e", "time": -1}).encode() + b"\n"
        yield gzip.compress(b"\0" * (64 << 20))
        yield b"".join(bytes(rng.randrange(256) for _ in range(200)) + b"\n" for _ in range(200))
        # Spark's own, which is another format.
        yield b'{"Event":"SparkListenerLogStart","Spark Version":"3.5.5"}\n{"Event":"SparkListenerApplicationStart","App Name":"x","Timestamp":1}\n'

    def test_commands_end_with_a_sentence(self):
        for number, words in enumerate(self.lines()):
            for name in ("log", "log.gz"):
                with self.subTest(number=number, name=name):
                    file = self.directory / name
                    file.write_bytes(words)
                    self.require_a_sentence(["history", file])
        os.truncate(self.directory / "log", 8 << 30)
        self.require_a_sentence(["history", self.directory / "log"], may_succeed=False)


if __name__ == "__main__":
    unittest.main()
