#!/usr/bin/env python3
"""Pages by TLS, of real processes: the resource manager, a node agent, curl and our own commands; certificates that change, and strangers."""
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
import cluster as lab  # noqa: E402
import peers  # noqa: E402
import registry  # noqa: E402

BUILD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build"))
peers.BINARY = BUILD / "fairlead"
STRICT = (("hadoop.http.header.Strict-Transport-Security", "max-age=60"),)


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-tls-"))
        directory.chmod(0o755)
        cls.addClassCleanup(shutil.rmtree, directory, ignore_errors=True)
        cls.cluster = lab.Cluster(directory / "cluster", registry.Spec(nodes=("fairlead",), https="pem", history=False, yarn_site=STRICT))
        cls.cluster.directory.mkdir()
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.write()
        cls.cluster.start_rm()
        cls.cluster.start_nm(1)
        cls.cluster.wait_for_nodes(1)

    def run_fairlead(self, *words):
        return subprocess.run([str(peers.BINARY), *map(str, words), "--hadoop-conf", str(self.cluster.conf)], capture_output=True, text=True, timeout=60)

    def curl(self, url, *words):
        return subprocess.run(["curl", "-s", "-S", "-i", "--max-time", "20", *map(str, words), url], capture_output=True, text=True, timeout=30)

    def trusting(self, url, *words):
        return self.curl(url, "--cacert", self.cluster.tls.certificate, *words)

    def unit(self):
        """What stands in the certificate that the manager shows now."""
        with socket.create_connection(("127.0.0.1", self.cluster.web), 10) as plain:
            context = ssl._create_unverified_context()
            with context.wrap_socket(plain) as connection:
                text = ssl.DER_cert_to_PEM_cert(connection.getpeercert(True))
        shown = subprocess.run(["openssl", "x509", "-noout", "-subject"], input=text, capture_output=True, text=True, check=True)
        return shown.stdout.rsplit("= ", 1)[1].strip()

    def test_pages_of_manager_and_node(self):
        answer = self.trusting(self.cluster.page("/ws/v1/cluster/info"))
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertRegex(answer.stdout, "(?i)strict-transport-security: max-age=60")
        node = self.cluster.get("/ws/v1/cluster/nodes")["nodes"]["node"][0]["nodeHTTPAddress"]
        answer = self.trusting(f"https://{node}/ws/v1/node/info")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("nodeInfo", answer.stdout)
        self.assertRegex(answer.stdout, "(?i)strict-transport-security: max-age=60")
        self.assertNotEqual(self.curl(self.cluster.page("/")).returncode, 0, "nobody trusts it yet")

    def test_links_lead_to_https(self):
        application = self.cluster.submit_sleeper()
        self.cluster.wait(lambda: self.cluster.has_container(application), "the container", 60)
        app = self.cluster.app(application)
        self.assertTrue(app["amContainerLogs"].startswith("https://"), app)
        attempts = self.cluster.get(f"/ws/v1/cluster/apps/{application}/appattempts")["appAttempts"]["appAttempt"]
        logs = self.trusting(attempts[0]["logsLink"])
        self.assertIn("HTTP/1.1 200", logs.stdout)
        shown = self.run_fairlead("logs", application, "--file", "prelaunch.out", "--ca", self.cluster.tls.certificate)
        self.assertEqual(shown.returncode, 0, shown.stderr)

    def test_commands_trust_by_ca(self):
        refused = self.run_fairlead("queues")
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertIn("self-signed certificate; --ca FILE (or fairlead.tls.ca) names the certificates that are trusted", refused.stderr)
        shown = self.run_fairlead("queues", "--json", "--ca", self.cluster.tls.certificate)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        page = [line for line in self.run_fairlead("nodes", "--ca", self.cluster.tls.certificate).stdout.splitlines() if "RUNNING" in line][0].split()[-1]
        self.assertTrue(page.startswith("https://"), page)

    def test_plain_words_at_a_tls_port_and_tls_at_a_plain_one(self):
        told = self.curl(self.cluster.page("/").replace("https", "http"))
        self.assertIn("HTTP/1.1 400 Bad Request", told.stdout)
        self.assertIn("write https:// where you have http://", told.stdout)
        with socket.create_connection(("127.0.0.1", self.plain_port()), 10) as connection:
            connection.sendall(bytes.fromhex("16030100c4010000c00303") + os.urandom(32))
            self.assertIn(b"400 Bad Request", connection.recv(4096))

    def plain_port(self):
        """Of a manager whose pages are plain."""
        directory = self.cluster.directory / "plain"
        directory.mkdir(exist_ok=True)
        port = peers.free_ports(1)[0]
        log = open(directory / "log", "ab")
        self.addCleanup(log.close)
        words = [f"yarn.resourcemanager.{name}.address=127.0.0.1:0" for name in ("scheduler", "resource-tracker", "admin")]
        words += ["yarn.resourcemanager.address=127.0.0.1:0", f"yarn.resourcemanager.webapp.address=127.0.0.1:{port}", f"fairlead.rm.state-dir={directory}/state"]
        process = subprocess.Popen([str(peers.BINARY), "rm", *[part for word in words for part in ("--set", word)]], stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        self.cluster.wait(lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5).status == 200, "the plain manager", 30)
        return port

    def test_a_new_certificate_counts_without_a_restart(self):
        first = self.unit()
        self.cluster.tls.make("second")
        self.cluster.wait(lambda: self.unit() == "second", "the second certificate", 20)
        self.assertEqual(self.cluster.get("/ws/v1/cluster/metrics")["clusterMetrics"]["activeNodes"], 1)
        good = self.cluster.tls.key.read_text()
        self.cluster.tls.key.write_text("no key")
        self.cluster.wait(lambda: "the changed certificate is refused; the earlier one stays" in (self.cluster.directory / "rm.log").read_text(), "the refusal", 20)
        self.assertEqual(self.unit(), "second")
        self.cluster.tls.key.write_text(good)
        self.assertEqual(first, "first")

    def test_a_crowd_of_handshakes_harms_nobody(self):
        """Half a handshake, garbage, random records, an end in the middle: closed, and honest callers are served beside them."""
        hello = bytes.fromhex("16030100c4010000c00303") + os.urandom(150)
        shapes = [b"", b"\x16", hello, hello[:40], b"\x16\x03\x01\xff\xff" + os.urandom(2000), os.urandom(3000), b"\x16\x03\x01\x00\x02\x01\x00" * 200,
                  b"\x15\x03\x03\x00\x02\x02\x28"]
        held = []
        for number in range(400):
            connection = socket.create_connection(("127.0.0.1", self.cluster.web), 10)
            held.append(connection)
            self.addCleanup(connection.close)
            try:
                connection.sendall(shapes[number % len(shapes)])
            except OSError:
                pass
        began = time.monotonic()
        for _ in range(5):
            self.cluster.get("/ws/v1/cluster/metrics")
        self.assertLess(time.monotonic() - began, 5)
        # Who says nothing whole is let go after ten seconds, as without TLS.
        held[1].settimeout(20)
        self.assertEqual(held[1].recv(1), b"")
        self.assertEqual(self.cluster.get("/ws/v1/cluster/metrics")["clusterMetrics"]["activeNodes"], 1)


if __name__ == "__main__":
    unittest.main()
