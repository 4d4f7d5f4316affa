#!/usr/bin/env python3
"""A cluster with Kerberos of real processes: MIT's KDC, the resource manager, a node agent, the commands of users with and without a
ticket; strangers at its ports. Needs Debian's packages krb5-kdc, krb5-admin-server and krb5-user, and no JDK."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
import cluster as lab  # noqa: E402
import kdc  # noqa: E402
import peers  # noqa: E402
import registry  # noqa: E402
import rpc  # noqa: E402

BUILD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build"))
peers.BINARY = BUILD / "fairlead"
NEGOTIATE, INITIATE = 1, 2


class Secured:
    """A cluster of one node. `protection`: hadoop.rpc.protection."""

    def start(self, test, protection, further=()):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-kerberos-"))
        self.directory.chmod(0o755)
        test.addClassCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.cluster = lab.Cluster(self.directory / "cluster", registry.Spec(nodes=("fairlead",), kerberos=protection, history=False, yarn_site=further))
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
        self.assertIn("Auth failed from 127.0.0.1:", self.secured.log())

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
        self.assertIn(b"SPNEGO", refused.exception.read())

    def test_a_crowd_of_failed_logins_harms_nobody(self):
        for _ in range(300):
            rpc.talk(("127.0.0.1", self.secured.cluster.client), rpc.preamble(0xDF) + sasl(INITIATE, os.urandom(100), "rm", "localhost"), seconds=5)
        listed = self.secured.run(self.alice, "apps", "--json")
        self.assertEqual(listed.returncode, 0, listed.stderr)

    def test_secrets_do_not_reach_the_log(self):
        log = self.secured.log() + self.secured.log("nm1")
        for secret in ("keytab contents", "BEGIN", "krbtgt"):
            self.assertNotIn(secret, log)


def sasl(state, token, protocol, server):
    auth = rpc.field(1, "KERBEROS") + rpc.field(2, "GSSAPI") + rpc.field(3, protocol) + rpc.field(4, server)
    body = rpc.field(2, state) + rpc.field(3, token) + rpc.field(4, auth)
    return rpc.frame(rpc.delimited(rpc.request_header(rpc.SASL, client=b"")), rpc.delimited(body))


@unittest.skipIf(kdc.missing(), f"not installed: {kdc.missing()}")
class Renewal(unittest.TestCase):
    """Tickets that live for seconds: a node agent that was cut off logs in again by its keytab."""

    @classmethod
    def setUpClass(cls):
        cls.secured = Secured().start(cls, "authentication")

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
        self.assertIn("write SERVICE/_HOST@REALM", start("yarn.resourcemanager.principal=rm"))
        self.assertIn("its regular expression is not supported", start("hadoop.security.auth_to_local=RULE:[1:$1](?<!a)"))
        self.assertIn("SPNEGO is not supported", start("hadoop.http.authentication.type=kerberos"))
        self.assertIn("secrecy is not known", start("hadoop.rpc.protection=secrecy"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
