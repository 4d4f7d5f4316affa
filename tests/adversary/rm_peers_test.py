#!/usr/bin/env python3
"""What strangers send to the resource manager and leave in its ZooKeeper: texts without end, nodes that lie open, planted ones."""
import contextlib
import hashlib
import hmac
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/interop"), str(ROOT / "tests/process")]
import cluster as lab  # noqa: E402
import ha_cluster  # noqa: E402
import peers  # noqa: E402
import process_test  # noqa: E402
import raw_master  # noqa: E402
import registry  # noqa: E402
import rpc  # noqa: E402
import zookeeper_peer  # noqa: E402
from costs import Dearest, healthy, processor_ms

peers.BINARY = process_test.BUILD / "fairlead"
CALLS = rpc.preamble() + rpc.context()
MIB = 1 << 20


def app_id_of(text):
    _, stamp, number = text.split("_")
    return rpc.field(1, int(number)) + rpc.field(2, int(stamp))


class Test(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-rm-peers-"))
        self.directory.chmod(0o755)
        self.cluster = self.make_cluster()
        self.addCleanup(self.clean_up)

    def clean_up(self):
        self.cluster.stop()
        shutil.rmtree(self.directory, ignore_errors=True)


class Texts(Test):
    """R2: one submission slows no later ones, whatever stands in it."""

    def make_cluster(self):
        return lab.Cluster(self.directory, registry.Spec(nodes=()))

    def setUp(self):
        super().setUp()
        self.cluster.write()
        self.cluster.start_rm()
        self.cluster.wait(self.answers, "the resource manager")

    def answers(self):
        with contextlib.suppress(OSError):
            return bool(self.cluster.get("/ws/v1/cluster/info"))
        return False

    def ask(self, method, body):
        """The answer as text."""
        received, _ = rpc.talk(("127.0.0.1", self.cluster.client), CALLS + rpc.call(method, body), seconds=0.3)
        return rpc.answers(received)[0]

    def submit(self, context=b"", launch=b"", name="n"):
        """By RPC, with fields of its context and its launch context besides; (the exception's class or None, the request)."""
        app = app_id_of(self.cluster.new_application())
        body = rpc.field(1, rpc.field(1, app) + rpc.field(2, name) + rpc.field(3, "root.alpha") + context + rpc.field(5, launch) + rpc.field(9, rpc.field(1, 128) + rpc.field(2, 1)))
        began = time.monotonic()
        refused, _ = rpc.ask(("127.0.0.1", self.cluster.client), CALLS + rpc.call("submitApplication", body), 30)
        self.assertLess(time.monotonic() - began, 5)
        return refused, body

    def seconds_of_others(self):
        began = time.monotonic()
        for _ in range(20):
            self.assertEqual(self.submit()[0], None)
        return time.monotonic() - began

    def test_texts_beyond_their_fields_bounds_are_refused_by_name(self):
        alone, dearest, pid = self.seconds_of_others(), Dearest(self), self.cluster.processes["rm"].pid
        entry = rpc.field(1, "k") + rpc.field(2, "v" * (2 * MIB))
        cases = {
            "application_name: 2097152 bytes, at most 1024": {"name": "n" * (2 * MIB)},
            "queue: 2097152 bytes, at most 1024": {"context": rpc.field(3, "q" * (2 * MIB))},
            "node_label_expression: 1025 bytes, at most 1024": {"context": rpc.field(16, "l" * 1025)},
            "tokens of the launch context: 2097152 bytes": {"launch": rpc.field(2, b"t" * (2 * MIB))},
            "environment of the launch context": {"launch": rpc.field(4, entry)},
            "command of the launch context": {"launch": b"".join(rpc.field(5, "c" * 1000) for _ in range(1000))},
        }
        for sentence, parts in cases.items():
            with self.subTest(sentence):
                with dearest.message(self, pid, sentence):
                    refused, body = self.submit(**parts)
                self.assertEqual(refused, "org.apache.hadoop.yarn.exceptions.YarnException")
                self.assertIn(sentence, self.ask("submitApplication", body))
        # A call that is too long for its method is not even kept.
        for parts in ({"name": "n" * (20 * MIB)}, {"launch": b"".join(rpc.field(1, rpc.field(1, "r" * 1000)) for _ in range(6000))}):
            with dearest.message(self, pid, "too long for its method"):
                refused, body = self.submit(**parts)
            self.assertEqual(refused, "java.io.IOException")
            self.assertIn(f"it may have {4 * MIB}", self.ask("submitApplication", body))
        self.assertLess(self.seconds_of_others(), 2 * alone + 1)
        metrics = urllib.request.urlopen(f"http://127.0.0.1:{self.cluster.web}/metrics", timeout=10).read().decode()
        self.assertGreaterEqual(int(re.search(r"^fairlead_rm_requests_too_long_total (\d+)", metrics, re.M)[1]), len(cases))
        kind = "a submission or heartbeat of Hadoop's RPC"
        self.assertGreaterEqual(int(re.search(rf'^fairlead_rm_rpc_too_long_total{{kind="{kind}"}} (\d+)', metrics, re.M)[1]), 2)

    def test_rest_has_the_same_bounds(self):
        alone = self.seconds_of_others()
        for field, value in (("application-name", "n" * MIB), ("queue", "q" * 2000), ("application-type", "t" * 2000)):
            body = {"application-id": self.cluster.new_application(), "am-container-spec": {"commands": {"command": "true"}}, field: value}
            with self.assertRaises(urllib.error.HTTPError) as refused:
                self.cluster.send("POST", "/ws/v1/cluster/apps", body)
            text = refused.exception.read().decode()
            self.assertEqual(refused.exception.code, 400)
            self.assertRegex(text, f"{len(value)} bytes, at most 1024 are allowed")
            self.assertLess(len(text), 2000)
        self.assertLess(self.seconds_of_others(), 2 * alone + 1)

    def test_large_submissions_within_the_bounds_slow_no_others(self):
        alone = self.seconds_of_others()
        for _ in range(8):
            self.assertEqual(self.submit(launch=b"".join(rpc.field(1, rpc.field(1, "r" * 1000)) for _ in range(3900)))[0], None)
        self.assertLess(self.seconds_of_others(), 2 * alone + 1)
        self.cluster.restart("rm")
        self.assertEqual(len(self.cluster.apps()), 48)

    def test_a_submission_of_many_small_files_costs_little(self):
        """As large as one may be: refused for the memory that its lists would take, or taken, stored and remembered."""
        dearest = Dearest(self)
        refusal = "org.apache.hadoop.thirdparty.protobuf.InvalidProtocolBufferException"
        for count, size, answer, most in ((40_000, 60, refusal, 16 << 10), (160_000, 0, refusal, 16 << 10), (1_000, 4_080, None, 19 << 10), (3_900, 960, None, 19 << 10), (12_000, 60, None, 16 << 10)):
            with self.subTest(files=count):
                self.cluster.restart("rm")  # memory that an earlier case has left behind is none of this one's
                url = rpc.field(1, "hdfs") + rpc.field(4, "/" + "f" * size)
                file = rpc.field(1, "k" * 8) + (rpc.field(2, rpc.field(1, url) + rpc.field(2, 1) + rpc.field(3, 1) + rpc.field(4, 1) + rpc.field(5, 1)) if size else b"")
                with dearest.message(self, self.cluster.processes["rm"].pid, f"{count} files of {size} bytes", most):
                    self.assertEqual(self.submit(launch=rpc.field(1, file) * count)[0], answer)

    def test_names_of_callers(self):
        received, closed = rpc.talk(("127.0.0.1", self.cluster.client), rpc.preamble() + rpc.context(user="u" * 2000) + rpc.call("getNewApplication"), seconds=3)
        self.assertTrue(closed)
        self.assertIn("the user's name: 2000 bytes, at most 1024 are allowed", rpc.answers(received)[0])


class Alone(Test):
    """A resource manager without nodes."""

    def setUp(self):
        super().setUp()
        self.cluster.write()
        self.cluster.start_rm()
        self.cluster.wait(self.answers, "the resource manager")

    answers = Texts.answers


class Queues(Alone):
    """Applications that make thousands of queues, at the depth that the profile allows: their number has a bound, and what tells of all stops nobody."""

    MADE = '<allocations><queue name="alpha"/><queuePlacementPolicy><rule name="specified" create="true"/><rule name="default"/></queuePlacementPolicy></allocations>\n'
    profile, below, applications = "fairlead", 28, 500

    def make_cluster(self):
        return lab.Cluster(self.directory, registry.Spec(nodes=(), allocations=self.MADE, yarn_site=(("fairlead.scheduler.profile", self.profile),)))

    def submit(self, queue):
        app = app_id_of(self.cluster.new_application())
        body = rpc.field(1, rpc.field(1, app) + rpc.field(3, queue) + rpc.field(5, b"") + rpc.field(7, 1) + rpc.field(9, rpc.field(1, 128) + rpc.field(2, 1)))
        self.assertIsNone(rpc.ask(("127.0.0.1", self.cluster.client), CALLS + rpc.call("submitApplication", body))[0])

    def test_they_have_a_number_and_cost_little(self):
        pid = self.cluster.processes["rm"].pid
        self.submit("root.deep" + ".a" * 400)
        for number in range(self.applications):
            self.submit(f"root.q{number}" + ".a" * self.below)
        before = processor_ms(pid)
        with healthy(self, self.cluster.web):
            _, info = rpc.ask(("127.0.0.1", self.cluster.client), CALLS + rpc.call("getQueueInfo", rpc.field(1, "root") + rpc.field(3, 1) + rpc.field(4, 1)), 60)
        # Nobody comes meanwhile: the answer alone is more than a port's connections may hold, so that a reader that pauses would lose it.
        tree = self.cluster.get("/ws/v1/cluster/scheduler")["scheduler"]["schedulerInfo"]["rootQueue"]
        jmx = self.cluster.get("/jmx")["beans"]
        took = processor_ms(pid) - before
        self.assertGreater(len(info), 1 << 20)
        self.assertGreater(len(tree["childQueues"]["queue"]), 90)
        queues = sum("QueueMetrics" in bean["name"] and ",user=" not in bean["name"] for bean in jmx)
        self.assertTrue(9_900 < queues < 10_200, f"{queues} queues")
        self.assertLess(took, 4000, "ms of all threads")  # 1200 on a machine that has nothing else to do
        told = {app["diagnostics"].split(": ")[-1] for app in self.cluster.get("/ws/v1/cluster/apps?states=FAILED")["apps"]["app"]}
        self.assertRegex(" ".join(told), "there are 10000 queues, and for this one another had to be made")
        self.assertRegex(" ".join(told), "levels")


class QueuesOfFairScheduler(Queues):
    profile, below, applications = "yarn-fair", 95, 200


class ChangedQueues(Alone):
    """Changes of a thousand queues by REST, as yarn.acl.enable=false lets everybody make."""

    def make_cluster(self):
        return lab.Cluster(self.directory, registry.Spec(nodes=(), capacity=(("root.queues", "a"), ("root.a.capacity", "100"), ("root.a.state", "STOPPED")),
                                                         yarn_site=(("yarn.scheduler.configuration.store.class", "memory"),)))

    def change(self, **what):
        pid = self.cluster.processes["rm"].pid
        before = processor_ms(pid)
        with healthy(self, self.cluster.web):
            with contextlib.suppress(urllib.error.HTTPError, ValueError):  # the answer is a sentence
                self.cluster.send("PUT", "/ws/v1/cluster/scheduler-conf", what)
        self.assertLess(processor_ms(pid) - before, 2000, "ms")  # 400 on a machine that has nothing else to do

    def test_thousands_are_added_and_removed(self):
        for parent in ("root", "root.a"):
            queues = [{"queue-name": f"{parent}.q{number}", "params": {"entry": [{"key": "capacity", "value": "0"}]}} for number in range(3000)]
            self.change(**{"add-queue": queues})
        self.change(**{"add-queue": [{"queue-name": f"root.a.q{number}"} for number in range(6000)], "remove-queue": ["root.none"]})
        self.change(**{"remove-queue": [f"root.q{number}" for number in range(6000)]})


class OpenNodes(Test):
    """Z1: `hadoop.zk.auth` is set, and nodes in ZooKeeper are open."""
    IDENTITY = "fairlead:secret"

    def make_cluster(self):
        return ha_cluster.HaCluster(self.directory, registry.Spec(nodes=("fairlead",)), auth=None)

    def setUp(self):
        super().setUp()
        self.cluster.zookeeper.start()
        self.cluster.write()

    def peer(self, identity=None):
        peer = zookeeper_peer.Peer(("127.0.0.1", self.cluster.zookeeper.port), identity)
        self.addCleanup(peer.close)
        return peer

    def start(self, identity, *managers):
        for rm in managers or ("rm1", "rm2"):
            self.cluster.start_manager(rm, *(["--set", f"hadoop.zk.auth=digest:{identity}"] if identity else []))
        return self.cluster.await_active()

    def log(self, rm):
        return (self.directory / f"{rm}.log").read_text()

    def keys(self, peer):
        """The stored keys, by name."""
        found = {}
        for name in peer.children("/fairlead/test/rows"):
            table, key = name.split(",")[:2]
            if table == "rm%2fkey":
                found[key] = peer.get(f"/fairlead/test/rows/{name}")
        return found

    def refuses(self, stranger, path):
        try:
            stranger.get(path)
        except zookeeper_peer.Refused as refused:
            return refused.code in (zookeeper_peer.NO_AUTH, zookeeper_peer.NO_NODE)
        return False

    def assert_closed(self):
        stranger, owner = self.peer(), self.peer(self.IDENTITY)
        # A killed manager's own node says only who takes part, and ends with its session: seconds later.
        for rm in ("rm1", "rm2"):
            self.cluster.wait(lambda: self.refuses(stranger, f"/fairlead/test/members/{rm}"), f"the end of {rm}'s former life")
        for path in owner.tree("/fairlead/test"):
            self.assertTrue(self.refuses(stranger, path), path)
        with self.assertRaises(zookeeper_peer.Refused):
            stranger.set("/fairlead/test/epoch", b"mine")
        with self.assertRaises(zookeeper_peer.Refused):
            stranger.create("/fairlead/test/rows/rm%2fapp,planted,1", b"v")

    def unmanaged(self):
        """An application's id and its AMRM token."""
        app = self.cluster.new_application()
        self.cluster.send("POST", "/ws/v1/cluster/apps", {
            "application-id": app, "application-name": "unmanaged", "unmanaged-AM": True, "queue": "root.alpha", "resource": {"memory": 128, "vCores": 1},
            "am-container-spec": {"commands": {"command": "true"}}})
        return app, self.token_of(app)

    def token_of(self, app):
        leader = self.cluster.active()

        def token():
            _, report = rpc.ask(self.cluster.address(leader, "client"), CALLS + rpc.call("getApplicationReport", rpc.field(1, app_id_of(app))))
            return rpc.fields(rpc.fields(report)[1]).get(19)  # am_rm_token
        self.cluster.wait(token, "the application's token")
        return token()

    def forged(self, stolen, like, app):
        """A token for the first attempt of `app`, signed with the key that signed `like`."""
        identifier = rpc.field(1, rpc.field(1, app_id_of(app)) + rpc.field(2, 1)) + rpc.field(2, rpc.fields(rpc.fields(like)[1])[2])
        fields = rpc.fields(like)
        return b"".join((rpc.field(1, identifier), rpc.field(2, hmac.new(stolen, identifier, hashlib.sha1).digest()), rpc.field(3, fields[3]), rpc.field(4, fields.get(4, b""))))

    def master(self, token):
        return raw_master.Master(self.cluster.address(self.cluster.active(), "scheduler"), token)

    def stolen_keys(self, node):
        """The bytes of a stored kind's keys, the newest last (MasterKeys in base/stored.h's form)."""
        found, at = [], 2  # "v", the format
        _, at = rpc.read_varint(node, at)
        while not found or (len(found) == 1 and node[at] == 1):
            at += 1 if found else 0
            _, at = rpc.read_varint(node, at)
            _, at = rpc.read_varint(node, at)
            size, at = rpc.read_varint(node, at)
            found.append(node[at:at + size])
            at += size
        return found

    def test_nodes_that_were_made_before(self):
        self.start(None)
        self.cluster.start_nm(1)
        self.cluster.wait_for_nodes(1)
        kept = self.cluster.submit_sleeper()
        self.cluster.wait(lambda: self.cluster.has_container(kept), "a container")
        app, token = self.unmanaged()
        master = self.master(token)
        self.assertIsNone(master.register()[0])
        before = self.keys(self.peer())
        stolen = self.stolen_keys(before["amrm"])[-1]
        for number in (1, 2):  # identifier and password
            self.assertEqual(rpc.fields(self.forged(stolen, token, app))[number], rpc.fields(token)[number], "the stranger can sign")
        for rm in ("rm1", "rm2"):
            self.cluster.kill(rm)
        self.start(self.IDENTITY)
        self.cluster.wait_for_nodes(1)
        self.assertTrue(any("lay open to everybody who reaches it" in self.log(rm) for rm in ("rm1", "rm2")))
        self.assert_closed()
        after = self.keys(self.peer(self.IDENTITY))
        for name in ("nm", "container", "page"):
            self.assertNotIn(self.stolen_keys(before[name])[-1], self.stolen_keys(after[name]), name)
        self.assertEqual(self.stolen_keys(after["amrm"])[0], stolen)
        self.assertNotEqual(self.stolen_keys(after["amrm"])[-1], stolen)
        # What ran runs on, and its master is given a token of the new key with its next heartbeat.
        self.cluster.wait(lambda: self.cluster.has_container(kept), "the container from before")
        master = self.master(token)
        self.assertIsNone(master.register()[0])
        refused, answer = master.allocate([])
        self.assertIsNone(refused)
        fresh = rpc.fields(answer).get(12)  # am_rm_token
        self.assertTrue(fresh)
        self.assertIsNone(self.master(fresh).allocate([])[0])
        # What the stranger signs for others is refused.
        other, _ = self.unmanaged()
        with self.assertRaises((AssertionError, OSError, KeyError)):
            self.master(self.forged(stolen, token, other))

    def plant(self, path, data=b"", rights=zookeeper_peer.OPEN):
        self.peer().create(path, data, rights)

    def plant_root(self):
        self.plant("/fairlead")
        self.plant("/fairlead/test", b"fairlead state 1")

    def test_planted_nodes(self):
        """A stranger was there first: with a root, and with a leader that is none."""
        self.plant_root()
        self.plant("/fairlead/test/epoch", b"mine")
        self.plant("/fairlead/test/leader", b"nobody")
        leader = self.start(self.IDENTITY)
        self.assert_closed()
        self.assertIn("is nobody's of this identity, and is removed", self.log("rm1") + self.log("rm2"))
        self.assertEqual(self.cluster.active(), leader)

    def plant_rows(self, names, value):
        """How many ZooKeeper has taken: it refuses some names itself."""
        stranger, taken = self.peer(), 0
        for name in names:
            with contextlib.suppress(zookeeper_peer.Refused):
                stranger.create(f"/fairlead/test/rows/{name}", value, zookeeper_peer.OPEN)
                taken += 1
        return taken

    @contextlib.contextmanager
    def churn(self):
        """Rows of a stranger's that come and go all the time."""
        over, stranger = threading.Event(), self.peer()

        def run():
            while not over.is_set():
                for i in range(20):
                    stranger.create(f"/fairlead/test/rows/rm%2fapp,churn{i},1", b"vjunk", zookeeper_peer.OPEN)
                for i in range(20):
                    stranger.delete(f"/fairlead/test/rows/rm%2fapp,churn{i},1")
        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def assert_left_out(self, leader, count, first):
        """The rows of strangers are told wherever an operator looks, and work goes on."""
        cluster = self.cluster.get("/fairlead/v1/cluster")
        self.assertEqual((cluster["unread_rows"], cluster["unread_first"]), (count, first))
        metrics = urllib.request.urlopen(f"{self.cluster.url(leader)}/metrics", timeout=10).read().decode()
        self.assertIn(f"\nfairlead_rm_store_rows_unread {count}\n", metrics)
        status = subprocess.run([peers.BINARY, "status", "--hadoop-conf", self.cluster.conf], capture_output=True, text=True, timeout=30)
        self.assertIn(f"{count} rows of its state left out, as it cannot be read or is not its own ({first})", status.stdout, status.stderr)
        log = self.log(leader)
        self.assertIn(f"no resource manager has written {count} rows of ZooKeeper /fairlead/test, {first} for one", log)
        self.assertNotIn("\x1b", log)
        self.assertLess(len(log), 64 << 10)

    def test_rows_that_are_none(self):
        """Thousands, some as large as a node may be, with names that are paths or that terminals obey, before the managers were and beside their rows."""
        self.plant_root()
        self.plant("/fairlead/test/rows")
        count = self.plant_rows([f"rm%2fapp,{i},1" for i in range(2000)] + ["..%2f..%2fetc", "\x1b]0;owned", "rm%2fkey,amrm", ",", "\u202eowned"], b"\xff" * 200)
        count += self.plant_rows([f"rm%2fkey,{kind},{version}" for kind in ("nm", "amrm") for version in (1, 2, 7)], b"\x01" + b"A" * (900 << 10))
        leader = self.start(None)
        self.assert_left_out(leader, count, ",")
        self.cluster.start_nm(1)
        self.cluster.wait_for_nodes(1)
        kept = self.cluster.submit_sleeper()
        self.cluster.wait(lambda: self.cluster.has_container(kept), "a container")
        # Those in the way of later rows are removed, a thousand at a time; others stay where they are, and are none of ours later either.
        self.assertIn("..%2f..%2fetc", self.peer().children("/fairlead/test/rows"))
        self.plant_rows([f"rm%2fapp,application_1_{i},1" for i in range(2000)] + ["rm%2fkey,late,0", "rm%2flabels,,1"], b"vjunk")
        self.plant_rows([f"rm%2fapp,large{i},1" for i in range(40)], b"v" + b"A" * (900 << 10))
        with self.churn():
            took = time.monotonic()
            self.cluster.kill(leader)
            leader = self.cluster.await_active(other_than=leader)
            self.assertLess(time.monotonic() - took, 15)
        self.cluster.wait_for_nodes(1)
        self.assert_left_out(leader, self.cluster.get("/fairlead/v1/cluster")["unread_rows"], ",")
        self.assertGreaterEqual(self.cluster.get("/fairlead/v1/cluster")["unread_rows"], 2042)
        self.cluster.wait(lambda: self.cluster.has_container(kept), "the container from before")
        self.assertEqual([app["id"] for app in self.cluster.apps()], [kept])

    def test_a_row_of_ours_that_is_gone_is_missed_beside_strangers(self):
        self.start(None)
        self.cluster.submit_sleeper()
        self.plant_rows([f"rm%2fapp,application_1_{i},1" for i in range(50)], b"vjunk")
        for rm in ("rm1", "rm2"):
            self.cluster.kill(rm)
        (row,) = [name for name in self.peer().children("/fairlead/test/rows") if name.startswith("rm%2fkey,amrm,")]
        self.peer().delete(f"/fairlead/test/rows/{row}")
        self.cluster.start_manager("rm1")
        self.assertEqual(self.cluster.processes.pop("rm1").wait(timeout=30), 1)
        self.assertRegex(self.log("rm1"), r"the state in ZooKeeper is damaged: /fairlead/test/rows has \d+ rows that agree .*Restore it from a backup, or remove /fairlead/test")

    def test_one_node_that_is_open(self):
        leader = self.start(self.IDENTITY)
        self.cluster.submit_sleeper()
        owner = self.peer(self.IDENTITY)
        before = self.keys(owner)
        for rm in ("rm1", "rm2"):
            self.cluster.kill(rm)
        (row,) = [name for name in owner.children("/fairlead/test/rows") if name.startswith("rm%2fkey,amrm,")]
        owner.set_rights(f"/fairlead/test/rows/{row}", zookeeper_peer.OPEN)
        self.assertEqual(self.peer().get(f"/fairlead/test/rows/{row}")[1:], before["amrm"][1:])
        leader = self.start(self.IDENTITY)
        self.assert_closed()
        owner = self.peer(self.IDENTITY)  # the other's session may be over
        self.assertNotEqual(self.stolen_keys(self.keys(owner)["amrm"])[-1], self.stolen_keys(before["amrm"])[-1])
        self.assertEqual(len(self.cluster.get("/ws/v1/cluster/apps")["apps"]["app"]), 1)
        # Not again: what is closed stays closed, and keys roll when it is their time.
        now = self.keys(owner)
        self.cluster.kill(leader)
        self.cluster.await_active()
        self.assertEqual(self.keys(self.peer(self.IDENTITY)), now)

    def test_nodes_of_a_strangers_identity(self):
        self.plant_root()
        stranger = self.peer("stranger:s")
        stranger.set_rights("/fairlead/test", [(31, "auth", "")])
        self.cluster.start_manager("rm1", "--set", f"hadoop.zk.auth=digest:{self.IDENTITY}")
        self.assertEqual(self.cluster.processes.pop("rm1").wait(timeout=30), 1)
        self.assertIn("its ACL is for another identity", self.log("rm1"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
