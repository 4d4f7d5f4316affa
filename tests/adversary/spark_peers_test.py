#!/usr/bin/env python3
"""What a Standalone Master and Worker remember of peers, and whose a place is: series of strangers' messages against the real daemons. Each leaves
the daemon answering /healthz within a second and below its memory, and honest peers are served. Some 60 seconds.

usage: spark_peers_test.py [TEST...] | --flood [CONNECTIONS]
--flood: strangers' connections (10,000) from eight addresses at each port of Master and Worker, while applications register from a ninth."""
import contextlib
import gzip
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import flood
import spark_home
from costs import HEALTH_S
from java_stream import (MESSAGES, Object, address, application, ask, boxed, check_existence, command, driver, endpoint, mapping, message, nothing, one_way, profile,
                         registration, seq, worker)
from strangers_test import BUILD, FAIRLEAD
from strangers_test import ask as ask_web
from waiting import until

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
from peers import free_ports  # noqa: E402
from strangers import SPARK_KINDS, WEB_KINDS, listening, raise_open_files, resident  # noqa: E402

HONEST, STRANGER = "127.0.0.1", "127.0.0.9"
MEMORY = 64 << 20  # beside what a daemon has when it starts: docs/ports.md
LONG = 900_000


class Peer:
    """A connection of Spark's RPC."""

    def __init__(self, port, source=STRANGER, to=HONEST):
        self.socket = socket.create_connection((to, port), timeout=20, source_address=(source, 0))
        self.frames = []
        self.buffer = b""

    def say(self, *values, to="Master"):
        """False: the daemon has closed before it was said."""
        try:
            for value in values:
                self.socket.sendall(one_way(value, to))
        except OSError:
            return False
        return True

    def exists(self, name, seconds=20):
        """The answer to whether there is an endpoint; None: the daemon has closed."""
        try:
            self.socket.sendall(ask(check_existence(name), "endpoint-verifier"))
        except OSError:
            return None
        frame = self.read(lambda data: data[:1] in (b"\4", b"\5"), seconds)
        return None if frame is None else frame.endswith(b"\1")

    def read(self, wanted, seconds=20):
        """The first frame that is wanted; None: it has ended."""
        deadline = time.monotonic() + seconds
        while True:
            while len(self.buffer) >= 8 and len(self.buffer) >= (size := struct.unpack(">q", self.buffer[:8])[0]):
                frame, self.buffer = self.buffer[8:size], self.buffer[size:]
                self.frames.append(frame)
                if wanted(frame):
                    return frame
            self.socket.settimeout(max(deadline - time.monotonic(), 0.001))
            try:
                part = self.socket.recv(65536)
            except TimeoutError:
                raise AssertionError(f"waited {seconds} s for a message") from None
            except OSError:
                return None
            if not part:
                return None
            self.buffer += part

    def read_message(self, name, seconds=20):
        return self.read(lambda frame: f"${name}".encode() in frame, seconds)

    def ended(self, seconds=20):
        """Whether the daemon ends it."""
        try:
            return self.read(lambda frame: False, seconds) is None
        except AssertionError:
            return False

    def is_open(self):
        self.socket.settimeout(0.01)
        try:
            return self.socket.recv(1, socket.MSG_PEEK) != b""
        except TimeoutError:
            return True
        except OSError:
            return False

    def close(self):
        self.socket.close()


class Standalone(unittest.TestCase):
    """A Master, and a Worker whose Java is a shell that sleeps."""

    properties = {}
    environment = {}
    with_worker = True
    master_words = ()

    def setUp(self):
        raise_open_files()
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-spark-peers-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.processes = {}
        self.addCleanup(self.stop)
        self.home = spark_home.make(self.directory)
        java = self.directory / "java/bin/java"
        java.parent.mkdir(parents=True)
        java.write_text("#!/bin/sh\nexec sleep 600\n")
        java.chmod(0o755)
        self.master, self.web, self.worker_port, self.worker_web = free_ports(4)
        self.url = f"spark://{HONEST}:{self.master}"
        text = "".join(f"{key} {value}\n" for key, value in {"spark.master.rest.enabled": "false", **self.properties}.items())
        (self.directory / "properties").write_text(text.replace("DIRECTORY", str(self.directory)))
        self.start_master()
        if self.with_worker:
            self.start_worker()

    def start_master(self):
        self.spawn("master", "spark-master", "--host", HONEST, "--port", self.master, "--webui-port", self.web, *self.master_words)
        until(lambda: ask_web(self.web, "/healthz")[0] == 200, "the Master")

    def start_worker(self):
        self.spawn("worker", "spark-worker", "--host", HONEST, "--port", self.worker_port, "--webui-port", self.worker_web, "--cores", "2", "--memory", "512m",
                   "--work-dir", self.directory / "work", self.url)
        until(lambda: ask_web(self.worker_web, "/readyz")[0] == 200, "the Worker")

    def spawn(self, name, *words):
        environment = {**os.environ, "JAVA_HOME": str(self.directory / "java"), "SPARK_LOCAL_DIRS": str(self.directory), **self.environment}
        with open(self.directory / f"{name}.log", "ab") as log:
            of_spark = () if words[0] == "shuffle" else ("--spark-home", self.home, "--properties-file", self.directory / "properties")
            command_line = [FAIRLEAD, *words, *of_spark]
            self.processes[name] = subprocess.Popen([str(word) for word in command_line], stdout=log, stderr=log, env=environment)

    def stop(self):
        if os.environ.get("FAIRLEAD_TEST_LOGS"):
            for log in self.directory.glob("*.log"):
                print(log.name, log.read_text()[-4000:], file=sys.stderr)
        for process in reversed(self.processes.values()):
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def pid(self, name="master"):
        return self.processes[name].pid

    def supervisor(self):
        """The Worker's."""
        def words(pid):
            with contextlib.suppress(OSError):
                return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            return b""
        return next(int(pid) for pid in os.listdir("/proc") if pid.isdigit() and b"spark-worker-supervisor" in words(pid) and str(self.directory).encode() in words(pid))

    def log(self, name="master"):
        return (self.directory / f"{name}.log").read_text()

    def page(self, port=None, path="/json/"):
        status, body = ask_web(port or self.web, path)
        self.assertEqual(status, 200)
        return json.loads(body)

    def refused(self, kind, port=None):
        text = ask_web(port or self.web, "/metrics")[1].decode()
        return int(re.search(rf'_refusals_total{{kind="{kind}"}} (\d+)', text)[1])

    def honest_id(self):
        return next(one["id"] for one in self.page()["workers"] if one["port"] == self.worker_port)

    @contextlib.contextmanager
    def harmless(self, name="master", memory=MEMORY):
        """All the while /healthz answers in time, and memory stays below its bound."""
        before, over, late = resident(self.pid(name)), threading.Event(), []
        web = self.web if name == "master" else self.worker_web

        def watch():
            while not over.is_set():
                begin = time.monotonic()
                with contextlib.suppress(OSError, http.client.HTTPException):
                    if ask_web(web, "/healthz")[0] == 200 and time.monotonic() - begin < HEALTH_S:
                        over.wait(0.05)
                        continue
                late.append(time.monotonic() - begin)

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()
        self.assertIsNone(self.processes[name].poll(), self.log(name)[-2000:])
        self.assertLess(len(late), 3, late)  # this machine may have something else to do once
        grown = resident(self.pid(name)) - before
        self.assertLess(grown, memory, f"{grown >> 20} MiB more")

    def peer(self, *words, **options):
        peer = Peer(*words, **options)
        self.addCleanup(peer.close)
        return peer

    def register(self, source=HONEST, **fields):
        """An honest application; gives its driver's connection."""
        peer = self.peer(self.master, source)
        self.assertTrue(peer.say(registration(application(**fields))))
        self.assertIsNotNone(peer.read_message("RegisteredApplication"))
        return peer

    def require_service(self):
        """Of an honest Worker, who still has its place."""
        self.assertEqual([one["state"] for one in self.page()["workers"] if one["port"] == self.worker_port], ["ALIVE"])
        driver_of = self.register()
        self.assertIsNotNone(driver_of.read_message("ExecutorAdded"))
        driver_of.close()


class Memory(Standalone):
    """A7, A10: what is remembered of those that have gone."""

    def gone(self, value, count=80):
        """So many connections that each say something long, and go."""
        for number in range(count):
            peer = Peer(self.master)
            peer.say(value(number))
            peer.close()

    def require_small_page(self):
        begin = time.monotonic()
        self.assertEqual(ask_web(self.web, "/json/")[0], 200)
        self.assertLess(time.monotonic() - begin, 5)
        self.require_service()

    def test_lost_workers(self):
        with self.harmless():
            self.gone(lambda i: worker(f"w{i}", 100 + i, workerWebUiUrl="http://" + "x" * LONG))
            self.require_small_page()

    def test_lost_workers_of_long_ids_and_many_small_ones(self):
        with self.harmless():
            self.gone(lambda i: worker(f"w{i}" + "y" * LONG, 100 + i))
            self.gone(lambda i: worker(f"v{i}", 1000 + i), 1500)
            self.require_small_page()
            deadline = time.monotonic() + 30  # until it has seen that the last of them went
            while len(self.page()["workers"]) > 1001:
                self.assertLess(time.monotonic(), deadline, "lost Workers are remembered without a bound")
                time.sleep(0.1)

    def test_ended_applications_and_drivers_that_wait(self):
        with self.harmless(memory=2 * MEMORY):  # 32 MiB of drivers that wait, as objects and in their stored form
            self.gone(lambda i: registration(application(name="n" * LONG)))
            self.gone(lambda i: registration(application(user="u" * (LONG // 2), appUiUrl="http://" + "u" * (LONG // 2))), 100)
            for number in range(80):
                peer = Peer(self.master)
                peer.socket.sendall(ask(message("RequestSubmitDriver", driverDescription=driver(cores=100, command=command(arguments=seq("a" * LONG)))), number=number))
                peer.ended(0.05)
                peer.close()
            self.require_small_page()

    def test_live_ones_count_for_their_port(self):
        with self.harmless():
            peers = [self.peer(self.master) for _ in range(150)]
            for number, peer in enumerate(peers):
                peer.say(worker(f"w{number}", 100 + number, workerWebUiUrl="http://" + "x" * LONG))
            until(lambda: sum(peer.is_open() for peer in peers) < 50, "those that hold too much")
            self.require_service()


class Connections(Standalone):
    """A10: a connection speaks for one Worker, who goes with it."""

    def alive(self):
        return self.page()["aliveworkers"]

    def test_workers_go_with_their_connection(self):
        for first in (lambda peer: peer.say(*[worker(f"w{i}", 100 + i) for i in range(200)]),
                      lambda peer: peer.socket.sendall(b"".join(one_way(worker(f"v{i}", 100 + i)) for i in range(200))),
                      lambda peer: (peer.say(worker("one", 99)), peer.read_message("RegisteredWorker"), peer.say(worker("other", 98)))):
            peer = self.peer(self.master)
            with contextlib.suppress(OSError):
                first(peer)
            self.assertTrue(peer.ended(), "a second worker of one connection")
            peer.close()
            until(lambda: self.alive() == 1, "the end of all its workers", 5)
        self.assertGreater(self.refused("place"), 0)
        self.require_service()


class Log(Standalone):
    """A9: lines that strangers cause."""

    def test_long_names_and_many_lines(self):
        before = len(self.log())
        with self.harmless():
            for number in range(90):
                peer = Peer(self.master)
                kinds = (lambda: registration(application(name="n" * LONG)), lambda: worker("w" * LONG, 100 + number), lambda: Object(MESSAGES + "Nothing" + "N" * 60_000))
                peer.say(kinds[number % 3]())
                peer.close()
            peer = Peer(self.master)
            for _ in range(3000):
                peer.say(Object("Unknown"), message("WorkerSchedulerStateResponse", id="w" * 1000, execResponses=seq(), driverResponses=seq()))
            peer.close()
        self.stop()
        text = self.log()[before:]
        self.assertLess(len(text), 5 << 20)
        self.assertLess(max(map(len, text.splitlines())), 8192)
        self.assertIn("more lines left out", text)


class Places(Standalone):
    """A11: who knows a Worker's id has no right to its place."""

    def test_a_stranger_gets_nothing_of_a_living_worker(self):
        name = self.honest_id()
        claims = [dict(port=self.worker_port), dict(port=self.worker_port + 1), dict(port=self.worker_port, host="somewhere")]
        for source in (STRANGER, HONEST):
            for claim in claims:
                stranger = self.peer(self.master, source)
                stranger.say(worker(name, **claim))
                frame = stranger.read_message("RegisteredWorker")
                self.assertIsNotNone(frame)
                stranger.say(message("WorkerLatestState", id=name, executors=seq(), driverIds=seq()),
                             message("WorkerDecommissioning", id=name, workerRef=endpoint("Worker")))
                driver_of = self.register()
                self.assertIsNotNone(driver_of.read_message("ExecutorUpdated"))
                driver_of.close()
                self.assertFalse(any(b"$LaunchExecutor" in one for one in stranger.frames))
                stranger.close()
        # Its id with the address of another: the one whose address it is keeps it.
        stranger = self.peer(self.master)
        stranger.say(worker("another", self.worker_port))
        self.assertIsNotNone(stranger.read_message("RegisterWorkerFailed"))
        self.assertGreaterEqual(self.refused("place"), 6)
        self.require_service()

    def test_a_worker_that_was_killed_has_its_place_again(self):
        name = self.honest_id()
        driver_of = self.register()
        self.assertIsNotNone(driver_of.read_message("ExecutorUpdated"))
        self.processes["worker"].kill()
        self.processes["worker"].wait()
        until(lambda: "a worker is away" in self.log(), "its absence")
        stranger = self.peer(self.master)  # meanwhile, from elsewhere
        stranger.say(worker(name, self.worker_port))
        self.assertIsNotNone(stranger.read_message("RegisteredWorker"))
        newcomer = self.peer(self.master)
        newcomer.say(worker("newcomer", self.worker_port))
        self.assertTrue(newcomer.ended())
        self.start_worker()
        self.assertEqual(self.honest_id(), name)
        until(lambda: "a worker is back" in self.log(), "its executors")
        self.assertFalse(any(b"WorkerRemoved" in one for one in driver_of.frames))
        self.assertEqual(len(self.page(self.worker_web)["executors"]), 1)

    def test_a_connection_that_is_silent_loses_it(self):
        first = self.peer(self.master)
        first.say(worker("silent", 99))
        self.assertIsNotNone(first.read_message("RegisteredWorker"))
        second = self.peer(self.master)
        second.say(worker("silent", 99))
        self.assertIsNotNone(second.read_message("RegisteredWorker"))
        self.assertTrue(first.ended())
        self.assertEqual(self.page()["aliveworkers"], 2)


class Running(Standalone):
    """A11, of applications: who knows an application's id, which stands on the page, has no say in what it runs."""

    def test_a_stranger_ends_and_changes_nothing_of_an_application(self):
        driver_of = self.register(command=command(arguments=seq()))
        self.assertIsNotNone(driver_of.read_message("ExecutorAdded"))
        until(lambda: self.page()["activeapps"][0]["state"] == "RUNNING" and len(self.page(self.worker_web)["executors"]) == 1, "its executor")
        before, seen = self.shown(), len(driver_of.frames)
        app = before[0][0][0]
        for source in (STRANGER, HONEST):
            for kind, words in self.claims(app).items():
                for speaker in (None, registration(application(name="another")), worker("small", 98, memory=1)):
                    with self.subTest(kind, source=source, speaker=speaker and speaker.kind):
                        self.claim(source, words, speaker)
                        self.assertEqual(self.shown(app), before)
        self.assertFalse(any(name in frame for frame in driver_of.frames[seen:] for name in (b"$ApplicationRemoved", b"$ExecutorUpdated")))
        self.assertTrue(driver_of.is_open())
        driver_of.close()
        until(lambda: not [one for one in self.page()["activeapps"] if one["id"] == app], "its own end")

    def claims(self, app):
        """What its driver, or the Worker of its executor, may say."""
        state = Object("scala.Enumeration$Val", {"i": 5})
        return {"it ends": message("UnregisterApplication", appId=app),
                "it wants none": message("RequestExecutors", appId=app, resourceProfileToTotalExecs=mapping((profile(), boxed(0)))),
                "one is to go": message("KillExecutors", appId=app, executorIds=seq("0")),
                "it knows the master": message("MasterChangeAcknowledged", appId=app),
                "its executor ended": message("ExecutorStateChanged", appId=app, execId=0, state=state, message=nothing(), exitStatus=nothing())}

    def claim(self, source, words, speaker):
        """By one who is nobody, an application of its own that waits for cores, or a Worker that has room for nothing."""
        stranger = self.peer(self.master, source)
        if speaker is not None:
            stranger.say(speaker)
            self.assertIsNotNone(stranger.read(lambda frame: b"$Registered" in frame))
        with contextlib.suppress(OSError):
            stranger.socket.sendall(one_way(words) + ask(words, number=2))
        stranger.exists("Master")  # until what came before it was read, or the connection is closed
        stranger.close()

    def shown(self, app=None):
        """Of the application and its Worker, what others could change; of one that has gone nothing."""
        page = self.page()
        found = [(one["id"], one["state"], one["cores"]) for one in page["activeapps"] if app in (None, one["id"])]
        return found, page["coresused"], [(entry["appid"], entry["id"]) for entry in self.page(self.worker_web)["executors"]]


class Questions(Standalone):
    """A12: asking whether there is an endpoint makes nobody a member."""

    STRANGERS = 2100

    def test_a_port_full_of_those_who_ask(self):
        # What executors are told: a shell that keeps its words stands for Java.
        java = self.directory / "java/bin/java"
        java.write_text('#!/bin/sh\necho "$@" > "$SPARK_EXECUTOR_DIRS/../words"\nexec sleep 600\n')
        driver_of = self.register(command=command(arguments=seq("--worker-url", "{{WORKER_URL}}")))
        self.assertIsNotNone(driver_of.read_message("ExecutorUpdated"))
        words = until(lambda: (self.directory / "words").read_text(), "the executor")
        name, port = re.search(r"spark://([^@ ]+)@127\.0\.0\.1:(\d+)", words).groups()
        watcher = self.peer(int(port), HONEST)
        self.assertTrue(watcher.exists(name))
        for target, asked in ((int(port), "Worker"), (self.worker_port, "Worker"), (int(port), name + "x")):
            strangers = [Peer(target, f"127.0.0.{2 + i % 8}") for i in range(self.STRANGERS)]
            for stranger in strangers:
                stranger.exists(asked)
            newcomer = self.peer(target, HONEST)
            self.assertIsNotNone(newcomer.exists("Worker"))
            for stranger in strangers:
                stranger.close()
        self.assertTrue(watcher.is_open())
        self.require_worker()

    def require_worker(self):
        self.assertEqual(ask_web(self.worker_web, "/readyz")[0], 200)


class NewMasters(Standalone):
    """A13: a Worker believes a new master as it believed the first."""

    def orders(self, name):
        evil = dict(driverId="driver-evil", driverDesc=driver(jarUrl="file:/bin/sh"), resources=mapping())
        return [message("MasterChanged", master=endpoint("Master", 6), masterWebUiUrl="http://127.0.0.1:6"), message("LaunchDriver", **evil)]

    def test_orders_of_strangers(self):
        first = self.page(self.worker_web)
        for source in (STRANGER, HONEST):
            stranger = self.peer(self.worker_port, source)
            stranger.say(*self.orders("evil"), to="Worker")
            self.assertTrue(stranger.ended(), source)
            for words in (message("RegisteredWorker", master=endpoint("Master", 6), masterWebUiUrl="", masterAddress=address(port=6), duplicate=False),
                          message("RegisterWorkerFailed", message="go"), Object(MESSAGES + "DecommissionWorker$"), *self.orders("evil")[1:],
                          message("ReconnectWorker", masterUrl=self.url)):
                stranger = self.peer(self.worker_port, source)
                stranger.say(words, to="Worker")
                self.assertIsNotNone(stranger.exists("Worker"))
        self.assertEqual(self.page(self.worker_web), first)
        self.assertEqual(list(self.directory.glob("work/driver*")), [])
        self.assertGreaterEqual(self.refused("place", self.worker_web), 2)
        self.assertIn("every user of this machine reaches", self.log("master"))
        self.assertIn("every user of this machine reaches", self.log("worker"))
        self.require_service()

    def test_orders_of_strangers_while_the_master_is_gone(self):
        """Nobody can be asked then: the address alone tells."""
        self.processes["master"].kill()
        self.processes["master"].wait()
        until(lambda: ask_web(self.worker_web, "/readyz")[0] == 503, "its absence")
        stranger = self.peer(self.worker_port)
        stranger.say(*self.orders("evil"), to="Worker")
        self.assertTrue(stranger.ended())
        self.assertGreaterEqual(self.refused("place", self.worker_web), 1)
        self.assertEqual(list(self.directory.glob("work/driver*")), [])
        self.start_master()
        until(lambda: ask_web(self.worker_web, "/readyz")[0] == 200, "the Worker's registration")
        self.require_service()


@unittest.skipIf(os.geteuid() != 0, "needs root, to act as another user")
class Callers(Standalone):
    """A13, B2: with fairlead.callers.uids another user of this machine is served nowhere, and told so in the port's own protocol."""

    properties = {"fairlead.callers.uids": os.geteuid(), "spark.master.rest.enabled": "true", "spark.master.rest.port": 0}
    probe = ("import socket,sys\ns=socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)\ns.settimeout(5)\n"
             "try:\n s.sendall(bytes.fromhex(sys.argv[2]))\n sys.stdout.buffer.write(s.recv(1000))\nexcept OSError:\n pass")

    def served(self, port, user):
        """False: refused with the reason."""
        words = b"GET /healthz HTTP/1.0\r\n\r\n" if port in (self.web, self.worker_web, self.rest) else ask(check_existence("Worker"), "endpoint-verifier")
        out = subprocess.run(["/usr/bin/python3", "-c", self.probe, str(port), words.hex()], capture_output=True, timeout=30, cwd="/", check=True,
                             **({} if user is None else {"user": user, "group": user, "extra_groups": []}))
        self.assertGreater(len(out.stdout), 0, port)
        return b"fairlead.callers.uids" not in out.stdout

    def test_another_user_is_not_served(self):
        watched = next(port for _, port in listening(self.supervisor()))
        [self.rest] = [port for _, port in listening(self.pid()) if port not in (self.master, self.web)]
        for port in (self.master, self.web, self.rest, self.worker_port, self.worker_web, watched):
            self.assertEqual((self.served(port, None), self.served(port, 65534)), (True, False), port)
        for daemon in ("master", "worker"):
            self.assertIn("a stranger is not served", self.log(daemon))
            self.assertNotIn("every user of this machine reaches", self.log(daemon))
        port, web = free_ports(2)
        self.spawn("shuffle", "shuffle", "--port", port, "--web-port", web, "--local-roots", self.directory, "--conf", f"fairlead.callers.uids={os.geteuid()}")
        until(lambda: self.processes["shuffle"].poll() is not None or socket.create_connection((HONEST, port)).close() is None, "the shuffle service")
        self.web = web
        self.assertEqual((self.served(web, None), self.served(web, 65534)), (True, False))


class Counters(Standalone):
    """Whoever is refused before a handler sees him is counted, by kind (alerts FairleadLoginsFail, FairleadRequestsRefused)."""

    properties = {"spark.authenticate": "true", "spark.authenticate.secret": "known to some"}

    def count(self, name, port):
        text = ask_web(port, "/metrics")[1].decode()
        return int(re.search(rf"^fairlead_\w+_{name} (\d+)$", text, re.MULTILINE)[1])

    def login(self, port, words):
        """One that does not know the secret, and goes when it is told so."""
        peer = self.peer(port)
        peer.socket.sendall(words)
        peer.read(lambda frame: True)
        peer.close()

    def test_logins_and_requests(self):
        for port, web in ((self.master, self.web), (self.worker_port, self.worker_web)):
            with self.subTest(web=web):
                self.login(port, ask(b"\xde\xad", ""))                     # no handshake
                self.login(port, one_way(registration()))                  # none at all
                until(lambda web=web: self.refused("login", web) == 2, "both are counted")
                self.assertEqual(self.refused("words", web), 0)
                self.assertEqual(ask_web(web, "/", host="evil.example")[0], 421)
                self.assertEqual(ask_web(web, "/", "POST", headers={"Sec-Fetch-Site": "cross-site"})[0], 403)
                self.assertEqual(self.count("web_refused_total", web), 2)

    def test_tokens(self):
        self.processes["master"].kill()
        self.processes["master"].wait()
        (rest,) = free_ports(1)
        with open(self.directory / "properties", "a", encoding="ascii") as file:
            file.write(f"spark.master.rest.enabled true\nspark.master.rest.port {rest}\nspark.master.rest.filters org.apache.spark.ui.JWSFilter\n"
                       f"spark.org.apache.spark.ui.JWSFilter.param.secretKey {'A' * 43}\n")
        self.start_master()
        for headers in ({}, {"Authorization": "Bearer x.y.z"}):
            self.assertEqual(ask_web(rest, "/v1/submissions/status/driver-1", headers=headers)[0], 403)
        self.assertEqual(self.count("web_logins_refused_total", self.web), 2)

    def test_the_shuffle_service(self):
        port, web = free_ports(2)
        self.spawn("shuffle", "shuffle", "--port", port, "--web-port", web, "--local-roots", self.directory)
        until(lambda: ask_web(web, "/healthz")[0] == 200, "the shuffle service")
        self.assertEqual(ask_web(web, "/status", host="evil.example")[0], 421)
        self.assertEqual(self.count("webRefused", web), 1)


class Sockets(Standalone):
    """B3: nobody takes the place where a Worker meets its supervisor."""

    def start_worker(self):
        super().start_worker()
        sockets = self.directory / "work/.fairlead"
        self.assertEqual(sockets.stat().st_mode & 0o777, 0o700)
        self.assertTrue((sockets / "0").is_socket())

    def test_a_stale_socket_is_no_obstacle(self):
        for signum in (signal.SIGTERM, signal.SIGKILL):
            self.processes["worker"].send_signal(signum)
            self.processes["worker"].wait()
            self.start_worker()
        self.require_service()

    def test_a_directory_that_others_enter_is_refused(self):
        self.processes["worker"].terminate()
        self.processes["worker"].wait()
        (self.directory / "work/.fairlead").chmod(0o755)
        self.spawn("worker", "spark-worker", "--host", HONEST, "--work-dir", self.directory / "work", self.url)
        self.assertEqual(self.processes["worker"].wait(timeout=30), 1)
        self.assertIn("nobody else may enter", self.log("worker"))


class Store(Standalone):
    """S1: /readyz says when nothing can be stored."""

    with_worker = False
    properties = {"spark.deploy.recoveryMode": "FILESYSTEM", "spark.deploy.recoveryDirectory": "DIRECTORY/state"}

    def setUp(self):
        self.switch = pathlib.Path(tempfile.mkstemp()[1])
        self.addCleanup(self.switch.unlink)
        self.switch.write_bytes(b"\0")
        super().setUp()

    def start_master(self):
        (self.directory / "state").mkdir(exist_ok=True)
        self.environment = {"LD_PRELOAD": str(BUILD / "tests/libfailing_disk.so"), "FAIRLEAD_TEST_DISK": str(self.directory / "state"), "FAIRLEAD_TEST_DISK_FAILS": str(self.switch)}
        super().start_master()

    def turn(self, state):
        """In place: the daemon has the file in its memory, where a moment without its byte would end it."""
        with open(self.switch, "r+b") as switch:
            switch.write(state)

    def ready(self):
        return ask_web(self.web, "/readyz")

    def test_it_is_not_ready_while_it_can_store_nothing(self):
        self.assertEqual(self.ready()[0], 200)
        for cause in (lambda: self.peer(self.master).say(worker("w", 99)), lambda: None):  # something is to be stored, or nothing
            self.turn(b"\1")
            cause()
            status, body = until(lambda: self.ready() if self.ready()[0] == 503 else None, "503")
            self.assertIn(b"nothing can be stored", body)
            self.assertIn("cannot be stored", " ".join(self.page(path="/fairlead/notices")))
            self.turn(b"\0")
            until(lambda: self.ready()[0] == 200, "200")
        self.assertEqual(ask_web(self.web, "/healthz")[0], 200)


class Logs(Standalone):
    """W1: what executors have written is unpacked aside of the Worker's loop."""

    def test_many_ask_for_large_compressed_logs(self):
        folder = self.directory / "work/app-1/0"
        folder.mkdir(parents=True)
        packed = gzip.compress(b"\0" * (50 << 20), 1)
        for number in range(40):
            (folder / f"stdout--2026-11-27--{number:02}.gz").write_bytes(packed)
        (folder / "stdout").write_text("now\n")
        answers = []

        def read(query):
            answers.append(ask_web(self.worker_web, f"/log/?appId=app-1&executorId=0&logType=stdout{query}")[0])

        with self.harmless("worker"):
            for query in ("", "&offset=0&byteLength=1048576", "&offset=60000000&byteLength=1048576"):
                readers = [threading.Thread(target=read, args=(query,)) for _ in range(30)]
                for reader in readers:
                    reader.start()
                for reader in readers:
                    reader.join()
        self.assertEqual(answers.count(200) + answers.count(503), 90, answers)
        self.assertGreater(answers.count(200), 20)
        self.assertTrue(ask_web(self.worker_web, "/log/?appId=app-1&executorId=0&logType=stdout&byteLength=4")[1].endswith(b"now\n"))


class Flood(Standalone):
    """Strangers' connections from eight addresses at every port, while applications register from a ninth."""

    strangers, samples = 400, 30

    def setUp(self):
        self.rest = free_ports(1)[0]
        self.properties = {"spark.master.rest.enabled": "true", "spark.master.rest.port": self.rest}
        super().setUp()

    def seconds_of_registration(self):
        begin = time.monotonic()
        peer = Peer(self.master, HONEST)
        peer.say(registration(application()))
        self.assertIsNotNone(peer.read_message("RegisteredApplication"))
        peer.close()
        return time.monotonic() - begin

    def test_an_honest_application_is_undisturbed(self):
        web = [*WEB_KINDS.values()][:3]
        spark = [SPARK_KINDS["silent"], SPARK_KINDS["half a frame"], ask(check_existence("Worker"), "endpoint-verifier")]
        ports = [address for pid in (self.pid(), self.pid("worker"), self.supervisor()) for address in listening(pid)]
        self.assertEqual(len(ports), 6)  # messages, page and REST of the Master; messages and page of the Worker; its supervisor
        with self.harmless(), self.harmless("worker"):
            flood.require_undisturbed(self, [(one, web if one[1] in (self.web, self.rest, self.worker_web) else spark) for one in ports], self.strangers, self.samples,
                                self.seconds_of_registration)
        self.require_service()


if __name__ == "__main__":
    flood.by_command(Flood, "test_an_honest_application_is_undisturbed")
    unittest.main(verbosity=2)
