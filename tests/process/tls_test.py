#!/usr/bin/env python3
"""Pages by TLS, of real processes: the resource manager, a node agent, Standalone daemons, the shuffle service, curl and our own commands; certificates that change, and strangers."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/interop"), str(ROOT / "tests/adversary")]
import cluster as lab  # noqa: E402
import peers  # noqa: E402
import registry  # noqa: E402
import spark_home  # noqa: E402
import tls  # noqa: E402
from waiting import until  # noqa: E402

BUILD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build"))
peers.BINARY = BUILD / "fairlead"
KEYS = (("hadoop.http.header.Strict-Transport-Security", "max-age=60"), ("mapreduce.shuffle.ssl.enabled", "true"))


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-tls-"))
        directory.chmod(0o755)
        cls.addClassCleanup(shutil.rmtree, directory, ignore_errors=True)
        cls.cluster = lab.Cluster(directory / "cluster", registry.Spec(nodes=("fairlead",), https="pem", history=False, yarn_site=KEYS))
        cls.cluster.directory.mkdir()
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.write()
        (directory / "masters").mkdir()
        cls.masters = tls.Certificates(directory / "masters")
        cls.trust = directory / "trusted.pem"
        cls.trust.write_text(cls.masters.certificate.read_text())
        cls.cluster.spawn("rm", [peers.BINARY, "rm", "--hadoop-conf", cls.cluster.conf, "--set", f"fairlead.tls.ca={cls.trust}"],
                          env=cls.cluster.daemon_environment())
        cls.cluster.start_nm(1)
        cls.cluster.wait_for_nodes(1)

    def run_fairlead(self, *words):
        return subprocess.run([str(peers.BINARY), *map(str, words), "--hadoop-conf", str(self.cluster.conf)], capture_output=True, text=True, timeout=60)

    def curl(self, url, *words):
        return subprocess.run(["curl", "-s", "-S", "-i", "--max-time", "20", *map(str, words), url], capture_output=True, text=True, timeout=30)

    def trusting(self, url, *words):
        return self.curl(url, "--cacert", self.cluster.tls.certificate, *words)

    def unit(self, port=None):
        """What stands in the certificate that the manager, or another port, shows now."""
        with socket.create_connection(("127.0.0.1", port or self.cluster.web), 10) as plain:
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

    def test_an_upload_may_follow_the_handshake_at_once(self):
        body = pathlib.Path(self.cluster.directory) / "body"
        body.write_text(" " * 900_000)
        for _ in range(10):
            answer = self.trusting(self.cluster.page("/fairlead/v1/what-if"), "-H", "Expect:", "-H", "Content-Type: application/json", "--data-binary", f"@{body}")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertRegex(answer.stdout, r"^HTTP/1.1 400 ")  # blanks are no JSON

    def test_map_outputs(self):
        [port] = re.findall(r"serving map outputs.*?127\.0\.0\.1:(\d+)", (self.cluster.directory / "nm1.log").read_text())
        asked = f"127.0.0.1:{port}/mapOutput?job=job_1_0001&reduce=0&map=attempt_1_0001_m_000000_0"
        headers = ("-H", "name: mapreduce", "-H", "version: 1.0.0")
        self.assertIn("unknown job", self.trusting("https://" + asked, *headers).stdout)
        self.assertIn("This port speaks TLS alone", self.curl("http://" + asked, *headers).stdout)

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

    def page_of_driver(self, certificates, says):
        """What the proxy shows of a running driver whose page has this certificate."""
        words = [peers.BINARY, "submit", "--hadoop-conf", self.cluster.conf, "--ca", self.cluster.tls.certificate, "--detach", "--json", "--executor-memory", "256",
                 "--conf", f"fairlead.tls.certificate={certificates.certificate}", "--conf", f"fairlead.tls.key={certificates.key}", BUILD / "tests/engine_faults",
                 "slow", certificates.directory / "lines"]
        job = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60)
        self.assertEqual(job.returncode, 0, job.stderr)
        application = json.loads(job.stdout)["id"]
        self.addCleanup(self.run_fairlead, "kill", application, "--ca", self.cluster.tls.certificate)
        page = self.cluster.page(f"/proxy/{application}/running.json")
        self.cluster.wait(lambda: says in self.trusting(page).stdout, f"'{says}' on the driver's page", 60)
        return application, self.trusting(page).stdout

    def test_a_drivers_page_is_https_and_shown_by_the_proxy(self):
        application, shown = self.page_of_driver(self.masters, "HTTP/1.1 200")
        self.assertIn("application/json", shown)
        [attempt] = self.cluster.get(f"/ws/v1/cluster/apps/{application}/appattempts")["appAttempts"]["appAttempt"]
        page = self.cluster.get(f"/ws/v1/cluster/apps/{application}/appattempts/{attempt['appAttemptId']}")["originalTrackingUrl"]
        self.assertRegex(page, r"^https://localhost:\d+$")
        direct = self.curl(page + "/running.json", "--cacert", self.masters.certificate)
        self.assertRegex(direct.stdout, f"(?s)^HTTP/1.1 302.*/proxy/{application}/running.json", "others than the proxy are led to it")
        self.assertIn("This port speaks TLS alone", self.curl(page.replace("https", "http")).stdout)
        self.masters.make("second")
        self.believe(self.masters)
        self.cluster.wait(lambda: self.unit(int(page.rsplit(":", 1)[1])) == "second", "the driver's second certificate", 20)
        shown = self.cluster.page(f"/proxy/{application}/running.json")
        self.cluster.wait(lambda: "HTTP/1.1 200" in self.trusting(shown).stdout, "the page by the second certificate", 20)

    def believe(self, certificates):
        """Adds one to those whom the manager trusts."""
        with open(self.trust, "a") as trust:
            trust.write(certificates.certificate.read_text())

    def test_a_driver_whom_the_manager_does_not_trust_is_not_shown(self):
        """And nothing is asked of it in the clear, until the manager's file says that it trusts."""
        (self.cluster.directory / "stranger").mkdir()
        stranger = tls.Certificates(self.cluster.directory / "stranger")
        application, told = self.page_of_driver(stranger, "HTTP/1.1 502")
        self.assertIn("the certificate of localhost is not trusted: self-signed certificate", told)
        self.believe(stranger)
        page = self.cluster.page(f"/proxy/{application}/running.json")
        self.cluster.wait(lambda: "HTTP/1.1 200" in self.trusting(page).stdout, "the page of a driver that is trusted now", 20)

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


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Standalone(unittest.TestCase):
    """Pages of `fairlead spark-master` and `fairlead spark-worker` by Spark's keys; a JDK is not needed, for nothing runs there."""

    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-tls-"))
        cls.addClassCleanup(shutil.rmtree, cls.directory, ignore_errors=True)
        cls.tls = tls.Certificates(cls.directory)
        cls.store = cls.tls.make_pkcs12()
        cls.trust = cls.directory / "trusted.pem"
        cls.trust.write_text(cls.tls.certificate.read_text())
        cls.home = spark_home.make(cls.directory)
        java = cls.directory / "java/bin/java"
        java.parent.mkdir(parents=True)
        java.write_text("#!/bin/sh\nexec sleep 600\n")
        java.chmod(0o755)
        cls.port, cls.plain, cls.secure, cls.rest, cls.worker_plain = peers.free_ports(5)
        cls.processes = contextlib.ExitStack()
        cls.addClassCleanup(cls.processes.close)
        cls.properties("master", {"spark.fairlead.tls.certificate": cls.tls.certificate, "spark.fairlead.tls.key": cls.tls.key, "spark.ssl.standalone.port": cls.secure,
                                  "spark.master.rest.port": cls.rest, "spark.ui.reverseProxy": "true", "spark.fairlead.tls.ca": cls.trust})
        cls.properties("worker", {"spark.ssl.enabled": "true", "spark.ssl.keyStore": cls.store, "spark.ssl.keyStorePassword": tls.PASSWORD})
        cls.spawn("master", "spark-master", "--port", cls.port, "--webui-port", cls.plain)
        cls.spawn("worker", "spark-worker", "--webui-port", cls.worker_plain, "--cores", 1, "--memory", "512m", "--work-dir", cls.directory / "work",
                  f"spark://127.0.0.1:{cls.port}")
        cls.wait(cls.workers, "the Worker at the Master")

    wait = staticmethod(until)

    @classmethod
    def properties(cls, name, keys):
        (cls.directory / name).write_text("".join(f"{key} {value}\n" for key, value in keys.items()))

    @classmethod
    def words(cls, name, *words):
        return [str(word) for word in (peers.BINARY, *words, "--host", "127.0.0.1", "--spark-home", cls.home, "--properties-file", cls.directory / name)]

    @classmethod
    def environment(cls):
        return {**os.environ, "JAVA_HOME": str(cls.directory / "java"), "SPARK_LOCAL_DIRS": str(cls.directory)}

    @classmethod
    def spawn(cls, name, *words):
        log = cls.processes.enter_context(open(cls.directory / f"{name}.log", "ab"))
        process = subprocess.Popen(cls.words(name, *words), stdout=log, stderr=log, env=cls.environment())
        cls.processes.callback(process.wait, 30)
        cls.processes.callback(process.terminate)

    @classmethod
    def get(cls, url, body=None, trusted=True):
        """Status, headers and text; redirections are not followed."""
        handlers = [NoRedirect, urllib.request.HTTPSHandler(context=cls.tls.trusting() if trusted else ssl.create_default_context())]
        try:
            with urllib.request.build_opener(*handlers).open(urllib.request.Request(url, data=body), timeout=20) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode()

    @classmethod
    def workers(cls):
        with contextlib.suppress(OSError):
            return json.loads(cls.get(f"https://127.0.0.1:{cls.secure}/json/")[2])["workers"]

    def test_pages_link_to_each_other_by_https(self):
        [worker] = self.workers()
        page = worker["webuiaddress"]
        self.assertRegex(page, r"^https://127\.0\.0\.1:\d+$")
        self.assertNotEqual(page, f"https://127.0.0.1:{self.worker_plain}", "HTTP has that port")
        status, headers, text = self.get(page + "/json/")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/json;charset=utf-8"), text)
        self.assertEqual(json.loads(text)["masterwebuiurl"], f"https://127.0.0.1:{self.secure}")
        self.assertEqual(self.get(page + "/")[0], 200)
        self.assertEqual(self.get(f"https://127.0.0.1:{self.secure}/metrics")[0], 200)
        for order in ("app/kill", "driver/kill", "workers/kill"):
            self.assertEqual(self.get(f"https://127.0.0.1:{self.secure}/{order}/?id=x&terminate=true")[0], 405, order)
        with self.assertRaisesRegex(urllib.error.URLError, "CERTIFICATE_VERIFY_FAILED"):
            self.get(page, trusted=False)

    def test_the_masters_proxy_fetches_by_https(self):
        [worker] = self.workers()
        status, _, text = self.get(f"https://127.0.0.1:{self.secure}/proxy/{worker['id']}/json/")
        self.assertEqual(status, 200, text)
        self.assertEqual(json.loads(text)["id"], worker["id"])

    def test_whom_the_master_trusts_changes_without_a_restart(self):
        [worker] = self.workers()
        page = f"https://127.0.0.1:{self.secure}/proxy/{worker['id']}/json/"
        self.trust.write_text(self.tls.made("another")[0])
        self.addCleanup(self.wait, lambda: self.get(page)[0] == 200, "the page of a Worker that is trusted again")
        self.addCleanup(self.trust.write_text, self.tls.certificate.read_text())
        self.wait(lambda: self.get(page)[0] == 502, "the refusal of a Worker that nobody trusts any more")

    def test_the_port_of_http_leads_to_the_page(self):
        for host in ("127.0.0.1", "localhost"):
            status, headers, _ = self.get(f"http://{host}:{self.plain}/app/?appId=x%20y")
            self.assertEqual((status, headers["Location"]), (302, f"https://{host}:{self.secure}/app/?appId=x%20y"))
        status, _, text = self.get(f"http://127.0.0.1:{self.plain}/driver/kill/", b"id=driver-1&terminate=true")
        self.assertEqual(status, 400)
        self.assertIn(f"write https://127.0.0.1:{self.secure}/driver/kill/", text)
        self.assertEqual(self.get(f"http://127.0.0.1:{self.secure}/")[0], 400, "plain words at the port of HTTPS")
        with socket.create_connection(("127.0.0.1", self.plain), 10) as stranger:
            stranger.sendall(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
            self.assertIn(b" 421 ", stranger.recv(4096).split(b"\r\n")[0])

    def test_drivers_by_rest(self):
        """Spark's client speaks HTTP alone there."""
        status, _, text = self.get(f"http://127.0.0.1:{self.rest}/v1/submissions/status/driver-1")
        self.assertEqual((status, json.loads(text)["action"]), (200, "SubmissionStatusResponse"))
        port, plain, rest = peers.free_ports(3)
        self.properties("other", {"spark.ssl.standalone.enabled": "true", "spark.ssl.standalone.keyStore": self.store, "spark.ssl.standalone.keyStorePassword": tls.PASSWORD,
                                  "spark.ssl.standalone.enabledAlgorithms": "TLS_AES_256_GCM_SHA384", "spark.master.rest.port": rest, "spark.fairlead.rest.https": "true"})
        self.spawn("other", "spark-master", "--port", port, "--webui-port", plain)
        log = self.directory / "other.log"
        self.wait(lambda: "is ready" in log.read_text(), "the other Master")
        page = re.search(r"https://127\.0\.0\.1:\d+", log.read_text())[0]
        self.assertEqual(json.loads(self.get(page + "/json/")[2])["status"], "ALIVE")
        status, _, text = self.get(f"https://127.0.0.1:{rest}/v1/submissions/status/driver-1")
        self.assertEqual((status, json.loads(text)["action"]), (200, "SubmissionStatusResponse"))
        self.assertEqual(self.get(f"http://127.0.0.1:{rest}/v1/submissions/status/driver-1")[0], 400)

    def test_what_cannot_be_is_refused_by_name(self):
        on = {"spark.ssl.standalone.enabled": "true"}
        with_store = {**on, "spark.ssl.standalone.keyStore": self.store}
        for keys, status, told in (
                (on, 2, "spark.ssl.standalone.enabled: true needs a key and its certificate"),
                ({**with_store, "spark.ssl.standalone.needClientAuth": "true"}, 2, "spark.ssl.standalone.needClientAuth: true is not supported"),
                ({**with_store, "spark.ssl.standalone.keyStorePassword": "wrong"}, 1, "page.p12 cannot be opened with its password"),
                ({**with_store, "spark.ssl.standalone.keyStorePassword": tls.PASSWORD, "spark.ssl.standalone.enabledAlgorithms": "NONE"}, 1, "none of the ciphers"),
                ({"spark.fairlead.rest.https": "true", "spark.master.rest.enabled": "true"}, 2, "spark.fairlead.rest.https: true needs spark.ssl.standalone.enabled")):
            self.properties("wrong", keys)
            ended = subprocess.run(self.words("wrong", "spark-master", "--port", 0, "--webui-port", 0), capture_output=True, text=True, timeout=30, env=self.environment())
            self.assertEqual(ended.returncode, status, ended.stderr)
            self.assertIn(told, ended.stderr)


class Shuffle(unittest.TestCase):
    """The page of `fairlead shuffle`, and the commands that ask it."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-tls-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.tls = tls.Certificates(self.directory)
        self.state, self.log = self.directory / "state", self.directory / "log"
        (self.directory / "roots").mkdir()
        self.port, self.web = peers.free_ports(2)

    def serve(self, *words):
        with open(self.log, "wb") as log:
            process = subprocess.Popen(self.words(*words), stdout=log, stderr=log)
        self.addCleanup(process.wait, 30)
        self.addCleanup(process.kill)
        Standalone.wait(lambda: "Serving shuffle blocks" in self.log.read_text(), "the service")
        return process

    def words(self, *words):
        return [str(word) for word in (peers.BINARY, "shuffle", "--port", self.port, "--web-port", self.web, "--local-roots", self.directory / "roots", "--state", self.state,
                                       *words)]

    def pem(self):
        return [word for name, file in (("certificate", self.tls.certificate), ("key", self.tls.key)) for word in ("--conf", f"spark.fairlead.tls.{name}={file}")]

    def ask(self, *words):
        return subprocess.run([str(word) for word in (peers.BINARY, "shuffle", *words)], capture_output=True, text=True, timeout=30)

    def test_its_page_and_its_commands(self):
        process = self.serve(*self.pem())
        trust = ("--ca", self.tls.certificate)
        for at in (("--state", self.state), ("--web", f"https://localhost:{self.web}/")):
            shown = self.ask("status", *at, *trust)
            self.assertEqual((shown.returncode, shown.stderr), (0, ""))
            self.assertIn("executors 0", shown.stdout)
        strange = self.ask("status", "--state", self.state, "--json")
        self.assertEqual(strange.returncode, 3)
        self.assertIn("--ca FILE names the certificates that are trusted", strange.stderr)
        plain = self.ask("status", "--web", f"127.0.0.1:{self.web}")
        self.assertEqual(plain.returncode, 3, "plain words at a port of HTTPS")
        with urllib.request.urlopen(f"https://127.0.0.1:{self.web}/metrics", context=self.tls.trusting(), timeout=20) as answer:
            self.assertIn("fairlead_shuffle_blockTransfers", answer.read().decode())
        drained = self.ask("drain", "--state", self.state, "--idle", 0, *trust)
        self.assertEqual((drained.returncode, drained.stderr), (0, ""))
        self.assertEqual(process.wait(30), 0)

    def test_everywhere_and_in_the_clear_where_nobody_asks_for_tls(self):
        self.serve("--web-bind", "0.0.0.0", "--conf", "spark.ssl.enabled=true")
        self.assertNotIn("https://", (self.state / "shuffle.web").read_text())
        shown = self.ask("status", "--web", f"http://127.0.0.2:{self.web}")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))

    def test_a_store_that_cannot_be_opened_is_named(self):
        on = ("--conf", "spark.ssl.standalone.enabled=true")
        store = ("--conf", f"spark.ssl.standalone.keyStore={self.tls.make_pkcs12()}", "--conf", "spark.ssl.standalone.keyStorePassword=wrong")
        for words, status, told in ((on, 2, "spark.ssl.standalone.enabled: true needs a key and its certificate"), ((*on, *store), 1, "page.p12 cannot be opened with its password")):
            ended = subprocess.run(self.words(*words), capture_output=True, text=True, timeout=30)
            self.assertEqual(ended.returncode, status, ended.stderr)
            self.assertIn(told, ended.stderr)


class History(unittest.TestCase):
    """The page that `fairlead history --serve` shows of a job that is over."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-tls-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.tls = tls.Certificates(self.directory)
        self.own = (f"fairlead.tls.certificate={self.tls.certificate}", f"fairlead.tls.key={self.tls.key}")
        self.events = self.directory / "events.jsonl"
        self.events.write_text('{"application_started":{"at_ms":1,"id":"application_1_0001","program":"job"}}\n')

    def words(self, *keys, more=()):
        return [str(word) for word in (peers.BINARY, "history", *[word for key in keys for word in ("--set", key)], *more, "--serve", "localhost:0", self.events)]

    def serve(self, *keys, more=()):
        """Where its page is."""
        process = subprocess.Popen(self.words(*keys, more=more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate, timeout=30)
        self.addCleanup(process.terminate)
        return process.stdout.readline().split()[0]

    def read(self, page, user=None):
        """What curl gets of it, as that user."""
        words = ["curl", "-s", "-S", "-i", "--max-time", "20", "--cacert", self.tls.certificate, page + "history.json"]
        return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=30, user=user, cwd="/")

    def test_by_https_where_a_certificate_is_set_or_the_clusters_pages_are(self):
        for keys in (self.own, (*self.own, "yarn.http.policy=HTTPS_ONLY")):
            page = self.serve(*keys)
            self.assertRegex(page, r"^https://localhost:\d+/$")
            self.assertIn("application_1_0001", self.read(page).stdout)
            self.assertIn("This port speaks TLS alone", self.read(page.replace("https", "http")).stdout)
        self.assertRegex(self.serve(), "^http://127.0.0.1:")

    def test_nothing_is_served_in_the_clear_in_its_place(self):
        for keys, told in ((("yarn.http.policy=HTTPS_ONLY",), "HTTPS_ONLY needs a key and its certificate"),
                           (("fairlead.tls.certificate=/nowhere.pem",), "fairlead.tls.certificate: open /nowhere.pem: No such file or directory")):
            ended = subprocess.run(self.words(*keys), capture_output=True, text=True, timeout=30)
            self.assertNotEqual(ended.returncode, 0)
            self.assertEqual(ended.stdout, "")
            self.assertIn(told, ended.stderr)
            self.assertIn("for HTTP: --set yarn.http.policy=HTTP_ONLY", ended.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "another user is needed")
    def test_on_loopback_it_is_its_users_alone(self):
        self.directory.chmod(0o755)
        for more, status in (((), " 403 "), (("--any-user",), " 200 ")):
            page = self.serve(more=more)
            self.assertIn(status, self.read(page, "nobody").stdout.splitlines()[0])
            self.assertIn(" 200 ", self.read(page).stdout.splitlines()[0])


class ConfigCheck(unittest.TestCase):
    """`fairlead config check` opens the files as a daemon's start does."""

    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-tls-"))
        cls.directory.chmod(0o755)
        cls.addClassCleanup(shutil.rmtree, cls.directory, ignore_errors=True)
        cls.tls = tls.Certificates(cls.directory)
        cls.foreign = cls.directory / "foreign.key"
        cls.foreign.write_text(cls.tls.made("another")[1])
        cls.store = cls.tls.make_pkcs12()

    def check(self, *keys, **how):
        words = [word for key in ("yarn.http.policy=HTTPS_ONLY", *keys) for word in ("--set", key)]
        return subprocess.run([peers.BINARY, "config", "check", *words], capture_output=True, text=True, timeout=30, cwd="/", **how)

    def test_what_cannot_be_opened_is_told_with_its_key(self):
        own = f"fairlead.tls.certificate={self.tls.certificate}"
        server, client = "ssl.server.keystore.", "ssl.client.truststore."
        for keys, told in (
                ((own, f"fairlead.tls.key={self.foreign}"), "rm, nm: fairlead.tls.certificate: .*page.crt: there is no certificate of its private key in it"),
                (("fairlead.tls.certificate=/nowhere.pem",), "rm, nm: fairlead.tls.certificate: .*/nowhere.pem: No such file or directory$"),
                ((f"{server}location={self.store}", f"{server}password=wrong"), f"rm, nm: {server}location: .*page.p12 cannot be opened with its password: .*; is {server}password right"),
                ((f"{server}location={self.store}",), f"{server}password is not set"),
                ((own, f"fairlead.tls.key={self.tls.key}", f"fairlead.tls.ca={self.tls.key}"), "rm, nm: fairlead.tls.ca: .*page.key holds no certificate"),
                ((own, f"fairlead.tls.key={self.tls.key}", f"{client}location={self.store}", f"{client}password=wrong"), f"rm, nm: {client}location: .*; is {client}password right")):
            with self.subTest(keys):
                shown = self.check(*keys)
                self.assertEqual(shown.returncode, 2, shown.stdout)
                self.assertRegex(shown.stderr, re.compile(told, re.M))

    def test_what_can_be_opened_is_no_matter(self):
        shown = self.check(f"ssl.server.keystore.location={self.store}", f"ssl.server.keystore.password={tls.PASSWORD}", f"fairlead.tls.ca={self.tls.certificate}")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))

    @unittest.skipUnless(os.geteuid() == 0, "only root may run it as somebody else")
    def test_what_only_the_daemons_user_may_read_is_a_warning(self):
        shown = self.check(f"fairlead.tls.certificate={self.tls.certificate}", f"fairlead.tls.key={self.tls.key}", user=65534, group=65534, extra_groups=[])
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertRegex(shown.stdout, "rm: warning: fairlead.tls.certificate: .*page.crt: Permission denied: only the daemon's user can check it")


if __name__ == "__main__":
    unittest.main()
