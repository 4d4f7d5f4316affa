#!/usr/bin/env python3
"""Messages of strangers, each small and standing for much, against the real daemons: chains of references, one text a hundred thousand times,
classes of thousands of fields, classes that are not what their name says, graphs that nobody reads, RPC calls of nothing but empty elements.
Each is answered or refused soon and costs little memory; honest peers are served. Some 20 seconds."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import sys
import tempfile
import threading
import time
import unittest

import shuffle_peer
import spark_home
from costs import HEALTH_S, MEMORY_KIB, Dearest, forget_peak, healthy, memory_kib, processor_ms
from java_stream import (DEPLOY, MESSAGES, Array, Object, Text, application, ask, boxed, check_existence, command, driver, endpoint,
                         mapping, message, nothing, one_way, profile, registration, seq, worker)
from strangers_test import Daemons, until
from strangers_test import ask as ask_web

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
import rpc  # noqa: E402
from peers import free_ports  # noqa: E402

PATIENCE_S = 60  # until a message is answered; the daemon must not be silent for HEALTH_S anyway
LOCAL = "127.0.0.1"


def frames(peer):
    """Type and content of each frame that comes, until the daemon closes."""
    data = b""
    while True:
        while len(data) >= 8 and len(data) >= (length := struct.unpack(">q", data[:8])[0]):
            yield data[8:length]
            data = data[length:]
        try:
            part = peer.recv(65536)
        except ConnectionError:
            return
        if not part:
            return
        data += part


def await_answer(peer):
    """Until something that was asked is answered, or the connection is closed."""
    for frame in frames(peer):
        if frame[0] == 4:
            return


# ---- the attacks: what stands in a description, and whole messages -----------------------------------------------------------------------


def chain(length, kind="X", field="n"):
    """Objects, each with the one before by reference: an array of them, and the last."""
    links, last = [], None
    for _ in range(length):
        last = Object(kind, {field: last})
        links.append(last)
    return Array(links), last


def shared_text(size, count):
    return [Text(b"A" * size)] * count


def strange_class(name, count=2000):
    """An object of a class that the daemons write, by its name and number, with other fields."""
    return Object(name, {f"f{i}": ("J", 0x7FFFFFFF) for i in range(count)})


def unread(count):
    return Array([Object("Small", {"n": i}) for i in range(count)])


def submission(description):
    return message("RequestSubmitDriver", driverDescription=description)


def chains():
    """A1: longer than a message may be, and as long as one may be."""
    for length in (48_000, 18_000):
        links, last = chain(length)
        yield registration(application(zz=last), stash=links)
        yield message("RequestSubmitDriver", stash=links, driverDescription=driver(zz=last))
        somes, some = chain(length, "scala.Some", "value")
        yield registration(application(maxCores=some), stash=somes)
        yield registration(application(eventLogCodec=some), stash=somes)
        yield registration(application(command=command(arguments=some)), stash=somes)


def expansions():
    """A2."""
    yield message("KillExecutors", appId="app", executorIds=seq(*shared_text(500_000, 90_000)))
    gpus = Object("org.apache.spark.resource.ResourceInformation", {"name": "gpu", "addresses": Array(shared_text(400_000, 2000), "[Ljava.lang.String;")})
    yield worker(resources=mapping(("gpu", gpus)))
    yield submission(driver(command=command(arguments=seq(*shared_text(60_000, 100_000)))))
    yield registration(application(command=command(environment=mapping(*[(t, t) for t in shared_text(900, 60_000)]))))
    yield message("WorkerLatestState", id="worker-1", executors=seq(), driverIds=seq(*shared_text(1000, 150_000)))
    # With fewer elements than a message may have.
    yield message("KillExecutors", appId="app", executorIds=seq(*shared_text(1000, 50_000)))
    yield worker(resources=mapping(*[(f"gpu{i}", Object("org.apache.spark.resource.ResourceInformation", {
        "name": "gpu", "addresses": Array(shared_text(1000, 1000), "[Ljava.lang.String;")})) for i in range(4)]))
    yield submission(driver(command=command(arguments=seq(*shared_text(60_000, 50_000)))))
    yield registration(application(command=command(environment=mapping(*[(t, t) for t in shared_text(900, 20_000)]))))


def searches():
    """A3."""
    one = profile(wide=65_000)
    yield message("RequestExecutors", appId="app", resourceProfileToTotalExecs=mapping(*[(one, boxed(1))] * 20_000))
    one = profile(wide=250)
    yield message("RequestExecutors", appId="app", resourceProfileToTotalExecs=mapping(*[(one, boxed(1))] * 20_000))
    request = Object("org.apache.spark.resource.ExecutorResourceRequest", {"amount": ("J", 1), "resourceName": "gpu"}, wide=200)
    many = mapping(*[("gpu", request)] * 3000)
    yield message("RequestExecutors", appId="app", resourceProfileToTotalExecs=mapping(*[(profile(many, number=i), boxed(1)) for i in range(3000)]))
    few = [mapping(*[("gpu", request)] * 60)]
    yield message("RequestExecutors", appId="app", resourceProfileToTotalExecs=mapping(*[(profile(few[0], number=i, wide=200), boxed(1)) for i in range(3000)]))
    tower = Object("scala.Tuple2", {"_1": "a", "_2": "b"}, wide=250)
    proxy = Object("scala.collection.generic.DefaultSerializationProxy", {"factory": None}, written=[tower] * 40_000)
    yield registration(application(command=command(environment=proxy)))
    executor = Object(DEPLOY + "ExecutorDescription", {"execId": 1, "rpId": 0, "cores": 1, "memoryMb": 1, "appId": "a", "state": Object("scala.Enumeration$Val", {"i": 1})}, wide=240)
    for count in (100_000, 50_000):
        yield message("WorkerLatestState", id="worker-1", executors=seq(*[executor] * count), driverIds=seq())


def strange_classes():
    """A4."""
    yield registration(application(zz=strange_class(MESSAGES + "LaunchExecutor")))
    yield registration(application(zz=strange_class(MESSAGES + "LaunchExecutor", 250)))
    yield registration(application(zz=strange_class(MESSAGES + "LaunchExecutor", 200), command=strange_class(DEPLOY + "Command", 200)))
    yield registration(application(maxCores=strange_class("scala.Some", 250)))
    yield submission(driver(zz=strange_class(MESSAGES + "LaunchDriver", 250), command=command(arguments=strange_class("scala.runtime.ModuleSerializationProxy", 100))))


def connects(port):
    socket.create_connection((LOCAL, port), timeout=HEALTH_S).close()
    return True


def to_worker():
    """The same at a Worker, whose orders hold descriptions."""
    links, last = chain(48_000)
    yield message("LaunchExecutor", stash=links, masterUrl="spark://x:1", appId="app", execId=1, rpId=0, appDesc=application(zz=last), cores=1, memory=64, resources=mapping())
    yield message("LaunchDriver", driverId="driver-1", driverDesc=driver(command=command(javaOpts=seq(*shared_text(60_000, 100_000)))), resources=mapping())
    yield message("LaunchDriver", driverId="driver-1", driverDesc=strange_class(DEPLOY + "DriverDescription", 200), resources=mapping())
    yield message("RegisterWorkerFailed", message=Text(b"A" * 900_000))


class Costs(unittest.TestCase):
    """What one message costs a daemon."""

    def exchange(self, port, value, to):
        """Sends it, and then asks whether there is such an endpoint: until that is answered, or the connection is closed."""
        with socket.create_connection((LOCAL, port), timeout=PATIENCE_S) as peer:
            with contextlib.suppress(ConnectionError):
                peer.sendall(one_way(value, to) + ask(check_existence(to), "endpoint-verifier"))
                await_answer(peer)

    def costs_little(self, pid, web, port, messages, to="Master"):
        dearest = Dearest(self)
        with healthy(self, web):
            for number, value in enumerate(messages):
                with dearest.message(self, pid, f"message {number}"):
                    self.exchange(port, value, to)
                self.exchange(port, message("Heartbeat", workerId="worker-0", worker=endpoint("Worker")), to)
                self.assertTrue(pathlib.Path(f"/proc/{pid}").exists(), f"message {number} ended the daemon")

    def honest_is_served(self, port, to="Master"):
        with socket.create_connection((LOCAL, port), timeout=HEALTH_S) as peer:
            peer.sendall(ask(check_existence(to), "endpoint-verifier", 7))
            frame = next(frames(peer))
        self.assertEqual(frame[:9], struct.pack(">Bq", 4, 7), "an RpcResponse to request 7")


def listening(pid):
    """The ports of a process on loopback."""
    inodes = set()
    for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            inodes.add(os.readlink(fd))
    lines = [line.split() for line in pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    return [int(line[1].split(":")[1], 16) for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in inodes]


class Standalone(Costs, Daemons):
    """A Master that stores, a Worker and its supervisor."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-spark-messages-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.processes = {}
        self.addCleanup(self.stop)
        self.home = spark_home.make(self.directory)
        self.port, self.web, self.worker_port, self.worker_web = free_ports(4)
        self.start_master()

    def start_master(self):
        file = self.directory / "spark.conf"
        file.write_text(f"spark.deploy.recoveryMode FILESYSTEM\nspark.deploy.recoveryDirectory {self.directory}/state\nspark.master.rest.enabled false\n")
        self.spawn("master", "spark-master", "--spark-home", self.home, "--host", LOCAL, "--port", self.port, "--webui-port", self.web,
                   "--properties-file", file)
        self.await_port(self.web)

    def attack(self, messages):
        self.costs_little(self.processes["master"].pid, self.web, self.port, messages)
        self.honest_is_served(self.port)

    def test_chains_of_references_are_no_recursion_now_or_after_a_restart(self):
        self.attack(chains())
        self.processes["master"].kill()
        self.processes["master"].wait()
        self.start_master()
        self.honest_is_served(self.port)

    def test_a_text_counts_each_time(self):
        self.attack(expansions())

    def test_fields_are_not_searched_for_without_end(self):
        self.attack(searches())

    def test_a_class_is_not_what_its_name_says(self):
        with socket.create_connection((LOCAL, self.port), timeout=HEALTH_S) as honest:
            honest.sendall(one_way(worker()))
            told = frames(honest)
            self.assertIn(b"RegisteredWorker", next(told))
            self.attack(strange_classes())
            honest.settimeout(0.2)
            with contextlib.suppress(TimeoutError):
                for frame in told:
                    self.assertNotIn(b"f199", frame, "a stranger's field is sent on")

    def test_numbers_that_no_machine_has_are_refused(self):
        def memory(amount):
            return profile(mapping(("memory", Object("org.apache.spark.resource.ExecutorResourceRequest",
                                                     {"amount": ("J", amount), "resourceName": "memory", "discoveryScript": "", "vendor": ""}))))
        kinds = mapping(*((f"kind{i}", Object("org.apache.spark.resource.ExecutorResourceRequest",
                                              {"amount": ("J", 1), "resourceName": f"kind{i}", "discoveryScript": "", "vendor": ""})) for i in range(65)))
        for words in (worker("w1", cores=1 << 21), worker("w2", cores=0), worker("w3", port=70_000), worker("w4", memory=0),
                      registration(application(name="a1", defaultProfile=memory(1 << 41))), registration(application(name="a2", defaultProfile=memory(-1))),
                      registration(application(name="a3", defaultProfile=profile(kinds))), worker("w0", cores=1 << 20), registration(application(name="a0"))):
            peer = socket.create_connection((LOCAL, self.port), timeout=PATIENCE_S)  # what registers stays as long as this
            self.addCleanup(peer.close)
            with contextlib.suppress(ConnectionError):
                peer.sendall(one_way(words) + ask(check_existence("Master"), "endpoint-verifier"))
                await_answer(peer)

        def shown():
            page = json.loads(ask_web(self.web, "/json/")[1])
            return [one["id"] for one in page["workers"]], [one["name"] for one in page["activeapps"]]
        until(lambda: "w0" in shown()[0] and "a0" in shown()[1], "those that are possible")
        self.assertEqual(shown(), (["w0"], ["a0"]))

    def test_what_nobody_reads_is_not_kept(self):
        pid = self.processes["master"].pid
        self.exchange(self.port, registration(), "Master")
        before = memory_kib(pid, "VmRSS")
        peers = []
        with healthy(self, self.web):
            for extra, count in (("zz", 40_000), ("eventLogCodec", 18_000), ("zz", 18_000)) * 10:
                peer = socket.create_connection((LOCAL, self.port), timeout=HEALTH_S)
                self.addCleanup(peer.close)
                peer.sendall(one_way(registration(application(**{extra: unread(count)}))) + ask(check_existence("Master"), "endpoint-verifier"))
                await_answer(peer)
                peers.append(peer)
        self.assertLessEqual(memory_kib(pid, "VmRSS") - before, MEMORY_KIB, "KiB kept of 30 registrations")
        self.honest_is_served(self.port)

    def test_worker_and_its_supervisor(self):
        self.spawn("worker", "spark-worker", f"spark://{LOCAL}:{self.port}", "--spark-home", self.home, "--host", LOCAL, "--port", self.worker_port,
                   "--webui-port", self.worker_web, "--work-dir", self.directory / "work", "--cores", 1, "--memory", "64m")
        self.await_port(self.worker_web)
        until(lambda: connects(self.worker_port), "the Worker's port, which opens after its page's")
        pid = self.processes["worker"].pid
        self.costs_little(pid, self.worker_web, self.worker_port, [*to_worker(), *expansions()], "Worker")
        self.honest_is_served(self.worker_port, "Worker")
        others = [int(path.name) for path in pathlib.Path("/proc").glob("[0-9]*") if self.is_supervisor_of(path, pid)]
        ports = [(one, port) for one in others for port in listening(one)]
        self.assertTrue(ports, "the supervisor listens")
        for one, port in ports:
            self.costs_little(one, self.worker_web, port, [*chains(), *expansions()], "WorkerWatcher")

    @staticmethod
    def is_supervisor_of(path, worker_pid):
        try:
            words = (path / "cmdline").read_bytes().split(b"\0")
            return int(path.name) != worker_pid and words[0].endswith(b"fairlead") and b"spark-worker" in b" ".join(words) and \
                f"PPid:\t{worker_pid}" in (path / "status").read_text()
        except OSError:
            return False


def shuffle_text(word):
    return struct.pack(">i", len(word)) + word


def shuffle_list(words):
    return struct.pack(">i", len(words)) + b"".join(shuffle_text(word) for word in words)


def to_shuffle_service():
    """Bodies of requests, by the number of their class: lists as long as none is, or as a very large job's, and texts that nobody has."""
    app, one = shuffle_text(b"app-1"), shuffle_text(b"1")
    yield "100,000 directories", b"\x02" + app + one + shuffle_list([b"/d"] * 100_000) + struct.pack(">i", 64) + shuffle_text(b"sort")
    yield "10,000 directories", b"\x02" + app + one + shuffle_list([b"/"] * 10_000) + struct.pack(">i", 64) + shuffle_text(b"sort")
    for name, words in (("shuffle blocks", [b"shuffle_12_%d_3" % i for i in range(200_000)]), ("half of them", [b"shuffle_12_%d_3" % i for i in range(100_000)]),
                        ("blocks of RDDs", [b"rdd_%d_%d" % (i, i % 100) for i in range(100_000)]), ("no ids", [b""] * 1_200_000), ("no UTF-8", [b"\xff" * 300] * 17_000)):
        yield "OpenBlocks, " + name, b"\x00" + app + one + shuffle_list(words)
        yield "RemoveBlocks, " + name, b"\x07" + app + one + shuffle_list(words)
    fetch = app + one + struct.pack(">i", 1)
    yield "FetchShuffleBlocks", b"\x09" + fetch + struct.pack(">i", 320_000) + struct.pack(">q", 7) * 320_000 + struct.pack(">i", 320_000) + struct.pack(">ii", 1, 3) * 320_000 + b"\x00"
    yield "FetchShuffleBlocks, maps alone", b"\x09" + fetch + struct.pack(">i", 650_000) + struct.pack(">q", 7) * 650_000 + struct.pack(">i", 0) + b"\x00"
    yield "FetchShuffleBlocks, empty lists", b"\x09" + fetch + struct.pack(">ii", 0, 1_200_000) + struct.pack(">i", 0) * 1_200_000 + b"\x00"
    yield "FetchShuffleBlockChunks", b"\x0f" + fetch + struct.pack(">ii", 1, 780_000) + struct.pack(">i", 7) * 780_000 + struct.pack(">i", 0)
    yield "GetLocalDirsForExecutors", b"\x0a" + app + shuffle_list([b"%d" % i for i in range(28_000)])
    yield "a long name", b"\x00" + shuffle_text(b"A" * (4 << 20)) + one + shuffle_list([b"rdd_1_1"])
    yield "a long id", b"\x00" + app + one + shuffle_list([b"rdd_1_" + b"1" * (4 << 20)])


class ShuffleService(Costs, Daemons):
    """Requests at a shuffle service, each beside an honest client of the same thread."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-shuffle-messages-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.processes = {}
        self.addCleanup(self.stop)
        (self.directory / "roots").mkdir()
        self.port, self.web = free_ports(2)
        self.spawn("shuffle", "shuffle", "--port", self.port, "--web-port", self.web, "--local-roots", self.directory / "roots", "--io-threads", 1)
        self.await_port(self.web)
        self.honest = socket.create_connection((LOCAL, self.port), timeout=PATIENCE_S)
        self.addCleanup(self.honest.close)
        shuffle_peer.register(self.honest, 1, self.directory / "roots")
        shuffle_peer.await_answer(self.honest, 1)

    @staticmethod
    def request(body, number=2):
        return struct.pack(">qbqi", 21 + len(body), 3, number, len(body)) + body

    def seconds_of_honest(self):
        begin = time.monotonic()
        self.honest.sendall(self.request(b"\x0a" + shuffle_text(b"app-1") + shuffle_list([b"1"]), 9))
        self.assertEqual(next(frames(self.honest))[:9], struct.pack(">bq", 4, 9))
        return time.monotonic() - begin

    def costs_little(self, name, words):
        """Until it is answered, or the connection is closed."""
        pid = self.processes["shuffle"].pid
        forget_peak(pid)
        before, over, longest, answer = memory_kib(pid, "VmRSS"), threading.Event(), [0], b""
        began = processor_ms(pid)

        def watch():
            while not over.is_set():
                longest[0] = max(longest[0], self.seconds_of_honest())
                over.wait(0.01)

        watcher = threading.Thread(target=watch)
        watcher.start()
        with socket.create_connection((LOCAL, self.port), timeout=PATIENCE_S) as peer:
            with contextlib.suppress(ConnectionError):
                peer.sendall(words)
                answer = peer.recv(65536)
        over.set()
        watcher.join()
        more = memory_kib(pid, "VmHWM") - before
        took = processor_ms(pid) - began
        print(f"{name}: {len(words) >> 10} KiB, {more} KiB more, {took:.0f} ms of a processor, honest waits {1000 * longest[0]:.0f} ms; {answer[21:200]}", file=sys.stderr)
        self.assertLessEqual(more, MEMORY_KIB, f"KiB more after {name}")
        self.assertLess(longest[0], HEALTH_S, name)

    def test_long_lists_and_texts(self):
        for name, body in to_shuffle_service():
            with self.subTest(name):
                self.costs_little(name, self.request(body))
        # Thirty MiB of frames that never end; the first is answered by its first bytes.
        self.costs_little("200 MiB", struct.pack(">qbqi", 200 << 20, 3, 2, 200 << 20) + b"\x00" * (30 << 20))
        self.costs_little("a stream's name", struct.pack(">qb", 200 << 20, 6) + b"\x00" * (30 << 20))
        self.seconds_of_honest()


class Yarn(Costs, Daemons):
    """A resource manager, and the door of Spark's drivers to it."""

    def setUp(self):
        super().setUp()
        text = (self.conf / "yarn-site.xml").read_text()
        self.client, self.scheduler, self.tracker = (int(re.search(rf"{re.escape(key)}</name>\s*<value>[^:]*:(\d+)", text).group(1)) for key in (
            "yarn.resourcemanager.address", "yarn.resourcemanager.scheduler.address", "yarn.resourcemanager.resource-tracker.address"))

    def test_the_door(self):
        home = spark_home.make(self.directory)
        port, web = free_ports(2)
        self.spawn("door", "spark-master", "--hadoop-conf", self.conf, "--spark-home", home, "--host", LOCAL, "--port", port)
        self.await_listening(port)
        pid = self.processes["door"].pid
        self.costs_little(pid, self.rm, port, [*chains(), *expansions(), *searches(), *strange_classes()])
        self.honest_is_served(port)

    def await_listening(self, port):
        for _ in range(500):
            with contextlib.suppress(OSError):
                return socket.create_connection((LOCAL, port), timeout=1).close()
            time.sleep(0.02)
        self.fail(f"port {port}")

    def test_calls_of_empty_elements(self):
        """R1, by other methods, sizes and ports; the connection lives on."""
        tracker = "org.apache.hadoop.yarn.server.api.ResourceTrackerPB"
        calls = [(self.client, "getApplications", rpc.CLIENT_PROTOCOL, b"\x0a\x00", 31 << 20),  # states, texts, ...
                 (self.client, "getApplications", rpc.CLIENT_PROTOCOL, b"\x0a\x00", 1000 << 10),
                 (self.client, "submitApplication", rpc.CLIENT_PROTOCOL, b"\x0a\x00", 31 << 20),
                 (self.tracker, "nodeHeartbeat", tracker, b"\x0a\x00", 31 << 20),
                 (self.tracker, "registerNodeManager", tracker, b"\x3a\x00", 4000 << 10),
                 (self.client, "getContainers", rpc.CLIENT_PROTOCOL, b"\x12\x00", 20 << 20)]
        pid, dearest = self.processes["rm"].pid, Dearest(self)
        with healthy(self, self.rm):
            for port, method, protocol, element, size in calls:
                with self.subTest(method=method, size=size):
                    data = rpc.preamble() + rpc.context(protocol=protocol)
                    data += rpc.call(method, element * (size // 2), protocol, call_id=1) + rpc.call("noSuchMethod", b"", protocol, call_id=2)
                    # A message that is kept stands there twice while its buffer grows; a longer one is not kept.
                    most = MEMORY_KIB + (2 * size >> 10 if size <= 4 << 20 else 0)
                    with dearest.message(self, pid, f"{method} of {size >> 20} MiB", most):
                        received, closed = rpc.talk((LOCAL, port), data, seconds=3.0 if size > 1 << 20 else 1.0)
                    answers = rpc.answers(received)
                    self.assertEqual(sorted(answer.split()[:2] for answer in answers), [["1", "ERROR"], ["2", "ERROR"]], (answers, closed))
                    if size > 4 << 20:
                        self.assertIn("it may have", answers[0])

    def test_a_master_without_a_token_is_refused_before_its_call_is_read(self):
        pid = self.processes["rm"].pid
        before = memory_kib(pid, "VmRSS")
        with healthy(self, self.rm):
            data = rpc.preamble() + rpc.context() + rpc.call("allocate", b"\x0a\x00" * (10 << 20), "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB", call_id=1)
            rpc.talk((LOCAL, self.scheduler), data, seconds=1.0)
        self.assertLessEqual(memory_kib(pid, "VmHWM") - before, MEMORY_KIB, "KiB more")


if __name__ == "__main__":
    unittest.main()
