#!/usr/bin/env python3
"""Strangers at a port that speaks TLS, against the real resource manager: thousands of handshakes that stop halfway, and connections that are in and
ask for new keys for ever. Memory and processor time stay small, and who comes from elsewhere is answered."""
import contextlib
import pathlib
import resource
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from costs import memory_kib, processor_ms
from strangers_test import ROOT, Daemons, until

sys.path.insert(0, str(ROOT / "tests/interop"))
import tls  # noqa: E402
from peers import free_ports  # noqa: E402

HANDSHAKES = 10_000
ADDRESSES = [f"127.0.0.{number}" for number in range(2, 10)]
PORT_KIB = 32 << 10  # docs/ports.md
MEMORY_KIB = PORT_KIB + (24 << 10)  # and what the allocator and the connections' own objects take
KEYS = 20_000
KEYS_MS = 1000  # of the daemon's threads


def hello():
    """The first message of a client."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    out = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), out).do_handshake()
    return out.read()


class Tls(Daemons):
    def setUp(self):
        made = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-tls-peers-"))
        self.addCleanup(shutil.rmtree, made, ignore_errors=True)
        self.tls = tls.Certificates(made)
        [self.https] = free_ports(1)
        self.keys = {"yarn.http.policy": "HTTPS_ONLY", "fairlead.tls.certificate": self.tls.certificate, "fairlead.tls.key": self.tls.key,
                     "yarn.resourcemanager.webapp.https.address": f"127.0.0.1:{self.https}"}
        super().setUp()
        self.pid = self.processes["rm"].pid

    def await_port(self, port):
        until(lambda: self.health() == 200, "the page")

    def health(self, source="127.0.0.1"):
        context = self.tls.trusting()
        with socket.create_connection(("127.0.0.1", self.https), 20, source_address=(source, 0)) as plain:
            with context.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
                connection.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{self.https}\r\nConnection: close\r\n\r\n".encode())
                return int(connection.makefile("rb").readline().split()[1])


class Handshakes(Tls):
    def crowd(self, words):
        """Ten thousand from eight addresses that say the words and wait."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < HANDSHAKES + 200:
            self.skipTest(f"{hard} open files")
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        peers = []
        self.addCleanup(lambda: [peer.close() for peer in peers])
        most = 0
        before = memory_kib(self.pid, "VmRSS")
        for number in range(HANDSHAKES):
            peer = socket.socket()
            peers.append(peer)
            with contextlib.suppress(OSError):
                peer.settimeout(5)
                peer.bind((ADDRESSES[number % len(ADDRESSES)], 0))
                peer.connect(("127.0.0.1", self.https))
                peer.sendall(words)
            if number % 500 == 499:
                self.assertEqual(self.health("127.0.0.77"), 200, "from another address")
                most = max(most, memory_kib(self.pid, "VmRSS") - before)
        self.assertLessEqual(most, MEMORY_KIB, "KiB more")

    def test_that_wait_for_the_client(self):
        self.crowd(hello())

    def test_whose_first_message_never_ends(self):
        self.crowd(b"\x16\x03\x01\x40\x00" + b"\x01\x00\x3f\xfc\x03\x03" + b"x" * 15_000)

    def test_that_say_nothing(self):
        self.crowd(b"")


class NewKeys(Tls):
    def ask_for_keys(self, letter, *words):
        """OpenSSL's client sends one message for each such line. True: the daemon ended it."""
        command = ["openssl", "s_client", "-connect", f"127.0.0.1:{self.https}", *words]
        client = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(client.kill)
        seen = iter(client.stdout.readline, b"")
        for line in seen:
            if b"Verify return code" in line:
                break
        ended = threading.Event()

        def watch():
            for _ in seen:
                pass
            ended.set()

        watcher = threading.Thread(target=watch)
        watcher.start()
        with contextlib.suppress(BrokenPipeError):
            for _ in range(KEYS):
                client.stdin.write(letter)  # the client looks at the first letter of what it reads at once
                client.stdin.flush()
                if ended.wait(0.0005):
                    break
        over = ended.wait(5)
        client.kill()
        client.wait()
        watcher.join()
        client.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            client.stdin.close()
        return over

    def require_end(self, letter, *words):
        before = processor_ms(self.pid)
        begin = time.monotonic()
        self.assertTrue(self.ask_for_keys(letter, *words), "nobody ended it")
        took = processor_ms(self.pid) - before
        self.assertLess(took, KEYS_MS, f"ms of {1000 * (time.monotonic() - begin):.0f}")
        self.assertEqual(self.health(), 200)

    def test_own_keys(self):
        self.require_end(b"k\n", "-tls1_3")

    def test_keys_of_both(self):
        self.require_end(b"K\n", "-tls1_3")

    def test_handshakes_anew(self):
        self.require_end(b"R\n", "-tls1_2")


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
