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
from waiting import until  # noqa: E402

BUILD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build"))
FAIRLEAD = BUILD / "fairlead"
# What a terminal obeys: C0 but for line ends and tabs, DEL, C1, turns of direction.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


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
        self.write_queues()
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

    def write_queues(self):
        pass

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


class ProxyPort(Daemons):
    """Masters' pages on a port of their own are another site than the manager's."""

    def setUp(self):
        self.proxy = free_ports(1)[0]
        self.keys = {"yarn.web-proxy.address": f"127.0.0.1:{self.proxy}"}
        super().setUp()

    def test_the_manager_leads_there_and_listens_to_none_of_its_pages(self):
        app = self.submit("alice", "true", **{"unmanaged-AM": "true"})
        connection = http.client.HTTPConnection("127.0.0.1", self.rm, timeout=30)
        self.addCleanup(connection.close)
        connection.request("GET", f"/proxy/{app}/jobs?x=1")
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.getheader("Location")), (302, f"http://127.0.0.1:{self.proxy}/proxy/{app}/jobs?x=1"))
        for port in (self.rm, self.proxy):
            asked = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            self.addCleanup(asked.close)
            asked.request("OPTIONS", f"/proxy/{app}/")
            self.assertEqual(asked.getresponse().getheader("Allow"), "GET, HEAD, PUT, OPTIONS", "no POST, which it refuses")
            self.assertEqual(ask(port, f"/proxy/{app}/", "POST", headers={"Origin": f"http://127.0.0.1:{port}"})[0], 405)
        for target in ("/ws/v1/cluster/info", "/fairlead/v1/apps", "/cluster", "/metrics"):
            self.assertEqual(ask(self.proxy, target)[0], 404, target)
        self.assertEqual(ask(self.proxy, f"/proxy/{app}/", host="evil.example")[0], 421)
        self.assertIn(ask(self.proxy, f"/proxy/{app}/")[0], (302, 502))
        page = {"Origin": f"http://127.0.0.1:{self.proxy}", "Sec-Fetch-Site": "same-site"}
        self.assertEqual(ask(self.rm, f"/ws/v1/cluster/apps/{app}/state?user.name=alice", "PUT", headers=page, body='{"state":"KILLED"}')[0], 403)
        self.assertEqual(ask(self.proxy, f"/proxy/{app}/x", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"})[0], 403)


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


class Views(Daemons):
    """By RPC, REST and page the same people see an application: its owner, those on its list, administrators."""

    keys = {"yarn.acl.enable": "true", "yarn.admin.acl": "boss"}

    def setUp(self):
        self.keys = {**self.keys, "yarn.scheduler.fair.allocation.file": "fair-scheduler.xml"}
        super().setUp()

    def write_queues(self):
        (self.conf / "fair-scheduler.xml").write_text(
            '<allocations><queue name="root"><aclSubmitApps>*</aclSubmitApps><aclAdministerApps> </aclAdministerApps></queue></allocations>')

    def as_user(self, user, port, target):
        mark = "&" if "?" in target else "?"
        status, body = ask(port, target + (f"{mark}user.name={user}" if user else ""))
        return status, body.decode()

    def test_who_may_not_see_an_application_sees_none_of_its_secrets(self):
        self.start_node()
        app = self.submit("alice", "echo secret-of-alice > <LOG_DIR>/stdout; sleep 600", name="plan-of-alice", acls=["carol"])
        other = self.submit("bob", "sleep 600")
        def container_of(user, application):
            attempts = json.loads(self.as_user(user, self.rm, f"/fairlead/v1/apps/{application}")[1])["attempts"]
            return attempts and attempts[0]["master"]
        container = until(lambda: container_of("alice", app), "the master's container")
        until(lambda: container_of("bob", other), "the other's")
        attempt = container.replace("container_", "appattempt_").rsplit("_", 1)[0]
        attempt = "_".join([*attempt.split("_")[:3], attempt.split("_")[3].zfill(6)])
        logs = [f"/ws/v1/node/containerlogs/{container}/stdout", f"/ws/v1/node/containers/{container}/logs/stdout", f"/node/containerlogs/{container}/alice/stdout/?start=0"]
        until(lambda: "secret-of-alice" in self.as_user("alice", self.nm, logs[0])[1], "the log")
        node = json.loads(self.as_user("boss", self.rm, "/fairlead/v1/nodes")[1])["nodes"][0]["id"]
        nm_pages = [*logs, f"/ws/v1/node/containers/{container}", f"/ws/v1/node/containers/{container}/logs", f"/node/containerlogs/{container}/alice", f"/ws/v1/node/apps/{app}"]
        rm_pages = [f"/ws/v1/cluster/apps/{app}/appattempts", f"/ws/v1/cluster/apps/{app}/appattempts/{attempt}", f"/ws/v1/cluster/apps/{app}/appattempts/{attempt}/containers",
                    f"/ws/v1/cluster/apps/{app}/appattempts/{attempt}/containers/{container}"]
        lists = [(self.nm, "/ws/v1/node/containers"), (self.nm, "/ws/v1/node/apps"), (self.nm, "/node"), (self.rm, f"/fairlead/v1/apps/{app}"), (self.rm, f"/ws/v1/cluster/apps/{app}"),
                 (self.rm, "/ws/v1/cluster/apps"), (self.rm, "/fairlead/v1/events?limit=1000"), (self.rm, f"/fairlead/v1/nodes/{node}")]
        for user, sees in (("alice", True), ("carol", True), ("boss", True), ("bob", False), ("dr.who", False), ("", False), ("alice ", False), ("ALICE", False)):
            who = urllib.parse.quote(user)
            for port, target in [(self.nm, page) for page in nm_pages] + [(self.rm, page) for page in rm_pages]:
                self.assertEqual(self.as_user(who, port, target)[0], 200 if sees else 403, f"{user!r} {target}")
            for port, target in lists:
                shown = self.as_user(who, port, target)[1]
                self.assertEqual(container in shown or (app in shown and target == "/ws/v1/node/apps"), sees, f"{user!r} {target}")
            own = json.loads(self.as_user(who, self.rm, f"/fairlead/v1/apps/{app}")[1])
            self.assertEqual((own["hidden"], bool(own["attempts"]), own["containers"]), (not sees, sees, 1 if sees else 0), user)
            listed = {one["id"]: one for one in json.loads(self.as_user(who, self.rm, "/fairlead/v1/apps")[1])["apps"]}
            self.assertEqual(listed[app]["hidden"], not sees, user)
            # Answers about the future: what somebody may not see is in sums alone, and cannot be asked about.
            self.assertEqual(self.as_user(who, self.rm, f"/fairlead/v1/apps/{app}/when")[0], 200 if sees else 403, user)
            for change, code in ((f"lose-node {node}", 200), ("add-nodes 1", 200), (f"kill {app}", 200 if sees else 400), (f"move {app}=root.default", 200 if sees else 400)):
                status, told = ask(self.rm, f"/fairlead/v1/what-if?user.name={who}", "POST", body=json.dumps({"changes": [change]}), headers={"Content-Type": "application/json"})
                self.assertEqual(status, code, (user, change, told))
                self.assertEqual("plan-of-alice" in told.decode(), sees and not change.startswith("kill"), (user, change, told))
        # An application that one may see opens no other's containers.
        mine = f"/ws/v1/cluster/apps/{other}/appattempts/{attempt.replace(app.split('_', 1)[1], other.split('_', 1)[1])}"
        self.assertEqual(self.as_user("bob", self.rm, mine)[0], 200)
        self.assertEqual(self.as_user("bob", self.rm, f"{mine}/containers/{container}")[0], 404)
        # RPC and commands.
        for user, sees in (("alice", True), ("bob", False)):
            shown = self.command("app", app, "--user", user, "--json")
            self.assertEqual("attempts" in shown.stdout.decode() and container in shown.stdout.decode(), sees)
            shown = self.command("logs", app, "--user", user)
            self.assertEqual(b"secret-of-alice" in shown.stdout, sees)

    def test_who_may_not_see_an_engine_job_sees_nothing_of_its_driver_either(self):
        self.start_node()
        job = subprocess.run([FAIRLEAD, "submit", "--hadoop-conf", self.conf, "--user", "alice", "--detach", "--viewers", "carol", "--executors", "1", "--executor-memory", "128m",
                              "--driver-memory", "128m", BUILD / "tests/engine_faults", "crash", self.directory / "never"], capture_output=True, text=True, timeout=60)
        self.assertEqual(job.returncode, 0, job.stderr)
        app = job.stdout.strip()
        page = f"/proxy/{app}/history.json"
        until(lambda: "before" in self.as_user("alice", self.rm, page)[1], "the driver's page with the job's stage")
        for user, sees in (("carol", True), ("boss", True), ("bob", False), ("dr.who", False), ("", False)):
            for target in (page, f"/proxy/{app}/events.jsonl", f"/proxy/{app}/running.json"):
                status, text = self.as_user(user, self.rm, target)
                self.assertEqual(status, 200 if sees else 302, f"{user} {target}")
                if not sees or target == page:
                    self.assertEqual("before" in text, sees, f"{user} {target}")
        # At its own port nobody is known: whatever he says of himself, he is led to the manager.
        url = urllib.parse.urlparse(json.loads(self.as_user("alice", self.rm, f"/ws/v1/cluster/apps/{app}")[1])["app"]["trackingUrl"])
        self.assertEqual(url.path, f"/proxy/{app}/")
        driver = until(lambda: self.listener_of("crash"), "the driver's port")
        for headers in ({}, {"Cookie": "proxy-user=alice"}, {"Fairlead-Page-Secret": ""}, {"Fairlead-Page-Secret": "a" * 44}):
            for target in ("/history.json", "/history.json?user.name=alice", "/events.jsonl", "/running.json", "/static/history.html", "/"):
                status, text = ask(driver, target, headers=headers)
                self.assertEqual((status, b"before" in text), (302, False), f"{target} {headers}")
        connection = http.client.HTTPConnection("127.0.0.1", driver, timeout=30)
        self.addCleanup(connection.close)
        connection.request("GET", "/history.json?a=b")
        self.assertEqual(connection.getresponse().getheader("Location"), f"http://127.0.0.1:{self.rm}{page}?a=b")

    def listener_of(self, word):
        """The port of the web page of a driver of ours with this argument: where it answers HTTP."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if word.encode() not in words[1:2] or str(self.directory).encode() not in b" ".join(words):
                    continue
                sockets = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
            except OSError:
                continue
            for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] != "0A" or f"socket:[{fields[9]}]" not in sockets:
                    continue
                port = int(fields[1].split(":")[1], 16)
                try:
                    if ask(port, "/")[0]:
                        return port
                except (OSError, http.client.HTTPException):
                    pass
        return None

    def test_nodes_and_queues_are_changed_by_administrators_alone(self):
        self.start_node()
        node = until(lambda: json.loads(ask(self.rm, "/fairlead/v1/nodes")[1])["nodes"], "the node")[0]["id"]
        changes = [(f"/fairlead/v1/nodes/{node}/state", "PUT", b'{"state": "DECOMMISSIONED"}'), ("/fairlead/v1/queues/refresh", "POST", b"{}")]
        for target, method, body in changes:
            for user in ("bob", "", "BOSS"):
                self.assertEqual(ask(self.rm, f"{target}?user.name={user}", method, body=body)[0], 403, f"{user!r} {target}")
            origin = {"Origin": "http://evil.example"}
            self.assertEqual(ask(self.rm, f"{target}?user.name=boss", method, headers=origin, body=body)[0], 403, target)
        for body in (b"", b"[]", b"{}", b'{"state": 7}', b'{"state": "LOST"}', b'{"state": "DECOMMISSIONED", "state": null}', b"[" * 100000):
            self.assertEqual(ask(self.rm, f"{changes[0][0]}?user.name=boss", "PUT", body=body)[0], 400, body[:40])
        self.assertEqual(json.loads(ask(self.rm, "/fairlead/v1/nodes")[1])["nodes"][0]["state"], "RUNNING")
        self.assertEqual(ask(self.rm, "/fairlead/v1/queues/refresh?user.name=boss", "POST", body=b"{}")[0], 200)
        self.assertEqual(ask(self.rm, "/fairlead/v1/nodes/nosuch:1/state?user.name=boss", "PUT", body=b'{"state": "RUNNING"}')[0], 404)
        self.assertIn("audit: the queues' file is read again by boss from", self.log("rm"))

    def test_unknown_applications_are_the_administrators(self):
        self.start_node()
        ghost = "container_1700000000000_0001_01_000001"
        self.assertEqual(self.as_user("bob", self.nm, f"/ws/v1/node/containers/{ghost}/logs")[0], 403)
        self.assertEqual(self.as_user("boss", self.nm, f"/ws/v1/node/containers/{ghost}/logs")[0], 404)


class FilteredLists(Daemons):
    """Keys of Hadoop's that keep rows from who may not see them, submissions from REST, and rights from who has no name."""

    keys = {"yarn.acl.enable": "true", "yarn.admin.acl": "boss", "yarn.scheduler.fair.allocation.file": "fair-scheduler.xml",
            "yarn.webapp.filter-entity-list-by-user": "true", "hadoop.http.staticuser.user": "carol"}
    write_queues = Views.write_queues

    def test_a_list_has_what_its_reader_may_see(self):
        app = self.submit("alice", "sleep 600", acls=["carol"])
        other = self.submit("bob", "sleep 600")
        for user, seen in (("alice", {app}), ("carol", {app}), ("boss", {app, other}), ("bob", {other}), ("dr.who", set()), ("", {app})):
            who = f"?user.name={user}" if user else ""
            listed = json.loads(ask(self.rm, f"/ws/v1/cluster/apps{who}")[1])["apps"].get("app", [])
            self.assertEqual({one["id"] for one in listed}, seen, user)
            own = json.loads(ask(self.rm, f"/fairlead/v1/apps{who}")[1])
            self.assertEqual({one["id"] for one in own["apps"]}, seen, user)
        self.assertEqual(ask(self.rm, f"/ws/v1/cluster/apps/{app}?user.name=bob")[0], 200)  # as Hadoop: it is no list
        for user, sees in (("alice", True), ("bob", False)):
            listed = self.command("apps", "--user", user)
            self.assertEqual(app in listed.stdout.decode(), sees, listed)


class NoSubmissionsByRest(Daemons):
    keys = {"yarn.webapp.enable-rest-app-submissions": "false"}

    def test_rest_takes_no_application(self):
        for target in ("/ws/v1/cluster/apps/new-application", "/ws/v1/cluster/apps"):
            status, body = ask(self.rm, f"{target}?user.name=alice", "POST", headers={"Content-Type": "application/json"}, body="{}")
            self.assertEqual((status, body), (403, b"App submission via REST is disabled."), target)


class Up(unittest.TestCase):
    """`fairlead up` keeps to its directory, its processes and its user."""

    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-up-test-"))
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)
        self.directory = self.work / "D"

    def up(self, *words, directory=None):
        ready = self.work / f"ready{time.monotonic_ns()}"
        process = subprocess.Popen([FAIRLEAD, "up", "--nodes", "2", "--memory", "512", "--directory", directory or self.directory, "--ready-file", ready, *words],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(self.end, process)
        def is_ready():
            if process.poll() is not None:
                raise AssertionError(process.communicate()[0].decode())
            return ready.exists()
        until(is_ready, "the cluster")
        site = (self.directory / "conf/yarn-site.xml").read_text()
        self.ports = [int(port) for port in re.findall(r"<value>127.0.0.1:(\d+)</value>", site)]
        self.web = int(re.search(r"webapp.address</name><value>127.0.0.1:(\d+)", site)[1])
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.terminate()
            process.wait(timeout=60)
        process.stdout.close()

    def pids(self, word):
        """Daemons of this cluster, by their command lines: for the test's eyes alone."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            except OSError:
                continue
            if len(words) > 2 and words[1] == word.encode() and any(str(self.directory).encode() in w for w in words):
                found.append(int(entry.name))
        return found

    def test_the_directory_is_its_users_alone(self):
        self.up()
        for path in [self.directory, *(self.directory / name for name in ("conf", "logs", "rm", "tmp"))]:
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)

    def test_a_directory_with_other_things_is_left_alone(self):
        self.directory.mkdir(mode=0o755)
        (self.directory / "precious").write_text("x")
        (self.directory / "precious").chmod(0o644)
        process = subprocess.run([FAIRLEAD, "up", "--directory", self.directory], capture_output=True, timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn(b"holds other things", process.stderr)
        self.assertEqual([(self.directory / "precious").stat().st_mode & 0o777, self.directory.stat().st_mode & 0o777], [0o644, 0o755])
        self.assertEqual(list(self.directory.iterdir()), [self.directory / "precious"])
        link = self.work / "link"
        (self.work / "target").mkdir()
        link.symlink_to(self.work / "target")
        process = subprocess.run([FAIRLEAD, "up", "--directory", link], capture_output=True, timeout=60)
        self.assertEqual(process.returncode, 1, process.stderr)

    def test_a_second_one_is_refused_and_harms_nothing(self):
        self.up()
        before = (self.directory / "conf/yarn-site.xml").read_bytes()
        second = subprocess.run([FAIRLEAD, "up", "--directory", self.directory, "--nodes", "1"], capture_output=True, timeout=60)
        self.assertEqual(second.returncode, 1)
        self.assertIn(b"is up in", second.stderr)
        self.assertEqual((self.directory / "conf/yarn-site.xml").read_bytes(), before)
        self.assertEqual(ask(self.web, "/healthz")[0], 200)

    def test_taken_ports_are_named(self):
        for _ in range(20):  # the rest of the block may be another program's: then another block
            with socket.socket() as taken:
                taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                taken.bind(("127.0.0.1", 0))
                taken.listen()
                port = taken.getsockname()[1]
                second = subprocess.run([FAIRLEAD, "up", "--port-base", str(port - 32)], capture_output=True, timeout=60)
            self.assertEqual(second.returncode, 1)
            named = re.search(rb"port (\d+) is taken", second.stderr)
            self.assertIsNotNone(named, second.stderr)
            if int(named[1]) == port:
                return
        self.fail(f"named {named[1]}, not {port}")

    def strangers(self):
        """Processes that name the directory, stand in it, and claim to be of it, and are not of it."""
        inside = self.directory / "tmp"
        sleepers = [subprocess.Popen(["sleep", "600"], cwd=inside),
                    subprocess.Popen(["bash", "-c", f"exec -a '{FAIRLEAD} nm --hadoop-conf {self.directory}/conf' sleep 600"]),
                    subprocess.Popen(["sleep", "600"], env={**os.environ, "FAIRLEAD_UP": str(self.directory)}),
                    subprocess.Popen(["tail", "-f", self.directory / "conf/yarn-site.xml"], stdout=subprocess.DEVNULL)]
        for sleeper in sleepers:
            self.addCleanup(sleeper.wait)
            self.addCleanup(sleeper.kill)
        return sleepers

    def check_end(self, process, how):
        strangers = self.strangers()
        runners = [int(pid) for pid in pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
        mine = [pid for word in ("rm", "nm", "supervise") for pid in self.pids(word)]
        self.assertGreaterEqual(len(mine), 3)
        how(process.pid, runners)
        process.wait(timeout=60)
        until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in [*mine, *runners]), "the end of its own processes")
        for stranger in strangers:
            self.assertIsNone(stranger.poll(), stranger.args)

    def test_its_end_ends_its_own_processes_and_no_others(self):
        self.check_end(self.up(), lambda guard, runners: os.kill(guard, signal.SIGTERM))

    def test_kill_of_the_guard_ends_its_own_processes_and_no_others(self):
        self.check_end(self.up(), lambda guard, runners: os.kill(guard, signal.SIGKILL))

    def test_kill_of_the_runner_ends_its_own_processes_and_no_others(self):
        self.check_end(self.up(), lambda guard, runners: [os.kill(pid, signal.SIGKILL) for pid in runners])

    def test_a_killed_node_is_started_again(self):
        self.up()
        nodes = self.pids("nm")
        self.assertEqual(len(nodes), 2)
        os.kill(nodes[0], signal.SIGKILL)
        until(lambda: len(set(self.pids("nm")) - {nodes[0]}) == 2, "a new node agent")
        def active():
            return json.loads(ask(self.web, "/ws/v1/cluster/metrics")[1])["clusterMetrics"]["activeNodes"] == 2
        until(active, "two nodes")

    @unittest.skipIf(os.geteuid() != 0, "needs root, to act as another user")
    def test_other_users_processes_are_not_served(self):
        probe = ("import socket,sys\ns=socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)\ns.settimeout(5)\n"
                 "try:\n s.sendall(b'GET /healthz HTTP/1.0\\r\\n\\r\\n')\n d=s.recv(100)\nexcept OSError:\n d=b''\nprint(d)")
        def as_nobody(port):
            return subprocess.run(["/usr/bin/python3", "-c", probe, str(port)], user=65534, group=65534, extra_groups=[], capture_output=True, timeout=30, cwd="/").stdout
        # Closed at once: the peer is gone when it is asked whose it is.
        rude = ("import socket,sys\nfor i in range(200):\n s=socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)\n"
                " s.sendall(b'POST /ws/v1/cluster/apps/new-application HTTP/1.0\\r\\nContent-Length: 0\\r\\n\\r\\n')\n s.close()\n")
        process = self.up()
        self.assertEqual(ask(self.web, "/healthz")[0], 200)
        node = next(int(port) for port in re.findall(r":(\d+)", " ".join(
            n["nodeHTTPAddress"] for n in json.loads(ask(self.web, "/ws/v1/cluster/nodes")[1])["nodes"]["node"])))
        self.assertIn(b"200 OK", subprocess.run([sys.executable, "-c", probe, str(self.web)], capture_output=True, timeout=30).stdout)
        for port in [*self.ports, node, self.web - 88 + 137, self.web - 88 + 162]:
            self.assertRegex(as_nobody(port).strip(), rb"^b'(HTTP/1\.1 403 Forbidden.*)?'$", port)  # told why, or nothing
        def next_id():
            return json.loads(ask(self.web, "/ws/v1/cluster/apps/new-application", "POST")[1])["application-id"].rsplit("_", 1)[1]
        first = int(next_id())
        subprocess.run(["/usr/bin/python3", "-c", rude, str(self.web)], user=65534, group=65534, extra_groups=[], capture_output=True, timeout=60, cwd="/")
        self.assertEqual(int(next_id()), first + 1, "a closed connection of a stranger was served")
        self.end(process)
        self.up("--any-user")
        self.assertIn(b"200 OK", as_nobody(self.web))

    @unittest.skipIf(os.geteuid() != 0, "needs root")
    def test_root_is_warned(self):
        process = self.up()
        process.terminate()
        self.assertIn("runs as root", process.communicate()[0].decode())


class OpenPorts(unittest.TestCase):
    def test_beyond_loopback_one_line_says_what_that_means(self):
        def loud_with(*settings):
            words = [word for setting in ("yarn.resourcemanager.bind-host=0.0.0.0", "yarn.nodemanager.bind-host=0.0.0.0", *settings) for word in ("--set", setting)]
            shown = subprocess.run([FAIRLEAD, "config", "check", *words], capture_output=True, timeout=60).stdout.decode()
            self.assertIn("auxiliary services", shown)
            return [line for line in shown.splitlines() if "OPEN TO THE NETWORK WITHOUT AUTHENTICATION" in line], shown
        self.assertEqual(loud_with()[0], [], "nobody is believed")
        loud, shown = loud_with("fairlead.auth=simple")
        self.assertEqual([line.split(":")[0] for line in loud], ["rm", "nm"], shown)
        self.assertIn("0.0.0.0:8032", loud[0])
        self.assertIn("any user's name", loud[0])

    def test_where_names_are_believed_on_loopback_one_line_says_so(self):
        def said(*settings, hadoop_conf=True):
            with tempfile.TemporaryDirectory(prefix="fairlead-") as directory:
                pathlib.Path(directory, "core-site.xml").write_text("<configuration/>")
                words = ["--hadoop-conf", directory] if hadoop_conf else []
                ports = [f"yarn.resourcemanager.{port}=127.0.0.1:0" for port in ("address", "scheduler.address", "resource-tracker.address", "admin.address", "webapp.address")]
                for setting in (*ports, f"fairlead.rm.state-dir={directory}/state", *settings):
                    words += ["--set", setting]
                lines = []
                with subprocess.Popen([FAIRLEAD, "rm", *words], stderr=subprocess.PIPE, env={**os.environ, "HOME": directory}, text=True) as process:
                    for line in process.stderr:
                        lines.append(line)
                        if "is ready" in line:
                            process.terminate()
                self.assertIn("is ready", "".join(lines))
                return [line for line in lines if "every user of this machine reaches 127.0.0.1:0" in line and "names that callers give are believed" in line]
        self.assertEqual(len(said()), 1, "an empty Hadoop configuration")
        self.assertEqual(len(said("fairlead.auth=simple", hadoop_conf=False)), 1)
        self.assertEqual(said("fairlead.auth=credentials"), [])
        self.assertEqual(said(f"fairlead.callers.uids={os.getuid()}"), [])
        self.assertEqual(said(hadoop_conf=False), [], "nobody is believed")


if __name__ == "__main__":
    unittest.main(verbosity=2)
