#!/usr/bin/env python3
"""A cluster with Kerberos of real processes: MIT's KDC, the resource manager, a node agent, the commands of users with and without a
ticket; strangers at its ports. Needs Debian's packages krb5-kdc, krb5-admin-server and krb5-user, and no JDK."""
import base64
import http.server
import itertools
import json
import os
import pathlib
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
import clock  # noqa: E402
import cluster as lab  # noqa: E402
import ha_cluster  # noqa: E402
import kdc  # noqa: E402
import peers  # noqa: E402
import registry  # noqa: E402
import rpc  # noqa: E402
import zookeeper  # noqa: E402

BUILD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build"))
peers.BINARY = BUILD / "fairlead"
NEGOTIATE, INITIATE, CHALLENGE, WRAP = 1, 2, 3, 5
FAILED_LOGINS = 1_000_000 if "--flood" in sys.argv else 2_000


class Secured:
    """A cluster of one node. `protection`: hadoop.rpc.protection."""

    def start(self, test, protection, further=(), **spec):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-kerberos-"))
        self.directory.chmod(0o755)
        test.addClassCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.cluster = lab.Cluster(self.directory / "cluster", registry.Spec(nodes=("fairlead",), kerberos=protection, history=False, yarn_site=further, **spec))
        self.cluster.directory.mkdir()
        test.addClassCleanup(self.cluster.stop)
        self.cluster.write()
        self.cluster.start_rm()
        self.cluster.start_nm(1)
        self.cluster.wait_for_nodes(1)
        return self

    def run(self, environment, *words, timeout=60):
        return subprocess.run([str(peers.BINARY), *map(str, words), "--hadoop-conf", str(self.cluster.conf)], env=environment, capture_output=True,
                              text=True, timeout=timeout)

    def log(self, name="rm"):
        return (self.cluster.directory / f"{name}.log").read_text()

    def submit(self, environment, name):
        out = self.cluster.directory / name
        text = self.cluster.directory / "text"
        text.write_text("one two two\n")
        return self.run(environment, "submit", "--json", "--driver-memory", "256", "--executors", "1", "--executor-memory", "256",
                        BUILD / "examples/word_count", text, out, timeout=120)


@unittest.skipIf(kdc.missing(), f"not installed: {kdc.missing()}")
class Protected(unittest.TestCase):
    """Every message is encrypted."""

    @classmethod
    def setUpClass(cls):
        cls.secured = Secured().start(cls, "privacy")
        cls.alice = cls.secured.cluster.kdc.cache("alice")

    def test_the_caller_is_who_has_the_ticket(self):
        listed = self.secured.run(self.alice, "apps", "--json")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertIn("Auth successful for alice@EXAMPLE.COM (auth:KERBEROS)", self.secured.log())
        self.assertIn("Auth successful for nm/localhost@EXAMPLE.COM (auth:KERBEROS)", self.secured.log())

    def test_without_a_ticket_the_error_says_kinit(self):
        refused = self.secured.run(self.secured.cluster.kdc.without_ticket("nobody"), "apps")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("kinit", refused.stderr)
        self.assertIn("No Kerberos credentials available", refused.stderr)

    def test_strangers_at_the_ports(self):
        cluster = self.secured.cluster
        offers = {cluster.client: "TOKEN, KERBEROS", cluster.tracker: "KERBEROS", cluster.admin: "KERBEROS"}
        for port, offered in offers.items():
            simple, closed = rpc.talk(("127.0.0.1", port), rpc.preamble() + rpc.context("root"))
            self.assertTrue(closed)
            self.assertIn(f"SIMPLE authentication is not enabled.  Available:[{offered}]".encode(), simple)
            garbage, closed = rpc.talk(("127.0.0.1", port), rpc.preamble(0xDF) + sasl(INITIATE, os.urandom(700), "rm", "localhost"))
            self.assertTrue(closed)
            self.assertIn(b"GSS initiate failed", garbage)
        masters, _ = rpc.talk(("127.0.0.1", cluster.scheduler), rpc.preamble() + rpc.context("root"))
        self.assertIn(b"Available:[TOKEN]", masters)
        self.assertIn("Auth failed for 127.0.0.1:", self.secured.log())

    def test_a_user_is_no_node(self):
        keytab = self.secured.cluster.kdc.keytab("alice")
        self.assertTrue(keytab.exists())
        # alice's ticket at the tracker's port: the same command, led there.
        refused = self.secured.run(self.alice, "apps", "--set", f"yarn.resourcemanager.address=127.0.0.1:{self.secured.cluster.tracker}")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("this service is only accessible by nm/_HOST@EXAMPLE.COM", refused.stderr)

    def test_pages_change_nothing(self):
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.secured.cluster.new_application()
        self.assertEqual(refused.exception.code, 403)
        self.assertIn(b"hadoop.http.authentication.type", refused.exception.read())

    def test_a_crowd_of_failed_logins_harms_nobody(self):
        """With --flood a million of them: memory and log have their bounds, each is told, and who has a ticket is served beside them."""
        cluster, begun, told = self.secured.cluster, itertools.count(), []
        attempt = rpc.preamble(0xDF) + sasl(INITIATE, os.urandom(100), "rm", "localhost")

        def attack():
            while next(begun) < FAILED_LOGINS:
                answer, closed = rpc.talk(("127.0.0.1", cluster.client), attempt, seconds=10)
                told.append(closed and b"GSS initiate failed" in answer)
        before, start, slowest = self.memory_kib(), time.monotonic(), 0
        crowd = [threading.Thread(target=attack) for _ in range(4)]
        for one in crowd:
            one.start()
        while any(one.is_alive() for one in crowd):
            began = time.monotonic()
            listed = self.secured.run(self.alice, "apps", "--json")
            self.assertEqual(listed.returncode, 0, listed.stderr)
            slowest = max(slowest, time.monotonic() - began)
        self.assertEqual((len(told), all(told)), (FAILED_LOGINS, True))
        took, kept, logged = time.monotonic() - start, self.memory_kib() - before, len(self.secured.log())
        print(f"{FAILED_LOGINS} failed logins in {took:.0f} s: {kept} KiB kept, {logged >> 10} KiB of log, a list beside them in {slowest:.2f} s at most")
        self.assertLess(slowest, 10)
        self.assertLess(kept, 16 << 10, "KiB kept")
        self.assertLess(logged, (8 << 20) + took * (128 << 10))

    def memory_kib(self):
        status = pathlib.Path(f"/proc/{self.secured.cluster.processes['rm'].pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    def test_hostile_frames_of_a_login(self):
        """Messages out of turn, cut ones, huge ones: an error or an end, and nobody else is kept waiting."""
        port = ("127.0.0.1", self.secured.cluster.client)
        out_of_turn = ((WRAP, b"Server is not wrapping data"), (CHALLENGE, b"Client sent unsupported state"))
        for state, text in out_of_turn:
            told, closed = rpc.talk(port, rpc.preamble(0xDF) + sasl(state, os.urandom(200), "rm", "localhost"))
            self.assertTrue(closed, state)
            self.assertIn(text, told)
        too_long, _ = rpc.talk(port, rpc.preamble(0xDF) + sasl(INITIATE, os.urandom(100_000), "rm", "localhost"))
        self.assertIn(b"GSS initiate failed", too_long)
        self.assertIn("true cause: (the token is too long)", self.secured.log())  # and the library has not seen it
        whole = sasl(INITIATE, os.urandom(700), "rm", "localhost")
        for size in (1, 5, 20, len(whole) - 1):
            with socket.create_connection(port, 10) as connection:
                connection.sendall(rpc.preamble(0xDF) + whole[:size])
        with socket.create_connection(port, 10) as connection:
            connection.settimeout(10)
            connection.sendall(rpc.preamble(0xDF) + (3 << 20).to_bytes(4, "big") + whole[4:])
            while connection.recv(4096):  # until it is closed
                pass
        listed = self.secured.run(self.alice, "apps", "--json")
        self.assertEqual(listed.returncode, 0, listed.stderr)


def passwords(credentials):
    """{kind: password} of the tokens in a file of them (Credentials.writeTokenStorageToStream)."""
    at, found = 6, {}

    def take():
        nonlocal at
        size = credentials[at]
        more = 0
        if size > 127:  # WritableUtils.writeVLong
            more = 256 - size - 112
            size = int.from_bytes(credentials[at + 1:at + 1 + more], "big")
        at += 1 + more
        at += size
        return credentials[at - size:at]
    for _ in range(credentials[5]):
        _alias, _identifier, password, kind, _service = (take() for _ in range(5))
        found[kind] = password
    return found


def holds(text, secret):
    """As bytes, in hexadecimal digits or in either base64."""
    whole = len(secret) // 3 * 3
    forms = (secret, secret.hex().encode(), secret.hex().upper().encode(), base64.b64encode(secret[:whole]), base64.urlsafe_b64encode(secret[:whole]))
    return any(form in text for form in forms)


def sasl(state, token, protocol, server):
    auth = rpc.field(1, "KERBEROS") + rpc.field(2, "GSSAPI") + rpc.field(3, protocol) + rpc.field(4, server)
    body = rpc.field(2, state) + rpc.field(3, token) + rpc.field(4, auth)
    return rpc.frame(rpc.delimited(rpc.request_header(rpc.SASL, client=b"")), rpc.delimited(body))


@unittest.skipIf(kdc.missing(), f"not installed: {kdc.missing()}")
class ShortTickets(unittest.TestCase):
    """Tickets that live for seconds."""

    def test_a_node_whose_ticket_has_ended_gets_another_by_its_keytab(self):
        secured = Secured().start(type(self), "privacy", ticket_life="6s")
        cluster = secured.cluster
        alice, asked = cluster.kdc.cache("alice"), cluster.kdc.asked("nm/localhost")
        self.assertGreater(asked, 0)
        cluster.wait(lambda: subprocess.run(["klist", "-s"], env=alice).returncode != 0, "the end of tickets of the start", 60)
        cluster.kill("rm")
        cluster.start_rm()
        cluster.wait_for_nodes(1)
        self.assertGreater(cluster.kdc.asked("nm/localhost"), asked)
        self.assertEqual(secured.log("nm1").count("logged in by its keytab"), 1, "it has run all the time")


@unittest.skipIf(kdc.missing(), f"not installed: {kdc.missing()}")
class Renewal(unittest.TestCase):
    """A node agent that was cut off logs in again by its keytab, to a manager that it knows by a pattern."""

    @classmethod
    def setUpClass(cls):
        cls.secured = Secured().start(cls, "authentication", (("yarn.resourcemanager.principal.pattern", "{rm,yarn}/*@EXAMPLE.COM"),))

    def test_a_node_comes_back_after_a_restart_of_the_manager(self):
        cluster = self.secured.cluster
        began = time.monotonic()
        cluster.kill("rm")
        cluster.start_rm()
        cluster.wait_for_nodes(1)
        self.assertLess(time.monotonic() - began, 60)
        self.assertEqual(self.secured.log("nm1").count("logged in by its keytab"), 1)

    def test_while_the_kdc_stands_still_others_are_served(self):
        cluster = self.secured.cluster
        alice = cluster.kdc.cache("alice")
        first = self.secured.run(alice, "apps", "--json")  # now the ticket for the manager is in the cache
        self.assertEqual(first.returncode, 0, first.stderr)
        os.kill(cluster.kdc.process.pid, 19)
        try:
            began = time.monotonic()
            listed = self.secured.run(alice, "apps", "--json")
            self.assertEqual(listed.returncode, 0, listed.stderr)
            self.assertLess(time.monotonic() - began, 5, "an acceptor needs no KDC")
            self.assertEqual(cluster.get("/ws/v1/cluster/metrics")["clusterMetrics"]["activeNodes"], 1)
        finally:
            os.kill(cluster.kdc.process.pid, 18)


class Tap:
    """A port that passes on to another, and keeps what the first caller sends."""

    def __init__(self, port):
        self.heard = b""
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.to = port
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        caller, _ = self.listener.accept()
        with caller, socket.create_connection(("127.0.0.1", self.to)) as server:
            while True:
                for ready in select.select([caller, server], [], [])[0]:
                    data = ready.recv(65536)
                    if not data:
                        return
                    self.heard += data if ready is caller else b""
                    (server if ready is caller else caller).sendall(data)

    def close(self):
        self.listener.close()


@unittest.skipIf(kdc.missing(), f"not installed: {kdc.missing()}")
class Circumstances(unittest.TestCase):
    """Several protections, a login that is heard, and keys and a clock that change while the manager runs."""

    @classmethod
    def setUpClass(cls):
        cls.clock = clock.Clock()
        cls.addClassCleanup(cls.clock.remove)
        cls.secured = Secured().start(cls, "authentication,privacy")
        cls.cluster = cls.secured.cluster
        cls.cluster.kill("rm")
        with cls.clock.given():  # the manager's alone
            cls.cluster.start_rm()
        cls.cluster.wait_for_nodes(1)
        cls.alice = cls.cluster.kdc.cache("alice")

    def apps(self, environment, *words):
        return self.secured.run(environment, "apps", "--json", *words)

    def test_the_caller_chooses_among_the_protections(self):
        for chosen in ("authentication", "privacy", "privacy,integrity", "integrity,authentication"):
            with self.subTest(chosen):
                listed = self.apps(self.alice, "--set", f"hadoop.rpc.protection={chosen}")
                self.assertEqual(listed.returncode, 0, listed.stderr)
        refused = self.apps(self.alice, "--set", "hadoop.rpc.protection=integrity")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("No common protection layer between client and server", refused.stderr)

    def test_a_login_that_was_heard_is_good_for_nothing(self):
        tap = Tap(self.cluster.client)
        self.addCleanup(tap.close)
        listed = self.apps(self.alice, "--set", f"yarn.resourcemanager.address=127.0.0.1:{tap.port}")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        told, closed = rpc.talk(("127.0.0.1", self.cluster.client), tap.heard)
        self.assertTrue(closed)
        self.assertIn(b"GSS initiate failed", told)
        self.assertIn("Request is a replay", self.secured.log())

    def test_a_new_key_counts_at_once_and_the_old_one_while_it_is_there(self):
        keys = self.cluster.kdc
        keytab = keys.keytab("rm/localhost")
        before = keys.cache("bob")
        self.assertEqual(self.apps(before).returncode, 0)  # with a ticket for the manager, by the old key
        kept = keytab.with_suffix(".kept")
        shutil.copy(keytab, kept)
        keys.run("kadmin.local", "-r", kdc.REALM, input=f"ktadd -k {kept} rm/localhost\n")
        os.replace(kept, keytab)
        listed = self.apps(before)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        listed = self.apps(keys.cache("alice"))
        self.assertEqual(listed.returncode, 0, listed.stderr)

    def test_a_clock_that_is_off_is_named_in_the_log(self):
        self.clock.set(600)
        self.addCleanup(self.clock.set, 0)
        refused = self.apps(self.alice)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("GSS initiate failed", refused.stderr)
        self.assertRegex(self.secured.log(), "Auth failed for .*(Clock skew too great|Ticket expired)")
        self.clock.set(2 * clock.HOUR)  # tickets live for one
        self.assertNotEqual(self.apps(self.alice).returncode, 0)
        self.assertRegex(self.secured.log(), "Auth failed for .*Ticket expired")
        self.clock.set(0)
        listed = self.apps(self.alice)
        self.assertEqual(listed.returncode, 0, listed.stderr)


@unittest.skipIf(kdc.missing(), f"not installed: {kdc.missing()}")
class Realms(unittest.TestCase):
    """Users of another realm, which this one trusts; tickets for servers elsewhere."""

    @classmethod
    def setUpClass(cls):
        rules = "RULE:[2:$1](rm|nm)s/.*/yarn/\nRULE:[1:$1@$0](carol@OTHER.COM)s/@.*//\nDEFAULT"
        cls.secured = Secured().start(cls, "privacy", further=(("hadoop.security.auth_to_local", rules),))
        ours = cls.ours = cls.secured.cluster.kdc
        cls.other = kdc.Kdc(cls.secured.directory / "other", ("alice", "carol"), realm="OTHER.COM")
        cls.addClassCleanup(cls.other.stop)
        for at in (ours, cls.other):
            at.run("kadmin.local", "-r", at.realm, input="addprinc -pw shared krbtgt/EXAMPLE.COM@OTHER.COM\n")
        ours.run("kadmin.local", "-r", kdc.REALM, input="addprinc -randkey rm/elsewhere\n")
        both = (cls.other.directory / "krb5.conf")
        both.write_text(both.read_text() + f"    EXAMPLE.COM = {{\n        kdc = 127.0.0.1:{ours.port}\n    }}\n[domain_realm]\n    localhost = EXAMPLE.COM\n")

    def apps(self, environment, *words):
        return self.secured.run(environment, "apps", "--json", *words)

    def test_rules_decide_who_of_another_realm_comes_in(self):
        listed = self.apps(self.other.cache("carol"))
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertIn("audit: Auth successful for carol@OTHER.COM (auth:KERBEROS)", self.secured.log())
        refused = self.apps(self.other.cache("alice"))  # a name that is somebody's here
        self.assertEqual(refused.returncode, 1)
        self.assertIn("No rules applied to alice@OTHER.COM", refused.stderr)
        self.assertRegex(self.secured.log(), "audit: Auth failed for .*No rules applied to alice@OTHER.COM")

    def test_a_pattern_says_what_a_manager_may_be_called(self):
        alice = self.ours.cache("alice")
        elsewhere = ("--set", "yarn.resourcemanager.principal=rm/elsewhere@EXAMPLE.COM")
        pattern = "yarn.resourcemanager.principal.pattern="
        for who in (alice, self.other.cache("carol")):  # whose own realm is another than the manager's
            listed = self.apps(who, *elsewhere, "--set", pattern + "{rm,yarn}/*@EXAMPLE.COM")
            self.assertEqual(listed.returncode, 0, listed.stderr)
        refused = self.apps(alice, "--set", pattern + "yarn/*")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("Server has invalid Kerberos principal: rm/localhost@EXAMPLE.COM, doesn't match the pattern: yarn/*", refused.stderr)
        refused = self.apps(alice, "--set", pattern + "{yarn/*")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("a { is not closed", refused.stderr)

    def test_a_ticket_for_another_hosts_manager_opens_nothing(self):
        alice = self.ours.cache("alice")
        refused = self.apps(alice, "--set", "yarn.resourcemanager.principal=rm/elsewhere@EXAMPLE.COM")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("GSS initiate failed", refused.stderr)
        refused = self.apps(alice, "--set", "yarn.resourcemanager.principal=rm/nowhere@EXAMPLE.COM")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("Server rm/nowhere@EXAMPLE.COM not found in Kerberos database", refused.stderr)
        self.assertEqual(self.apps(alice).returncode, 0)


@unittest.skipIf(kdc.missing(), f"not installed: {kdc.missing()}")
class Doors(unittest.TestCase):
    """Gateways, hadoop-policy.xml, and a web port that takes tickets."""

    @classmethod
    def setUpClass(cls):
        further = (("hadoop.proxyuser.livy.users", "alice,bob"), ("hadoop.proxyuser.livy.hosts", "127.0.0.1"), ("yarn.acl.enable", "true"), ("yarn.admin.acl", "yarn"),
                   ("dfs.namenode.kerberos.principal", "hdfs/_HOST@EXAMPLE.COM"))
        closed = '<allocations><queue name="root"><aclAdministerApps> </aclAdministerApps><queue name="alpha"/></queue></allocations>'
        cls.secured = Secured().start(cls, "authentication", further, web_login="kerberos", allocations=closed,
                                      policy=(("security.applicationclient.protocol.acl.blocked", "bob"),))
        cls.cluster = cls.secured.cluster
        cls.users = {user: cls.cluster.kdc.cache(user) for user in ("alice", "bob", "livy")}

    def acting(self, user, for_user):
        return self.secured.run({**self.users[user], "HADOOP_PROXY_USER": for_user}, "apps", "--json")

    def curl(self, user, path, *words, port=None):
        """Status, headers and body, of the manager's page or that of `port`."""
        environment = self.users.get(user) or self.cluster.kdc.without_ticket("nobody")
        done = subprocess.run(["curl", "-s", "-i", "--negotiate", "-u", ":", "-H", "Accept: application/json", *words,
                               f"http://localhost:{port or self.cluster.web}{path}"],
                              env=environment, capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        answers = done.stdout.split("HTTP/1.1 ")[1:]  # the first may be a 401 without an answer to it
        head, _, body = answers[-1].partition("\n\n")
        return int(head[:3]), head, body

    def test_a_gateway_acts_for_its_users(self):
        self.assertEqual(self.acting("livy", "alice").returncode, 0)
        refused = self.acting("livy", "root")
        self.assertIn("User: livy@EXAMPLE.COM is not allowed to impersonate root", refused.stderr)
        refused = self.acting("alice", "bob")
        self.assertIn("User: alice@EXAMPLE.COM is not allowed to impersonate bob", refused.stderr)

    def test_the_policy_counts_for_who_is_acted_for(self):
        refused = self.secured.run(self.users["bob"], "apps")
        self.assertIn("User bob@EXAMPLE.COM (auth:KERBEROS) is not authorized for protocol interface "
                      "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB: denied by configured ACL", refused.stderr)
        self.assertIn("User bob (auth:PROXY) via livy@EXAMPLE.COM (auth:KERBEROS) is not authorized", self.acting("livy", "bob").stderr)
        metrics = self.curl("alice", "/metrics")[2]
        self.assertRegex(metrics, r"(?m)^fairlead_rm_rpc_unauthorized_total [1-9]")

    def test_pages_take_tickets_and_the_cookie_that_they_give(self):
        status, head, body = self.curl("alice", "/ws/v1/cluster/userinfo")
        self.assertEqual((status, json.loads(body)["requestedUser"]), (200, "alice"))
        cookie = re.search(r'(?i)set-cookie: (hadoop.auth="[^"]+")', head)[1]
        self.assertIn("u=alice&p=alice@EXAMPLE.COM&t=kerberos-dt&e=", cookie)
        self.assertRegex(head, r"(?i)www-authenticate: Negotiate \S+")
        self.assertEqual(self.curl("nobody", "/ws/v1/cluster/userinfo", "-H", f"Cookie: {cookie}")[0], 200)
        self.assertEqual(self.curl("nobody", "/ws/v1/cluster/userinfo?user.name=alice")[0], 401)
        forged = cookie.replace("u=alice", "u=root")
        for bad in (forged, cookie[:cookie.index("&s=")] + '"', self.cluster.cookie("alice", lives=-1), self.cluster.cookie("alice", secret=b"guessed"),
                    self.cluster.cookie("alice", kind="simple")):
            status, head, _ = self.curl("nobody", "/ws/v1/cluster/userinfo", "-H", f"Cookie: {bad}")
            self.assertEqual(status, 401)
            self.assertRegex(head, "(?i)www-authenticate: Negotiate")
        self.assertEqual(self.curl("nobody", "/healthz")[0], 200)
        for path in ("/cluster", "/conf", "/jmx", "/metrics", "/proxy/application_1_0001/", "/nowhere"):
            self.assertEqual(self.curl("nobody", path)[0], 401, path)

    def test_pages_of_nodes_take_tickets_too(self):
        node = json.loads(self.curl("alice", "/ws/v1/cluster/nodes")[2])["nodes"]["node"][0]["nodeHTTPAddress"]
        port = node.rpartition(":")[2]
        for path in ("/ws/v1/node/info", "/conf", "/metrics", "/nowhere"):
            self.assertEqual(self.curl("nobody", path, port=port)[0], 401, path)
        status, head, _ = self.curl("alice", "/ws/v1/node/info", port=port)
        self.assertEqual(status, 200)
        cookie = re.search(r'(?i)set-cookie: (hadoop.auth="[^"]+")', head)[1]
        self.assertEqual(self.curl("nobody", "/ws/v1/node/info", "-H", f"Cookie: {cookie}", port=port)[0], 200)
        self.assertEqual(self.curl("nobody", "/ws/v1/node/info", "-H", "Cookie: " + cookie.replace("u=alice", "u=root"), port=port)[0], 401)

    def test_changes_are_the_callers_and_a_gateways(self):
        status, _, body = self.curl("livy", "/ws/v1/cluster/apps/new-application?doAs=alice", "-X", "POST")
        self.assertEqual(status, 200, body)
        application = json.loads(body)["application-id"]
        submission = {"application-id": application, "application-name": "sleeper", "queue": "root.alpha", "max-app-attempts": 1,
                      "am-container-spec": {"commands": {"command": "sleep 300"}}, "resource": {"memory": 256, "vCores": 1}}
        status, _, body = self.curl("livy", "/ws/v1/cluster/apps?doAs=alice", "-X", "POST", "-H", "Content-Type: application/json", "-d", json.dumps(submission))
        self.assertEqual(status, 202, body)
        told = f"audit: USER=alice\tIP=127.0.0.1\tOPERATION=%s\tTARGET=RMWebService\tRESULT=SUCCESS\tAPPID={application}%s\tREALUSER=livy\n"
        self.assertIn(told % ("Submit Application Request", "\tQUEUENAME=root.alpha"), self.secured.log())
        self.cluster.wait(lambda: application.replace("application", "container") in self.secured.log("nm1"), "the master's container")
        self.assertRegex(self.secured.log("nm1"), f"audit: USER=alice\tIP=127.0.0.1\tOPERATION=Start Container Request\tTARGET=ContainerManageImpl\tRESULT=SUCCESS\t"
                                                  f"APPID={application}\tCONTAINERID=container_")
        status, _, body = self.curl("alice", f"/ws/v1/cluster/apps/{application}")
        self.assertEqual((status, json.loads(body)["app"]["user"]), (200, "alice"))

        def kill(user, query=""):
            return self.curl(user, f"/ws/v1/cluster/apps/{application}/state{query}", "-X", "PUT", "-H", "Content-Type: application/json", "-d", '{"state":"KILLED"}')
        self.assertEqual(kill("bob")[0], 403)
        status, _, body = kill("alice", "?doAs=bob")
        self.assertEqual(status, 403)
        self.assertEqual(json.loads(body)["RemoteException"]["message"], "User: alice@EXAMPLE.COM is not allowed to impersonate bob")
        self.assertEqual(kill("livy", "?doAs=alice")[0], 202)
        self.assertIn(told % ("Kill Application Request", ""), self.secured.log())
        self.assertRegex(self.secured.log(), f"W rm audit: USER=bob\tIP=127.0.0.1\tOPERATION=Kill Application Request\tTARGET=RMWebService\tRESULT=FAILURE\t"
                                             f"DESCRIPTION=Unauthorized user\tPERMISSIONS=.*\tAPPID={application}\n")
        self.assertNotIn("is killed by", self.secured.log(), "told once")

    def test_delegation_tokens_by_rest(self):
        def post(user, path, *words):
            return self.curl(user, "/ws/v1/cluster/delegation-token" + path, *words)
        status, _, body = post("alice", "", "-X", "POST", "-H", "Content-Type: application/json", "-d", '{"renewer":"bob"}')
        self.assertEqual(status, 200, body)
        token = json.loads(body)
        self.assertEqual((token["owner"], token["renewer"], token["kind"]), ("alice@EXAMPLE.COM", "bob", "RM_DELEGATION_TOKEN"))
        header = ("-H", f"Hadoop-YARN-RM-Delegation-Token: {token['token']}")

        def use():
            return self.curl("nobody", f"/ws/v1/cluster/userinfo?delegation={token['token']}")
        status, _, body = use()
        self.assertEqual((status, json.loads(body)["requestedUser"]), (200, "alice"))
        status, _, body = post("nobody", "?delegation=" + token["token"], "-X", "POST", "-H", "Content-Type: application/json", "-d", '{"renewer":"bob"}')
        self.assertEqual(status, 403, "a token buys no token")
        status, _, body = post("bob", "/expiration", "-X", "POST", *header)
        self.assertEqual(status, 200, body)
        self.assertGreaterEqual(json.loads(body)["expiration-time"], token["expiration-time"])
        self.assertEqual(post("alice", "/expiration", "-X", "POST", *header)[0], 403, "she is not the renewer")
        self.assertEqual(post("livy", "", "-X", "DELETE", *header)[0], 403)
        self.assertEqual(post("alice", "", "-X", "DELETE", *header)[0], 200)
        self.assertEqual(use()[0], 403)
        self.assertNotIn(token["token"], self.secured.log())

    def test_an_applications_token_ends_with_it(self):
        """A delegation token of the manager's own that a submission brings: renewed as its renewer, and cancelled at the end; an application of which one cannot
        be renewed fails before it begins, and its other tokens stay."""
        def submit(token):
            application = json.loads(self.curl("alice", "/ws/v1/cluster/apps/new-application", "-X", "POST")[2])["application-id"]
            container = {"commands": {"command": "sleep 300"}, "credentials": {"tokens": {"entry": [{"key": "own", "value": token}]}}}
            status, _, body = self.curl("alice", "/ws/v1/cluster/apps", "-X", "POST", "-H", "Content-Type: application/json", "-d", json.dumps(
                {"application-id": application, "application-name": "sleeper", "queue": "root.alpha", "max-app-attempts": 1, "am-container-spec": container,
                 "resource": {"memory": 256, "vCores": 1}}))
            self.assertEqual(status, 202, body)
            return application

        def app(application):
            return json.loads(self.curl("alice", f"/ws/v1/cluster/apps/{application}")[2])["app"]

        def use(token):
            return self.curl("nobody", f"/ws/v1/cluster/userinfo?delegation={token}")[0]
        token, other = (json.loads(self.curl("alice", "/ws/v1/cluster/delegation-token", "-X", "POST", "-H", "Content-Type: application/json", "-d",
                                             '{"renewer":"bob"}')[2])["token"] for _ in range(2))
        application = submit(token)
        self.cluster.wait(lambda: app(application)["runningContainers"] == 1, "its container", 60)
        self.assertEqual(use(token), 200)
        self.curl("alice", f"/ws/v1/cluster/apps/{application}/state", "-X", "PUT", "-H", "Content-Type: application/json", "-d", '{"state":"KILLED"}')
        self.cluster.wait(lambda: use(token) == 403, "the token's end", 30)
        self.assertEqual(use(other), 200, "another one stays")
        kind = base64.urlsafe_b64decode(other + "=" * (-len(other) % 4)).replace(b"RM_DELEGATION_TOKEN", b"MR_DELEGATION_TOKEN")
        refused = app(submit(base64.urlsafe_b64encode(kind).decode().rstrip("=")))
        self.assertEqual((refused["state"], refused["finalStatus"]), ("FAILED", "FAILED"))
        self.assertIn("Failed to renew token: Kind: MR_DELEGATION_TOKEN", refused["diagnostics"])
        self.assertEqual(refused.get("amContainerLogs", ""), "", "it had no attempt")
        counted = self.curl("alice", "/metrics")[2]
        self.assertRegex(counted, r"(?m)^fairlead_rm_token_renewals_total [1-9]")
        self.assertRegex(counted, r"(?m)^fairlead_rm_token_renewals_failed_total [1-9]")

    def test_who_has_a_token_may_end_it_without_a_login(self):
        def put(query, *words):
            return self.curl("nobody", f"/ws/v1/cluster/apps/application_1_0001/state?{query}", "-X", "PUT", *words)
        _, _, body = self.curl("alice", "/ws/v1/?op=GETDELEGATIONTOKEN&renewer=bob")
        token = json.loads(body)["Token"]["urlString"]

        def use():
            return self.curl("nobody", f"/ws/v1/cluster/userinfo?delegation={token}")[0]
        self.assertEqual(use(), 200)
        bytes_ = bytearray(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        bytes_[1 + bytes_[0] + 1] ^= 1  # of the password
        forged = base64.urlsafe_b64encode(bytes_).decode().rstrip("=")
        for bad in (forged, "none", "A" * 30_000):
            self.assertEqual(put(f"op=CANCELDELEGATIONTOKEN&token={bad}")[0], 404, bad[:10])
        self.assertEqual(put("op=CANCELDELEGATIONTOKEN", "-d", '{"state":"KILLED"}')[0], 400, "nothing else happens without a login")
        self.assertEqual(put(f"op=RENEWDELEGATIONTOKEN&token={token}")[0], 401)
        self.assertEqual(put(f"op=canceldelegationtoken&token={token}", "-d", '{"state":"KILLED"}')[0], 401)
        self.assertEqual(use(), 200)
        self.assertEqual(put(f"op=CANCELDELEGATIONTOKEN&token={token}")[0], 200)
        self.assertEqual(use(), 403)

    def test_hostile_logins_at_pages(self):
        """A ticket that is shown twice, garbage, what is too long: nobody is let in, others are served, and nothing of it is in the log."""
        shown = subprocess.run(["curl", "-s", "-v", "--negotiate", "-u", ":", f"http://localhost:{self.cluster.web}/ws/v1/cluster/info"],
                               env=self.users["alice"], capture_output=True, text=True, timeout=30)
        ticket = re.search(r"> Authorization: (Negotiate \S+)", shown.stderr)[1]

        def ask(header):
            request = urllib.request.Request(f"http://127.0.0.1:{self.cluster.web}/ws/v1/cluster/info", headers={"Authorization": header})
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    return answer.status
            except urllib.error.HTTPError as error:
                return error.code
        self.assertEqual(ask(ticket), 403, "it was shown before")
        self.assertEqual(ask(ticket[:410]), 403, "cut")
        self.assertEqual(ask("Negotiate " + "A" * 40_000), 403)
        self.assertEqual(ask("Negotiate !"), 401)
        self.assertEqual(ask("Basic YWxpY2U6"), 401)
        self.assertEqual(ask("Negotiate " + "A" * 100_000), 431)
        self.assertEqual(self.curl("alice", "/ws/v1/cluster/info")[0], 200)
        self.assertNotIn(ticket.split()[1][:40], self.secured.log())
        self.assertRegex(self.curl("alice", "/metrics")[2], r"(?m)^fairlead_rm_web_logins_refused_total [1-9]")

    def test_while_the_kdc_stands_still_who_has_a_ticket_reads_pages(self):
        self.assertEqual(self.curl("alice", "/ws/v1/cluster/info")[0], 200)  # now the ticket is in the cache
        os.kill(self.cluster.kdc.process.pid, 19)
        try:
            began = time.monotonic()
            self.assertEqual(self.curl("alice", "/ws/v1/cluster/info")[0], 200)
            self.assertLess(time.monotonic() - began, 5, "an acceptor needs no KDC")
        finally:
            os.kill(self.cluster.kdc.process.pid, 18)

    def token_file(self, user, service):
        """The environment of somebody without a ticket who has a delegation token of `user` for the manager at `service`, in a file as `yarn` writes it."""
        status, _, body = self.curl(user, "/ws/v1/cluster/delegation-token", "-X", "POST", "-H", "Content-Type: application/json", "-d", '{"renewer":"bob"}')
        self.assertEqual(status, 200, body)
        text = json.loads(body)["token"]
        token = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        identifier = token[0] if token[0] < 128 else self.fail("a longer identifier")
        kind = 2 + identifier + token[1 + identifier]
        token = token[:kind + 1 + token[kind]]  # without its service
        file = self.secured.directory / f"{user}.tokens"
        service = service.encode()
        file.write_bytes(b"HDTS\0\1" + bytes([len(service)]) + service + token + bytes([len(service)]) + service + b"\0")
        return {**self.cluster.kdc.without_ticket("nobody"), "HADOOP_TOKEN_FILE_LOCATION": str(file)}

    def test_fairleads_own_commands_take_the_token_file(self):
        environment = self.token_file("alice", f"127.0.0.1:{self.cluster.client}")
        for words in (("apps", "--json"), ("queues", "--json"), ("status", "--json")):  # by RPC, and by pages
            shown = self.secured.run(environment, *words)
            self.assertEqual(shown.returncode, 0, f"{words}: {shown.stderr}")
        self.assertRegex(self.secured.log(), r"Auth successful for alice.* \(auth:TOKEN\)")
        other = self.secured.run(self.token_file("alice", f"127.0.0.1:{self.cluster.admin}"), "apps")
        self.assertNotEqual(other.returncode, 0, "a token of another manager")
        self.assertIn("kinit", other.stderr)
        environment["HADOOP_TOKEN_FILE_LOCATION"] = str(self.secured.directory / "absent")
        refused = self.secured.run(environment, "apps")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("HADOOP_TOKEN_FILE_LOCATION: ", refused.stderr)
        self.assertIn(environment["HADOOP_TOKEN_FILE_LOCATION"], refused.stderr)

    def hdfs_token(self, kind, service, number, renewer=b""):
        """With its alias, as in a file of tokens."""
        identifier = b"\0\5alice" + bytes([len(renewer)]) + renewer + b"\0\1\2" + bytes([number]) + b"\4"  # the real user, times, numbers
        parts = [bytes([len(part)]) + part for part in (service, identifier, b"password", kind, service)]
        return b"".join(parts)

    def job(self, text, *options):
        job = self.secured.directory / "job.sh"
        job.write_text("#!/bin/sh\n" + text + "\n")
        job.chmod(0o755)
        return ("submit", "--hadoop-conf", self.cluster.conf, "--driver-memory", 256, "--executors", 1, "--max-attempts", 1, *options, job)

    def submitted(self, environment, *words):
        return subprocess.run([str(word) for word in (peers.BINARY, *words)], env=environment, capture_output=True, text=True, timeout=120)

    def test_tokens_of_hdfs_in_the_file_reach_the_application(self):
        environment = self.token_file("alice", f"127.0.0.1:{self.cluster.client}")
        file = pathlib.Path(environment["HADOOP_TOKEN_FILE_LOCATION"])
        token, text = self.hdfs_token(b"HDFS_DELEGATION_TOKEN", b"127.0.0.1:8020", 3), file.read_bytes()
        file.write_bytes(text[:5] + b"\2" + text[6:-1] + token + b"\0")
        arrived = self.secured.directory / "arrived"
        ended = self.submitted(environment, *self.job(f'cp "$HADOOP_TOKEN_FILE_LOCATION" {arrived}.new && mv {arrived}.new {arrived}'))
        self.assertTrue(arrived.exists(), ended.stderr)
        credentials = arrived.read_bytes()
        self.assertIn(token, credentials)
        self.assertNotIn(b"RM_DELEGATION_TOKEN", credentials, "the manager would end it with the application")

    def test_secrets_reach_no_log_no_journal_and_no_error(self):
        """Passwords of the tokens that an application brings and gets, a ticket, a cookie's signature and the keys of keytabs, as bytes and as text."""
        environment, said = self.token_file("alice", f"127.0.0.1:{self.cluster.client}"), []
        file = pathlib.Path(environment["HADOOP_TOKEN_FILE_LOCATION"])
        said.append(self.secured.run(environment, "apps").stderr)
        arrived = self.secured.directory / "shown"
        said.append(self.submitted(self.users["alice"], *self.job(f'cp "$HADOOP_TOKEN_FILE_LOCATION" {arrived}.new && mv {arrived}.new {arrived}; exit 1')).stderr)
        shown = subprocess.run(["curl", "-s", "-v", "--negotiate", "-u", ":", f"http://localhost:{self.cluster.web}/ws/v1/cluster/info"], env=self.users["alice"],
                               capture_output=True, text=True, timeout=30).stderr
        ticket = base64.b64decode(re.search(r"> Authorization: Negotiate (\S+)", shown)[1])
        signature = base64.b64decode(re.search(r'hadoop.auth="[^"]*&s=([^"]+)"', shown)[1])
        keys = [bytes.fromhex(key) for name in ("rm/localhost", "nm/localhost", "alice") for key in self.cluster.kdc.keys(name)]
        tokens = {**passwords(file.read_bytes()), **passwords(arrived.read_bytes())}
        self.assertIn(b"YARN_AM_RM_TOKEN", tokens)
        self.assertIn(b"RM_DELEGATION_TOKEN", tokens)
        for word in (ticket[:-20], ticket[-40:]):  # what is no ticket is refused, and told
            header = "Authorization: Negotiate " + base64.b64encode(word).decode()
            said.append(self.curl("nobody", "/ws/v1/cluster/info", "-H", header)[2])
        secrets = {"ticket": ticket[200:232], "cookie": signature, **{f"key {number}": key for number, key in enumerate(keys)},
                   **{kind.decode(): password for kind, password in tokens.items()}}
        journals = [path.read_bytes() for path in self.cluster.directory.rglob("*.journal*") if path.is_file()]
        logs = [path.read_bytes() for path in self.cluster.directory.glob("*.log")]
        self.assertTrue(journals)
        self.assertGreater(len(logs), 1)
        for name, secret in secrets.items():
            for where in (*journals, *logs, *(text.encode() for text in said)):
                self.assertFalse(holds(where, secret), name)
        stored = b"".join(path.read_bytes() for path in self.cluster.directory.rglob("fairlead-rm.db*"))
        self.assertTrue(holds(stored, tokens[b"RM_DELEGATION_TOKEN"]), "what is looked for is found where it has to be")

    def test_a_key_keeps_tokens_beyond_the_application(self):
        asked = []

        class NameNode(http.server.BaseHTTPRequestHandler):
            def do_PUT(self):
                query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
                token = query["token"][0]
                asked.append((query["op"][0], base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))))
                body = json.dumps({"long": int(time.time() * 1000) + 3_600_000}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), NameNode)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)

        def has(operation, number):
            return any(one == operation and b"\1\2" + bytes([number]) + b"\4" in token for one, token in asked)
        file = self.secured.directory / "hdfs.tokens"
        for number, kept in ((5, ("--set", "mapreduce.job.complete.cancel.delegation.tokens=false")), (6, ())):
            token = self.hdfs_token(b"WEBHDFS delegation", f"127.0.0.1:{server.server_address[1]}".encode(), number, b"yarn")
            file.write_bytes(b"HDTS\0\1" + token + b"\0")
            ended = self.submitted({**self.users["alice"], "HADOOP_TOKEN_FILE_LOCATION": str(file)}, *self.job("exit 1", *kept))
            self.assertTrue(has("RENEWDELEGATIONTOKEN", number), ended.stderr)
        self.cluster.wait(lambda: has("CANCELDELEGATIONTOKEN", 6), "the end of the second", 30)
        self.assertFalse(has("CANCELDELEGATIONTOKEN", 5), "the first was to stay")

    def test_whom_the_cluster_refuses_is_told_so_and_not_that_nobody_answers(self):
        without = self.cluster.kdc.without_ticket("nobody")
        application = "application_1_0001"
        for words in (("status",), ("apps",), ("kill", application), ("app", application), ("nodes",), ("queues",), ("top", "--once")):
            refused = self.secured.run(without, *words)
            self.assertEqual(refused.returncode, 1, f"{words}: {refused.stderr}")
            self.assertRegex(refused.stderr, "cannot log in to the .* by Kerberos: .*; kinit gets a ticket", words)
            self.assertNotIn("answer", refused.stderr)
        # Without the cluster's core-site.xml: by name.
        addresses = (f"yarn.resourcemanager.address=127.0.0.1:{self.cluster.client}", f"yarn.resourcemanager.webapp.address=127.0.0.1:{self.cluster.web}")
        for words in (("apps",), ("kill", application)):
            refused = subprocess.run([str(peers.BINARY), *words, *(f"--set={one}" for one in addresses)], env={**without, "HOME": str(self.secured.directory)},
                                     capture_output=True, text=True, timeout=60)
            self.assertEqual(refused.returncode, 1, refused.stderr)
            self.assertRegex(refused.stderr, r"by name: .*SIMPLE authentication is not enabled.  Available:\[TOKEN, KERBEROS\]; where the cluster has Kerberos")
            self.assertIn("kinit", refused.stderr)

    def test_fairleads_own_commands_show_their_ticket_to_pages(self):
        shown = self.secured.run(self.users["alice"], "queues", "--json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        refused = self.secured.run(self.cluster.kdc.without_ticket("nobody"), "queues")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("kinit", refused.stderr)


@unittest.skipIf(kdc.missing(), f"not installed: {kdc.missing()}")
@unittest.skipUnless(zookeeper.JAR.exists(), "ZooKeeper is not installed")
class Takeover(unittest.TestCase):
    """Two managers of one Kerberos principal, known by a pattern: tokens and logins outlive the one that leads."""

    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-kerberos-"))
        cls.directory.chmod(0o755)
        cls.addClassCleanup(shutil.rmtree, cls.directory, ignore_errors=True)
        spec = registry.Spec(nodes=("fairlead",), kerberos="privacy", history=False, web_login="kerberos",
                             yarn_site=(("yarn.resourcemanager.principal.pattern", "r?/*@EXAMPLE.COM"),))
        cls.cluster = ha_cluster.HaCluster(cls.directory / "cluster", spec)
        cls.cluster.directory.mkdir(exist_ok=True)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def rest(self, rm, method, path, body=None, **headers):
        request = urllib.request.Request(self.cluster.url(rm) + path, method=method, data=json.dumps(body).encode() if body is not None else None,
                                         headers={"Accept": "application/json", "Content-Type": "application/json", **headers})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or b"null")

    def test_tokens_keys_and_logins_outlive_the_leader(self):
        cluster = self.cluster
        first = cluster.await_active()
        alice = cluster.kdc.cache("alice")
        commands = lambda: subprocess.run([str(peers.BINARY), "apps", "--json", "--hadoop-conf", str(cluster.conf)], env=alice, capture_output=True,  # noqa: E731
                                          text=True, timeout=60)
        kept = cluster.submit_sleeper()
        cluster.wait(lambda: cluster.has_container(kept), "a container")
        token = self.rest(first, "POST", "/ws/v1/cluster/delegation-token", {"renewer": "alice"}, Cookie=cluster.cookie("alice"))["token"]
        self.assertEqual(commands().returncode, 0)
        cluster.kill(first)
        second = cluster.await_active(other_than=first)
        who = self.rest(second, "GET", f"/ws/v1/cluster/userinfo?delegation={token}")
        self.assertEqual(who["requestedUser"], "alice")
        renewed = self.rest(second, "POST", "/ws/v1/cluster/delegation-token/expiration", {}, Cookie=cluster.cookie("alice"),
                            **{"Hadoop-YARN-RM-Delegation-Token": token})
        self.assertGreater(renewed["expiration-time"], time.time() * 1000)
        listed = commands()
        self.assertEqual(listed.returncode, 0, listed.stderr)
        cluster.wait_for_nodes(1)
        cluster.wait(lambda: cluster.has_container(kept), "the container from before")
        # The one that comes back as a standby asks the leader, with the managers' ticket, and is believed.
        cluster.start_manager(first)
        cluster.wait(lambda: cluster.state(first) == ha_cluster.STANDBY, "the killed one as standby")
        with self.assertRaises(urllib.error.HTTPError) as nobody:
            self.rest(first, "GET", "/conf")
        self.assertEqual(nobody.exception.code, 401, "a standby's configuration is shown to nobody, too")
        self.assertEqual(commands().returncode, 0)


@unittest.skipIf(kdc.missing(), f"not installed: {kdc.missing()}")
class Refused(unittest.TestCase):
    """What the daemons say before they start."""

    def test_a_keytab_without_the_key(self):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-kerberos-"))
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        cluster = lab.Cluster(directory, registry.Spec(nodes=(), kerberos="integrity"))
        self.addCleanup(cluster.stop)
        cluster.write()

        def start(*sets):
            return subprocess.run([str(peers.BINARY), "rm", "--hadoop-conf", str(cluster.conf), *(f"--set={one}" for one in sets)],
                                  env=cluster.daemon_environment(), capture_output=True, text=True, timeout=60).stderr
        self.assertIn("nobody.keytab cannot be used for rm/localhost@EXAMPLE.COM", start(f"yarn.resourcemanager.keytab={directory}/nobody.keytab"))
        self.assertIn("cannot be used for rm/localhost@EXAMPLE.COM", start(f"yarn.resourcemanager.keytab={cluster.kdc.keytab('alice')}"))
        whole, damaged = cluster.kdc.keytab("rm/localhost").read_bytes(), directory / "damaged.keytab"
        for bytes_ in (b"", whole[:20], b"no keytab at all", bytes(1000)):
            damaged.write_bytes(bytes_)
            self.assertIn("damaged.keytab cannot be used for rm/localhost@EXAMPLE.COM", start(f"yarn.resourcemanager.keytab={damaged}"))
        self.assertIn("cannot be used for rm/localhost@EXAMPLE.COM", start(f"yarn.resourcemanager.keytab={directory}"))
        damaged.chmod(0)
        if os.geteuid() != 0:  # who reads everything
            self.assertIn("damaged.keytab cannot be used for rm/localhost@EXAMPLE.COM", start(f"yarn.resourcemanager.keytab={damaged}"))
        self.assertIn("write SERVICE/_HOST@REALM", start("yarn.resourcemanager.principal=rm"))
        self.assertIn("its regular expression is not supported", start("hadoop.security.auth_to_local=RULE:[1:$1](?<!a)"))
        self.assertIn("ldap is not supported; write simple or kerberos", start("hadoop.http.authentication.type=ldap"))
        self.assertIn("write HTTP/_HOST@REALM", start("hadoop.http.authentication.type=kerberos", f"yarn.resourcemanager.webapp.spnego-keytab-file={directory}/x"))
        self.assertIn("no range of addresses", start("hadoop.proxyuser.livy.hosts=10.0.0.0/99"))
        self.assertIn("hadoop-policy.xml", start("hadoop.security.authorization=true"))
        self.assertIn("secrecy is not known", start("hadoop.rpc.protection=secrecy"))


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=[word for word in sys.argv if word != "--flood"])
