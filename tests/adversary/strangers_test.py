#!/usr/bin/env python3
"""Strangers at the web ports and on the machine, against the real daemons: names of strangers, pages of other sites, texts that a terminal
would obey, views without right, and what `fairlead up` keeps to its user."""
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
from peers import free_ports, write_site  # noqa: E402

BUILD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build"))
FAIRLEAD = BUILD / "fairlead"
# What a terminal obeys: C0 but for line ends and tabs, DEL, C1, turns of direction.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def until(condition, what, seconds=60):
    """Waits for an event; fails loudly when it does not come."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            value = condition()
        except (OSError, http.client.HTTPException):
            value = None
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited {seconds} s for {what}")


def ask(port, target, method="GET", host=None, body=None, headers=None, address="127.0.0.1"):
    """One request; `host` None: the address. Gives status and body."""
    connection = http.client.HTTPConnection(address, port, timeout=30)
    connection.putrequest(method, target, skip_host=True)
    connection.putheader("Host", host if host is not None else f"{address}:{port}")
    for name, value in (headers or {}).items():
        connection.putheader(name, value)
    data = b"" if body is None else body if isinstance(body, bytes) else body.encode()
    connection.putheader("Content-Length", str(len(data)))
    connection.endheaders(data)
    try:
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


class Daemons(unittest.TestCase):
    """A resource manager and a node agent on loopback."""

    keys = {}

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-strangers-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.processes = {}
        self.addCleanup(self.stop)
        self.conf = self.directory / "conf"
        self.conf.mkdir()
        scheduler, tracker, client, admin, self.rm, self.nm = free_ports(6)
        local = "127.0.0.1"
        write_site(self.conf / "core-site.xml", {"fs.defaultFS": "file:///", "hadoop.tmp.dir": self.directory / "tmp"})
        write_site(self.conf / "yarn-site.xml", {
            "yarn.resourcemanager.hostname": local,
            "yarn.resourcemanager.scheduler.address": f"{local}:{scheduler}",
            "yarn.resourcemanager.resource-tracker.address": f"{local}:{tracker}",
            "yarn.resourcemanager.address": f"{local}:{client}",
            "yarn.resourcemanager.admin.address": f"{local}:{admin}",
            "yarn.resourcemanager.webapp.address": f"{local}:{self.rm}",
            "yarn.nodemanager.hostname": local,
            "yarn.nodemanager.address": f"{local}:0",
            "yarn.nodemanager.webapp.address": f"{local}:{self.nm}",
            "yarn.nodemanager.local-dirs": self.directory / "local",
            "yarn.nodemanager.log-dirs": self.directory / "logs",
            "yarn.nodemanager.recovery.dir": self.directory / "nm-state",
            "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": 99.5,
            "yarn.nodemanager.vmem-check-enabled": "false",
            "yarn.nodemanager.delete.debug-delay-sec": 600,
            "yarn.scheduler.minimum-allocation-mb": 64,
            "yarn.scheduler.increment-allocation-mb": 64,
            **{key: str(value) for key, value in self.keys.items()},
        })
        self.spawn("rm", "rm", "--hadoop-conf", self.conf)
        self.await_port(self.rm)

    def start_node(self):
        self.spawn("nm", "nm", "--hadoop-conf", self.conf)
        until(lambda: self.json("/ws/v1/cluster/metrics")["clusterMetrics"]["activeNodes"] == 1, "the node")

    def spawn(self, name, *words):
        with open(self.directory / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen([str(w) for w in (FAIRLEAD, *words)], stdout=log, stderr=log)

    def stop(self):
        for process in reversed(self.processes.values()):
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def log(self, name):
        return (self.directory / f"{name}.log").read_text(errors="surrogateescape")

    def await_port(self, port):
        until(lambda: ask(port, "/")[0], f"port {port}")

    def json(self, target, port=None):
        status, body = ask(port or self.rm, target)
        self.assertEqual(status, 200, body)
        return json.loads(body)

    def submit(self, user, command, name="job", acls=(), **further):
        """Submits over REST; gives the application's id."""
        who = urllib.parse.quote(user)
        status, body = ask(self.rm, f"/ws/v1/cluster/apps/new-application?user.name={who}", "POST")
        self.assertEqual(status, 200, body)
        app = json.loads(body)["application-id"]
        status, body = ask(self.rm, f"/ws/v1/cluster/apps?user.name={who}", "POST", headers={"Content-Type": "application/json"}, body=json.dumps({
            "application-id": app, "application-name": name, "max-app-attempts": 1, "resource": {"memory": 64, "vCores": 1},
            "am-container-spec": {"commands": {"command": command},
                                  "application-acls": {"entry": [{"key": "VIEW_APP", "value": user} for user in acls]}}, **further}))
        self.assertEqual(status, 202, body)
        return app

    def command(self, *words):
        return subprocess.run([str(w) for w in (FAIRLEAD, *words, "--hadoop-conf", self.conf)], capture_output=True, timeout=60)


class Names(Daemons):
    """Only known names in Host, and changes from own pages alone."""

    keys = {"yarn.web-proxy.hostname": "alias.example.com", "fairlead.http.hosts": "portal.example.com, door.example.com:8443"}

    def listeners(self):
        """Each daemon's web port with a path that it serves."""
        self.start_node()
        events = self.directory / "events.jsonl"
        events.write_text("")
        (self.directory / "roots").mkdir()
        shuffle, page = free_ports(2)
        self.spawn("shuffle", "shuffle", "--port", shuffle, "--web-port", page, "--local-roots", self.directory / "roots", "--state", self.directory / "shuffle")
        self.await_port(page)
        return {"rm": (self.rm, "/ws/v1/cluster/info"), "rm own": (self.rm, "/fairlead/v1/cluster"), "rm page": (self.rm, "/cluster"),
                "rm metrics": (self.rm, "/metrics"), "rm proxy": (self.rm, "/proxy/application_1_0001/"), "nm": (self.nm, "/ws/v1/node/info"), "nm page": (self.nm, "/node"), "shuffle": (page, "/status")}

    def test_every_listener_serves_known_names_alone(self):
        own = socket.gethostname()
        for name, (port, path) in self.listeners().items():
            with self.subTest(name):
                for host in (f"127.0.0.1:{port}", f"localhost:{port}", "[::1]", f"{own}:{port}", own.upper() + "."):
                    self.assertNotIn(ask(port, path, host=host)[0], (400, 421, 403), host)
                for host in ("evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", "localhost.evil", "0x7f000001", "127.1"):
                    status, body = ask(port, path, host=host)
                    self.assertEqual(status, 421, host)
                    self.assertIn(b"fairlead.http.hosts", body)
                    self.assertEqual(ask(port, path, "POST", host=host, headers={"Origin": f"http://{host}"})[0], 421, host)
                for host in ("", "a b", "user@localhost", "localhost:port", "[::1"):
                    self.assertEqual(ask(port, path, host=host)[0], 400, host)

    def test_configured_names_are_known(self):
        for host in ("alias.example.com", f"alias.example.com:{self.rm}", "portal.example.com", "door.example.com"):
            self.assertEqual(ask(self.rm, "/ws/v1/cluster/info", host=host)[0], 200, host)

    def test_requests_without_one_host_are_refused(self):
        for head, status in (("GET / HTTP/1.1\r\n", b"400"), ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n", b"400"),
                             ("GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n", b"400"), ("GET /healthz HTTP/1.0\r\n", b"200")):
            with socket.create_connection(("127.0.0.1", self.rm), timeout=30) as connection:
                connection.sendall(f"{head}\r\n".encode())
                self.assertIn(status, connection.recv(4096).split(b"\r\n")[0], head)

    def test_a_rebound_page_submits_nothing(self):
        before = self.json("/ws/v1/cluster/metrics")["clusterMetrics"]["appsSubmitted"]
        for host in ("evil.example", f"evil.example:{self.rm}"):
            for target in ("/ws/v1/cluster/apps/new-application", "/ws/v1/cluster/apps"):
                self.assertEqual(ask(self.rm, target + "?user.name=root", "POST", host=host, headers={"Origin": f"http://{host}"}, body="{}")[0], 421)
        self.assertEqual(self.json("/ws/v1/cluster/metrics")["clusterMetrics"]["appsSubmitted"], before)

    def test_pages_of_other_sites_change_nothing(self):
        app = self.submit("alice", "true", **{"unmanaged-AM": "true"})
        own = f"127.0.0.1:{self.rm}"
        changes = [("POST", "/ws/v1/cluster/apps/new-application", ""), ("POST", "/ws/v1/cluster/apps", "{}"), ("PUT", f"/ws/v1/cluster/apps/{app}/state", '{"state":"KILLED"}'),
                   ("PUT", f"/ws/v1/cluster/apps/{app}/queue", '{"queue":"x"}'), ("PUT", f"/ws/v1/cluster/apps/{app}/priority", '{"priority":1}'),
                   ("PUT", f"/ws/v1/cluster/apps/{app}/timeout", "{}"), ("PUT", f"/proxy/{app}/kill", ""), ("DELETE", "/anything", "")]
        foreign = [{"Origin": o} for o in ("http://evil.example", "null", "http://127.0.0.1", f"http://127.0.0.1:{self.nm}", f"http://localhost:{self.rm}")]
        foreign += [{"Sec-Fetch-Site": s} for s in ("cross-site", "same-site")] + [{"Origin": f"http://{own}", "Sec-Fetch-Site": "cross-site"}]
        for method, target, body in changes:
            for headers in foreign:
                status, _ = ask(self.rm, target + "?user.name=alice", method, headers={"Content-Type": "application/json", **headers}, body=body)
                self.assertEqual(status, 403, f"{method} {target} {headers}")
        self.assertNotIn(self.json(f"/ws/v1/cluster/apps/{app}/state")["state"], ("KILLED", "FAILED"))
        for headers in ({"Origin": f"http://{own}", "Sec-Fetch-Site": "same-origin"}, {"Origin": "https://portal.example.com"}, {"Origin": "https://door.example.com:8443"}, {}):
            self.assertEqual(ask(self.rm, "/ws/v1/cluster/apps/new-application", "POST", headers=headers)[0], 200, headers)


class AnyName(Daemons):
    keys = {"fairlead.http.hosts": "*"}

    def test_a_star_serves_every_name_and_says_what_that_means(self):
        self.assertEqual(ask(self.rm, "/ws/v1/cluster/info", host="evil.example")[0], 200)
        self.assertEqual(ask(self.rm, "/ws/v1/cluster/apps/new-application", "POST", host="evil.example", headers={"Origin": "http://other.example"})[0], 403)
        self.assertIn("fairlead.http.hosts is *", self.log("rm"))


class Texts(Daemons):
    """What strangers write into names is shown, never obeyed, and never breaks a form."""

    HOSTILE = "a\x1b]0;owned\x07\x1b[2J\x7f\u009b31m\u202egnp\r\nFAKE ROW\t<b>&\"'"

    def test_names_break_neither_forms_nor_terminals(self):
        app = self.submit("al\x1bice", "true", name=self.HOSTILE, **{"unmanaged-AM": "true", "application-type": "T\x1b[1m"})
        # A name that is not UTF-8: as bytes, since JSON carries none.
        xml_app = json.loads(ask(self.rm, "/ws/v1/cluster/apps/new-application", "POST")[1])["application-id"]
        body = (f"<application-submission-context><application-id>{xml_app}</application-id><unmanaged-AM>true</unmanaged-AM><application-name>").encode()
        body += b"bad \xff\xfe\xed\xa0\x80 \xef\xbf\xbf</application-name></application-submission-context>"
        status, answer = ask(self.rm, "/ws/v1/cluster/apps?user.name=%FFeve%1B", "POST", headers={"Content-Type": "application/xml"}, body=body)
        self.assertEqual(status, 202, answer)
        for target in ("/ws/v1/cluster/apps", f"/ws/v1/cluster/apps/{app}", f"/ws/v1/cluster/apps/{xml_app}", "/ws/v1/cluster/scheduler"):
            _, text = ask(self.rm, target, headers={"Accept": "application/xml"})
            xml.etree.ElementTree.fromstring(text)
            json.loads(ask(self.rm, target, headers={"Accept": "application/json"})[1])
        for target in ("/fairlead/v1/apps", f"/fairlead/v1/apps/{app}", f"/fairlead/v1/apps/{xml_app}", "/fairlead/v1/queues", "/metrics"):
            self.assertNotRegex(ask(self.rm, target)[1].decode(), CONTROL, target)
        for words in (["apps", "--all"], ["apps", "--all", "--json"], ["app", app], ["app", xml_app], ["app", "--json", app], ["queues"]):
            shown = self.command(*words)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertNotRegex(shown.stdout.decode(), CONTROL, words)
            self.assertFalse([line for line in shown.stdout.decode().splitlines() if line.startswith("FAKE")], words)
        self.assertNotRegex(self.log("rm"), CONTROL)

    def test_messages_about_strange_words_show_them(self):
        for words in (["app", "application_\x1b[2J"], ["kill", "x\x9b\x1b"], ["apps", "--state", "\x1b[31m"]):
            shown = self.command(*words)
            self.assertNotEqual(shown.returncode, 0)
            self.assertNotRegex(shown.stderr.decode(errors="surrogateescape"), CONTROL, words)
        status, body = ask(self.rm, "/proxy/%1B%5B2J/")
        self.assertEqual(status, 404)
        self.assertNotRegex(body.decode(), CONTROL)


if __name__ == "__main__":
    unittest.main(verbosity=2)
