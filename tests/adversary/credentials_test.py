#!/usr/bin/env python3
"""What strangers show at the doors of a manager that believes no name (fairlead.auth=credentials): credentials that are forged, cut, too long, of another kind,
replayed and revoked. What other machines see is in tests/process/credentials_test.py."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/interop"), str(ROOT / "tests/process"), str(ROOT / "tests/adversary")]
import peers  # noqa: E402
import process_test  # noqa: E402
import raw_master  # noqa: E402
import rpc  # noqa: E402
from strangers_test import ask, until  # noqa: E402

FAIRLEAD = process_test.BUILD / "fairlead"
PORTS = ("", ".scheduler", ".resource-tracker", ".admin", ".webapp")
TRACKER = "org.apache.hadoop.yarn.server.api.ResourceTrackerPB"


class Peer(raw_master.TokenConnection):
    """A connection of this machine."""

    def __init__(self, port):
        super().__init__(("127.0.0.1", port), 20)

    def words(self, identifier, secret):
        return super().words(identifier.encode(), secret.encode())

    def call(self, method, protocol, call_id):
        self.peer.sendall(rpc.call(method, b"", protocol, call_id))
        return self.answer()[0]


class Doors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-doors-"))
        cls.addClassCleanup(shutil.rmtree, cls.work, ignore_errors=True)
        cls.ports = dict(zip(PORTS, peers.free_ports(len(PORTS))))
        settings = {f"yarn.resourcemanager{name}.address": f"127.0.0.1:{port}" for name, port in cls.ports.items()} | {"fairlead.auth": "credentials"}
        cls.conf = cls.work / "rm.yaml"
        cls.conf.write_text("hadoop:\n" + "".join(f"  {key}: \"{value}\"\n" for key, value in settings.items()))
        log = open(cls.work / "rm.log", "wb")
        cls.addClassCleanup(log.close)
        cls.rm = subprocess.Popen([FAIRLEAD, "rm", "--config", cls.conf, "--set", f"fairlead.rm.state-dir={cls.work}/state"], stdout=log, stderr=log)
        cls.addClassCleanup(cls.rm.wait, 30)
        cls.addClassCleanup(cls.rm.terminate)
        cls.web = cls.ports[".webapp"]
        until(lambda: ask(cls.web, "/readyz")[0] == 200, "the resource manager")
        cls.client, cls.other, cls.node = cls.make("client", "laptop"), cls.make("client", "other"), cls.make("node", "n1")

    @classmethod
    def run_fairlead(cls, *words):
        return subprocess.run([FAIRLEAD, *words, "--config", cls.conf], capture_output=True, text=True, timeout=60, cwd=cls.work)

    @classmethod
    def make(cls, kind, name):
        """Identifier and secret."""
        file = cls.work / f"{name}.credential"
        made = cls.run_fairlead("credentials", "make", f"--{kind}", name, "--out", file)
        assert made.returncode == 0, made.stderr
        [line] = [line for line in file.read_text().splitlines() if "fairlead.auth.credential:" in line]
        return tuple(line.split('"')[1].rsplit(".", 1))

    def refusals(self):
        [line] = [line for line in ask(self.web, "/metrics")[1].decode().splitlines() if line.startswith("fairlead_rm_web_logins_refused_total ")]
        return int(line.split()[1])

    def bad(self):
        """By what is wrong, identifier and secret."""
        identifier, secret = self.client
        flipped = secret[:-1] + ("0" if secret[-1] != "0" else "1")
        serial = int(identifier.rsplit(".", 1)[1])
        return {"cut": (identifier, secret[:-1]), "no secret": (identifier, ""), "forged": (identifier, flipped), "another's secret": (identifier, self.other[1]),
                "an earlier serial, the secret that none has": (f"fl1.laptop.{serial - 1}", ""), "a later serial": (f"fl1.laptop.{serial + 1}", secret),
                "no serial": ("fl1.laptop", secret), "a serial below zero": ("fl1.laptop.-1", secret), "a serial too long": (f"fl1.laptop.{'9' * 40}", secret),
                "no name": ("fl1..1", secret), "nobody": ("fl1.nobody.1", secret), "another mark": (identifier.replace("fl1", "fl2"), secret),
                "a name too long": ("fl1." + "a" * 30_000 + ".1", secret), "of a node": self.node}

    def test_pages(self):
        before = self.refusals()
        for what, (identifier, secret) in self.bad().items():
            text = f"{identifier}.{secret}"
            for said in (f"Bearer {text}", "Basic " + base64.b64encode(f"any:{text}".encode()).decode()):
                status, body = ask(self.web, "/ws/v1/cluster/info?user.name=root&doAs=root", headers={"Authorization": said})
                self.assertEqual(status, 401, what)
                self.assertIn(b"fairlead join FILE", body, what)
                self.assertNotIn(secret.encode() or b"fl1.", body, what)
        for said in ("Bearer ", "Basic ????", "Bearer " + "." * 30_000):
            self.assertEqual(ask(self.web, "/cluster", headers={"Authorization": said})[0], 401, said[:20])
        self.assertGreaterEqual(self.refusals() - before, 2 * len(self.bad()))
        for method, target in (("PUT", "/fairlead/v1/credentials/mine"), ("DELETE", "/fairlead/v1/credentials/laptop")):
            status, _ = ask(self.web, target, method, body='{"kind": "client", "user": "root"}', headers={"Authorization": "Bearer " + ".".join(self.client)})
            self.assertEqual(status, 403, "a client makes and ends none")
        self.assertEqual(ask(self.web, "/ws/v1/cluster/info", headers={"Authorization": "Bearer " + ".".join(self.client)})[0], 200)

    def test_what_a_request_to_make_one_says(self):
        def make(name, body):
            return ask(self.web, f"/fairlead/v1/credentials/{name}", "PUT", body=body)[0]
        for name, body in (("x", ""), ("x", "{"), ("x", "[" * 50_000), ("x", '{"kind": "king"}'), ("x", '{"kind": 5}'), ("x.y", '{"kind": "node"}'),
                           ("%00", '{"kind": "node"}'), ("a" * 65, '{"kind": "node"}'), ("x", json.dumps({"kind": "client", "user": "u" * 5000})),
                           ("laptop", '{"kind": "node"}')):
            self.assertEqual(make(name, body), 400, (name[:20], body[:20]))
        self.assertEqual({one["name"] for one in json.loads(ask(self.web, "/fairlead/v1/credentials")[1])["credentials"]} & {"x", "mine"}, set())

    def test_rpc(self):
        for what, (identifier, secret) in self.bad().items():
            with Peer(self.ports[""]) as peer:
                self.assertIsNotNone(peer.show(peer.words(identifier, secret)), what)
        with Peer(self.ports[".resource-tracker"]) as peer:
            self.assertIn("is a client's, and opens nothing else", peer.show(peer.words(*self.client)))
        with Peer(self.ports[".admin"]) as peer:
            self.assertIsNotNone(peer.show(peer.words("flm.rm1", "")), "no manager: this one runs alone")
        with Peer(self.ports[".scheduler"]) as peer:
            self.assertIsNotNone(peer.show(peer.words(*self.client)), "masters have their own")
        with Peer(self.ports[""]) as peer:
            overheard = peer.words(*self.client)
            self.assertIsNone(peer.show(overheard))
        with Peer(self.ports[""]) as peer:
            self.assertIsNotNone(peer.show(overheard), "replayed: the nonce is another")
        self.assertEqual(self.run_fairlead("apps").returncode, 0, "others are served")

    def test_revoked_on_an_open_connection(self):
        identifier, secret = self.make("client", "lost")
        with Peer(self.ports[""]) as peer:
            self.assertIsNone(peer.show(peer.words(identifier, secret)))
            peer.peer.sendall(rpc.context(None))
            self.assertEqual(peer.call("getClusterMetrics", rpc.CLIENT_PROTOCOL, 1).get(2, 0), 0)
            self.assertEqual(self.run_fairlead("credentials", "revoke", "lost").returncode, 0)
            refused = peer.call("getClusterMetrics", rpc.CLIENT_PROTOCOL, 2)
            self.assertIn("the credential is not known here, or was revoked", refused[5].decode())
            with self.assertRaises(ConnectionError):
                peer.answer()
        again = self.make("client", "lost")
        self.assertNotEqual(again, (identifier, secret))
        self.assertEqual(ask(self.web, "/cluster", headers={"Authorization": f"Bearer {identifier}.{secret}"})[0], 401, "nor by the next of that name")

    def test_a_node_is_asked_before_it_is_heard(self):
        """Whoever shows no credential at the port of nodes, from this machine and as another user, learns nothing."""
        if os.geteuid() != 0:
            self.skipTest("only root runs another user's process")
        code = f"import sys; sys.path.insert(0, {str(ROOT / 'tests/interop')!r}); import rpc; " \
               f"print(rpc.ask(('127.0.0.1', {self.ports['.resource-tracker']}), rpc.preamble() + rpc.context('root', {TRACKER!r}) + rpc.call('registerNodeManager', b'', {TRACKER!r}))[0])"
        answer = subprocess.run(["runuser", "-u", "nobody", "--", "/usr/bin/python3", "-c", code], capture_output=True, text=True, timeout=60, cwd="/")
        self.assertIn("AuthorizationException", answer.stdout, answer.stderr)

    def test_secrets_reach_no_log_and_no_list(self):
        listed = self.run_fairlead("credentials", "list").stdout + ask(self.web, "/fairlead/v1/credentials")[1].decode()
        self.assertIn("laptop", listed)
        log = (self.work / "rm.log").read_text()
        journal = b"".join(path.read_bytes() for path in (self.work / "state").rglob("*journal*") if path.is_file())
        for _, secret in (self.client, self.node):
            self.assertNotIn(secret, log)
            self.assertNotIn(secret, listed)
            self.assertNotIn(secret.encode(), journal)

    def test_a_node_under_the_name_of_another(self):
        """Who has one node's credential neither is another node, nor beats or leaves in its name."""
        def host(name):
            return rpc.field(1, name) + rpc.field(2, 4711)

        def registered(name):
            return rpc.field(1, host(name)) + rpc.field(3, 8042) + rpc.field(4, rpc.field(1, 1024) + rpc.field(2, 1))

        def said(peer, method, body, number):
            peer.peer.sendall(rpc.call(method, body, TRACKER, number))
            header, _ = peer.answer()
            return header.get(5, b"").decode() if header.get(2, 0) else ""

        def refused():
            [line] = [line for line in ask(self.web, "/metrics")[1].decode().splitlines() if line.startswith("fairlead_rm_node_hosts_refused_total ")]
            return int(line.split()[1])

        own, thief = self.make("node", "honest"), self.make("node", "thief")
        before = refused()
        with Peer(self.ports[".resource-tracker"]) as honest, Peer(self.ports[".resource-tracker"]) as other:
            for peer, words in ((honest, own), (other, thief)):
                self.assertIsNone(peer.show(peer.words(*words)))
                peer.peer.sendall(rpc.context(None, TRACKER))
            self.assertEqual(said(honest, "registerNodeManager", registered("one.example"), 1), "")
            self.assertIn("the node one.example has the credential 'honest', and not 'thief'", said(other, "registerNodeManager", registered("one.example"), 1))
            self.assertEqual(said(other, "registerNodeManager", registered("two.example"), 2), "")
            beat = rpc.field(1, rpc.field(1, host("one.example")) + rpc.field(2, 0) + rpc.field(4, rpc.field(1, 1)))
            for number, (method, body) in enumerate((("registerNodeManager", registered("one.example")), ("nodeHeartbeat", beat),
                                                     ("unRegisterNodeManager", rpc.field(1, host("one.example"))), ("unRegisterNodeManager", b"")), 3):
                told = said(other, method, body, number)
                self.assertTrue("that of the node two.example, and this one says that it is one.example" in told or "says no host" in told, (method, told))
            self.assertEqual(said(honest, "nodeHeartbeat", beat, 2), "", "nothing was done in its name")
        self.assertEqual(refused() - before, 5)
        log = (self.work / "rm.log").read_text()
        self.assertIn("a call of a node is refused: the node one.example has the credential 'honest'", log)
        self.assertEqual(self.hosts()["thief"], "two.example")
        self.make("node", "thief")
        self.assertEqual(self.hosts()["thief"], "", "made anew it is free")

    def hosts(self):
        return {one["name"]: one["host"] for one in json.loads(ask(self.web, "/fairlead/v1/credentials")[1])["credentials"]}


if __name__ == "__main__":
    unittest.main()
