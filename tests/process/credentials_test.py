#!/usr/bin/env python3
"""A cluster without a KDC that believes nobody by his name (fairlead.auth=credentials): real processes on this machine and, in network namespaces, on others.
Needs root, for the other machines alone."""
import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/interop"), str(ROOT / "tests/process")]
import namespaces  # noqa: E402
import peers  # noqa: E402
import zookeeper  # noqa: E402
from commands_test import SCHEMA, differences  # noqa: E402
from waiting import until  # noqa: E402

FAIRLEAD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build")) / "fairlead"
PORTS = ("", ".scheduler", ".resource-tracker", ".admin", ".webapp")


@unittest.skipIf(namespaces.missing(), namespaces.missing() or "")
class OtherMachines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-credentials-"))
        cls.work.chmod(0o755)
        cls.addClassCleanup(shutil.rmtree, cls.work, ignore_errors=True)
        cls.machines = namespaces.Machines("laptop", "worker", "stranger", "trusted")
        cls.addClassCleanup(cls.machines.remove)
        ports = dict(zip(PORTS, peers.free_ports(len(PORTS))))
        cls.web = f"http://{cls.machines.here}:{ports['.webapp']}"
        settings = {f"yarn.resourcemanager{name}.address": f"{cls.machines.here}:{port}" for name, port in ports.items()}
        settings |= {"yarn.resourcemanager.hostname": cls.machines.here, "fairlead.auth": "credentials", "fairlead.auth.networks": cls.machines.address("trusted"),
                     "fairlead.auth.users": "bob", "yarn.nm.liveness-monitor.expiry-interval-ms": "3000"}
        cls.conf = cls.work / "rm.yaml"
        cls.conf.write_text("hadoop:\n" + "".join(f"  {key}: \"{value}\"\n" for key, value in settings.items()))
        cls.start_rm()
        cls.homes = {}
        for machine in cls.machines.numbers:
            home = cls.homes[machine] = cls.work / machine
            home.mkdir()
            os.chown(home, pwd.getpwnam("nobody").pw_uid, -1)

    @classmethod
    def start_rm(cls):
        log = open(cls.work / "rm.log", "ab")
        cls.addClassCleanup(log.close)
        cls.rm = subprocess.Popen([FAIRLEAD, "rm", "--config", cls.conf, "--set", f"fairlead.rm.state-dir={cls.work}/state"], stdout=log, stderr=log)
        cls.addClassCleanup(cls.end, cls.rm)
        cls.wait(lambda: subprocess.run(["curl", "-sf", f"{cls.web}/readyz"], capture_output=True).returncode == 0, "the resource manager")

    @staticmethod
    def end(process):
        process.terminate()
        process.wait(timeout=30)

    wait = staticmethod(until)

    def here(self, *words, **environment):
        return subprocess.run([FAIRLEAD, *words, "--config", self.conf], capture_output=True, text=True, timeout=60, cwd=self.work, env=os.environ | environment)

    def at(self, machine, *words, **environment):
        """What nobody there runs."""
        home = self.homes[machine]
        settings = [f"{key}={value}" for key, value in ({"HOME": str(home), "PATH": os.environ["PATH"]} | environment).items()]
        return subprocess.run([*self.machines.within(machine), "runuser", "-u", "nobody", "--", "env", "-i", *settings, *map(str, words)], capture_output=True, text=True, timeout=60, cwd=home)

    def fetch(self, machine, path, *words):
        """Status and body."""
        answer = self.at(machine, "curl", "-s", "--max-time", "20", "-w", "\n%{http_code}", *words, self.web + path)
        body, status = answer.stdout.rsplit("\n", 1)
        return int(status), body

    def make(self, kind, name, machine, *words):
        """The file, which the machine's user has."""
        file = self.homes[machine] / f"{name}.credential"
        made = self.here("credentials", "make", f"--{kind}", name, "--out", file, "--json", *words)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(differences(json.loads(made.stdout), SCHEMA["commands"]["credentials make"]), [])
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        os.chown(file, pwd.getpwnam("nobody").pw_uid, -1)
        return file

    @staticmethod
    def text(file):
        [line] = [line for line in file.read_text().splitlines() if "fairlead.auth.credential:" in line]
        return line.split('"')[1]

    def nodes(self):
        return {node["id"].split(":")[0]: node["state"] for node in json.loads(self.here("nodes", "--json").stdout)}

    def test_this_machine_is_known_by_the_kernel(self):
        self.assertEqual(self.here("nodes").returncode, 0)
        self.assertEqual(self.here("nodes", HADOOP_USER_NAME="bob").returncode, 0, "root can be anybody")
        refused = subprocess.run(["runuser", "-u", "nobody", "--", FAIRLEAD, "nodes", "--config", self.conf], capture_output=True, text=True, timeout=60, cwd="/", env=os.environ | {"HADOOP_USER_NAME": "bob"})
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertIn("this process is nobody's, and acts as nobody alone; drop HADOOP_USER_NAME (--user)", refused.stderr)
        asked = subprocess.run(["runuser", "-u", "nobody", "--", "curl", "-s", f"{self.web}/ws/v1/cluster/userinfo?user.name=bob"], capture_output=True, text=True, timeout=30)
        self.assertEqual(json.loads(asked.stdout)["requestedUser"], "nobody")

    def test_a_stranger_is_told_what_to_do(self):
        asked = self.at("stranger", FAIRLEAD, "nodes", "--set", f"yarn.resourcemanager.address={self.address('')}", HADOOP_USER_NAME="root")
        self.assertEqual(asked.returncode, 1, asked.stderr)
        self.assertIn(f"User root at {self.machines.address('stranger')} is not known here; 'fairlead credentials make --client NAME'", asked.stderr)
        for path in ("/cluster", "/ws/v1/cluster/apps?user.name=root", "/metrics", "/fairlead/v1/credentials"):
            status, body = self.fetch("stranger", path)
            self.assertEqual(status, 401, path)
            self.assertIn("fairlead join FILE", body)
        self.assertEqual(self.fetch("stranger", "/healthz")[0], 200)
        status, _ = self.fetch("stranger", "/fairlead/v1/credentials/mine?user.name=root", "-X", "PUT", "-d", '{"kind": "client", "user": "root"}')
        self.assertEqual(status, 401)

    def address(self, name):
        [line] = [line for line in self.conf.read_text().splitlines() if f"yarn.resourcemanager{name}.address:" in line]
        return line.split('"')[1]

    def test_a_node_that_pretends(self):
        log = self.work / "pretends.log"
        words = [FAIRLEAD, "nm", "--set", f"yarn.resourcemanager.resource-tracker.address={self.address('.resource-tracker')}", *self.node_settings("stranger")]
        with log.open("wb") as output:
            process = subprocess.Popen([*self.machines.within("stranger"), "runuser", "-u", "nobody", "--", *map(str, words)], stdout=output, stderr=output, cwd=self.homes["stranger"])
            self.addCleanup(self.end, process)
            self.wait(lambda: "'fairlead credentials make --node NAME'" in log.read_text(), "its refusal")
        self.assertNotIn(self.machines.address("stranger"), self.nodes())

    def node_settings(self, machine):
        settings = {"yarn.nodemanager.hostname": self.machines.address(machine), "yarn.nodemanager.address": f"{self.machines.address(machine)}:0",
                    "yarn.nodemanager.webapp.address": f"{self.machines.address(machine)}:0", "hadoop.tmp.dir": self.homes[machine] / "tmp",
                    "yarn.nodemanager.local-dirs": self.homes[machine] / "local", "yarn.nodemanager.log-dirs": self.homes[machine] / "logs",
                    "yarn.nodemanager.recovery.dir": self.homes[machine] / "state", "fairlead.nm.cgroups": "false",
                    "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": 99.5}
        return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]

    def start_node(self, machine, log):
        """A node agent there, with what its user has joined with."""
        words = ["runuser", "-u", "nobody", "--", "env", f"HOME={self.homes[machine]}", str(FAIRLEAD), "nm", *map(str, self.node_settings(machine))]
        with log.open("wb") as output:
            process = subprocess.Popen([*self.machines.within(machine), *words], stdout=output, stderr=output, cwd=self.homes[machine])
        self.addCleanup(self.end, process)
        self.wait(lambda: self.nodes().get(self.machines.address(machine)) == "RUNNING", "the node")

    def test_pages_of_nodes(self):
        """A node knows no credentials: the manager gives passes for it, to commands and to browsers."""
        for kind, name, machine in (("node", "shown", "worker"), ("client", "reader", "laptop")):
            self.assertEqual(self.at(machine, FAIRLEAD, "join", self.make(kind, name, machine)).returncode, 0)
        self.start_node("worker", self.work / "shown.log")
        [page] = [node["httpAddress"] for node in json.loads(self.here("nodes", "--json").stdout) if node["id"].startswith(self.machines.address("worker") + ":")]
        for machine in ("laptop", "stranger"):
            self.assertEqual(self.at(machine, "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", f"http://{page}/ws/v1/node/info").stdout, "401")
        token = self.text(self.homes["laptop"] / "reader.credential")
        browser = ("curl", "-s", "--max-time", "20", "-H", "Accept: text/html", "-w", "\n%{http_code} %{num_redirects} %{url_effective}")
        cookies = self.homes["laptop"] / "cookies"
        shown = self.at("laptop", *browser, "-L", "-b", cookies, "-c", cookies, "--location-trusted", "-u", f"any:{token}", f"http://{page}/node?a=b").stdout
        self.assertIn(f"\n200 2 http://{page}/node?a=b&fairlead.pass=", shown)
        self.assertIn(f"\n200 0 http://{page}/node", self.at("laptop", *browser, "-b", cookies, f"http://{page}/node").stdout, "by its cookie")
        value = cookies.read_text().split('"')[1]
        for forged in (value[:-4] + "AAAA", value.replace("u=reader", "u=root"), value.replace(page, self.machines.here + ":1")):
            self.assertEqual(self.at("laptop", "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", f'Cookie: hadoop.auth="{forged}"', f"http://{page}/node").stdout, "401")
        self.assertIn("\n401 1 ", self.at("stranger", *browser, "-L", f"http://{page}/node").stdout, "sent to the manager, who does not know him")
        for query, status in ((f"node={page}", 200), ("node=10.0.0.1:80", 404), (f"node={page}&to=http://evil.example/", 400), ("", 404)):
            self.assertEqual(self.fetch("laptop", "/fairlead/v1/pass?" + query, "-u", f"any:{token}")[0], status, query)
        self.assertEqual(self.fetch("stranger", f"/fairlead/v1/pass?node={page}&user.name=root")[0], 401)
        text = self.homes["laptop"] / "text"
        text.write_text("a b a\n")
        shared = self.work / "shared"
        shared.mkdir(exist_ok=True)
        shared.chmod(0o777)
        shutil.copy(text, shared / "text")
        counted = self.at("laptop", FAIRLEAD, "submit", "--executors", "1", "--driver-memory", "256m", "--executor-memory", "256m", FAIRLEAD.parent / "examples/word_count", shared / "text", shared / "out")
        self.assertEqual(counted.returncode, 0, counted.stderr)
        self.assertIn("2 different words", counted.stdout, counted.stderr)

    def test_a_client_of_another_machine(self):
        file = self.make("client", "laptop", "laptop", "--as", "alice")
        joined = self.at("laptop", FAIRLEAD, "join", file)
        self.assertEqual(joined.returncode, 0, joined.stderr)
        shown = self.at("laptop", FAIRLEAD, "apps")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual(self.at("laptop", FAIRLEAD, "queues").returncode, 0)
        token = self.text(file)
        for words in (("-u", f"any:{token}"), ("-H", f"Authorization: Bearer {token}")):
            status, body = self.fetch("laptop", "/ws/v1/cluster/userinfo?user.name=root", *words)
            self.assertEqual(status, 200, body)
            self.assertEqual(json.loads(body)["requestedUser"], "alice")
        self.assertEqual(self.fetch("laptop", "/fairlead/v1/credentials", "-u", f"any:{token}")[0], 403, "alice makes none")
        listed = json.loads(self.here("credentials", "list", "--json").stdout)
        self.assertEqual(differences(listed, SCHEMA["commands"]["credentials list"]), [])
        [one] = [one for one in listed["credentials"] if one["name"] == "laptop"]
        self.assertEqual((one["kind"], one["user"], one["made_by"]), ("client", "alice", "root"))
        self.assertNotIn("fl1.", self.here("credentials", "list").stdout)
        # After a restart, and renewed.
        self.end(self.rm)
        self.start_rm()
        self.assertEqual(self.at("laptop", FAIRLEAD, "apps").returncode, 0)
        renewed = self.make("client", "laptop", "laptop", "--as", "alice")
        self.assertNotEqual(self.text(renewed), token)
        for one in (token, self.text(renewed)):
            self.assertEqual(self.fetch("laptop", "/cluster", "-u", f"any:{one}")[0], 200)
        revoked = self.here("credentials", "revoke", "laptop", "--json")
        self.assertEqual(revoked.returncode, 0, revoked.stderr)
        self.assertEqual(differences(json.loads(revoked.stdout), SCHEMA["commands"]["credentials revoke"]), [])
        refused = self.at("laptop", FAIRLEAD, "apps")
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertIn("the credential is not known here, or was revoked", refused.stderr)
        self.assertEqual(self.fetch("laptop", "/cluster", "-u", f"any:{self.text(renewed)}")[0], 401)
        self.assertEqual(self.here("credentials", "revoke", "laptop").returncode, 4, "not found")
        log = (self.work / "rm.log").read_text()
        self.assertIn("credential laptop is revoked", log)
        self.assertNotIn(token.rsplit(".", 1)[1], log)

    def test_a_node_of_another_machine_until_it_is_revoked(self):
        file = self.make("node", "worker", "worker")
        self.assertEqual(self.at("worker", FAIRLEAD, "join", file).returncode, 0)
        opens = self.at("worker", FAIRLEAD, "apps", "--config", file)
        self.assertEqual(opens.returncode, 1)
        self.assertIn("is a node's, and opens nothing else", opens.stderr)
        log = self.work / "worker.log"
        self.start_node("worker", log)
        self.assertEqual(self.here("credentials", "revoke", "worker").returncode, 0)
        self.wait(lambda: "the credential is not known here, or was revoked" in log.read_text(), "its refusal, though it was connected", 30)
        self.wait(lambda: self.nodes().get(self.machines.address("worker")) != "RUNNING", "its end", 30)

    def test_a_nodes_credential_is_of_one_host(self):
        """Said beforehand; another machine with the same file is refused, also after a restart, until the credential is given to it."""
        here, there = self.machines.address("worker"), self.machines.address("stranger")
        file = self.make("node", "moved", "stranger", "--host", here)
        self.assertEqual(self.at("stranger", FAIRLEAD, "join", file).returncode, 0)
        self.end(self.rm)
        self.start_rm()
        log = self.work / "moved.log"
        words = ["runuser", "-u", "nobody", "--", "env", f"HOME={self.homes['stranger']}", str(FAIRLEAD), "nm", *map(str, self.node_settings("stranger"))]
        with log.open("wb") as output:
            process = subprocess.Popen([*self.machines.within("stranger"), *words], stdout=output, stderr=output, cwd=self.homes["stranger"])
        self.addCleanup(self.end, process)
        self.wait(lambda: f"the credential 'moved' is that of the node {here}, and this one says that it is {there}" in log.read_text(), "its refusal")
        self.assertNotIn(there, self.nodes())
        self.assertIn("audit: a call of a node is refused: the credential 'moved'", (self.work / "rm.log").read_text())
        self.make("node", "moved", "laptop", "--host", there)
        self.wait(lambda: self.nodes().get(there) == "RUNNING", "the node, by the file before as well")
        self.assertIn(f" {there} ", self.here("credentials", "list").stdout)
        self.assertEqual(self.here("credentials", "revoke", "moved").returncode, 0)

    def test_an_agent_of_roots_that_runs_as_another_user_takes_a_renewed_one(self):
        """Its file is in /etc/fairlead: of a copy of /etc, which only this process tree sees."""
        etc, home = self.work / "etc", self.homes["laptop"]
        subprocess.run(["cp", "-a", "/etc", etc], check=True)
        (etc / "fairlead").mkdir(exist_ok=True)
        first = self.make("node", "of-root", "laptop")
        settings = [*self.node_settings("laptop"), "--set", "fairlead.nm.user=nobody"]
        started = " ".join(map(str, [FAIRLEAD, "nm", *settings]))
        join = home / "join"
        os.mkfifo(join)
        script = f"mount --bind {etc} /etc && {FAIRLEAD} join {first} && ({started} & read file < {join} && {FAIRLEAD} join $file; wait)"
        log = self.work / "of-root.log"
        with log.open("wb") as output:
            process = subprocess.Popen([*self.machines.within("laptop"), "unshare", "-m", "sh", "-c", script], stdout=output, stderr=output, cwd="/",
                                       start_new_session=True)
        self.addCleanup(process.wait, 30)
        self.addCleanup(os.killpg, process.pid, signal.SIGTERM)
        here = self.machines.address("laptop")
        self.wait(lambda: self.nodes().get(here) == "RUNNING", "the node")
        kept = etc / "fairlead/node.credential"
        self.assertEqual(kept.stat().st_uid, pwd.getpwnam("nobody").pw_uid)
        renewed = self.make("node", "of-root", "laptop")
        join.write_text(f"{renewed}\n")
        self.wait(lambda: kept.read_text() == renewed.read_text(), "the new file")
        self.assertEqual((kept.stat().st_uid, kept.stat().st_mode & 0o777), (pwd.getpwnam("nobody").pw_uid, 0o600))
        # Only the newest and the one before open anything: a third one shuts the first out.
        self.make("node", "of-root", "laptop")
        self.end(self.rm)
        self.start_rm()
        self.wait(lambda: log.read_text().count(" registered rm=") == 2, "the node, by the second")

    def test_trusted_networks(self):
        words = (FAIRLEAD, "apps", "--set", f"yarn.resourcemanager.address={self.address('')}")
        self.assertEqual(self.at("trusted", *words, HADOOP_USER_NAME="bob").returncode, 0)
        self.assertEqual(self.at("trusted", *words, HADOOP_USER_NAME="root").returncode, 1)
        self.assertEqual(self.fetch("trusted", "/ws/v1/cluster/apps?user.name=bob")[0], 200)
        self.assertEqual(self.fetch("trusted", "/ws/v1/cluster/apps?user.name=root")[0], 401)
        self.assertEqual(self.fetch("trusted", "/fairlead/v1/credentials?user.name=bob")[0], 403)

    def test_what_is_no_credential_is_told_to_whoever_shows_it(self):
        good = self.text(self.make("client", "cut", "stranger"))
        for bad, why in ((good[:-1], "cannot log in"), (good[:9] + "\r\n" + good[9:], "this is no credential"), ("fl1." + "a" * 30_000 + ".1.b", "this is no credential")):
            asked = self.at("stranger", FAIRLEAD, "apps", "--set", f"yarn.resourcemanager.address={self.address('')}", "--set", f"fairlead.auth.credential={bad}")
            self.assertNotEqual(asked.returncode, 0, (bad[:80], asked))
            self.assertIn(why, asked.stderr)
            self.assertNotIn(good[-20:-1], asked.stderr)


@unittest.skipIf(namespaces.missing(), namespaces.missing() or "")
class Managers(unittest.TestCase):
    """Two, on two machines: they know each other by their identity in ZooKeeper, and each knows the other's credentials."""

    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-credentials-"))
        self.work.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)
        self.machines = namespaces.Machines("one", "two", "laptop")
        self.addCleanup(self.machines.remove)
        self.zookeeper = zookeeper.ZooKeeper(self.work / "zookeeper", host=self.machines.here)
        self.addCleanup(self.zookeeper.stop)
        self.zookeeper.start()
        self.places = {"rm1": "one", "rm2": "two"}
        settings = {"fairlead.auth": "credentials", "yarn.admin.acl": "alice", "yarn.resourcemanager.ha.enabled": "true", "yarn.resourcemanager.ha.rm-ids": "rm1,rm2",
                    "yarn.resourcemanager.cluster-id": "test", "hadoop.zk.address": self.zookeeper.address, "hadoop.zk.auth": "digest:fairlead:secret"}
        settings |= {f"yarn.resourcemanager.hostname.{rm}": self.machines.address(machine) for rm, machine in self.places.items()}
        self.conf = self.work / "rm.yaml"
        self.conf.write_text("hadoop:\n" + "".join(f"  {key}: \"{value}\"\n" for key, value in settings.items()))
        self.managers = {}
        for rm in self.places:
            self.start(rm)

    def start(self, rm):
        with open(self.work / f"{rm}.log", "ab") as log:
            words = [*self.machines.within(self.places[rm]), FAIRLEAD, "rm", "--config", self.conf, "--set", f"yarn.resourcemanager.ha.id={rm}", "--set", f"fairlead.rm.state-dir={self.work}/{rm}"]
            self.managers[rm] = subprocess.Popen(words, stdout=log, stderr=log)
        self.addCleanup(OtherMachines.end, self.managers[rm])
        OtherMachines.wait(lambda: subprocess.run(["curl", "-sf", f"http://{self.address(rm)}:8088/healthz"], capture_output=True).returncode == 0, rm)

    def address(self, rm):
        return self.machines.address(self.places[rm])

    def run_at(self, machine, *words, user="nobody"):
        home = self.work / f"{machine}-{user}"
        home.mkdir(exist_ok=True)
        os.chown(home, pwd.getpwnam(user).pw_uid, -1)
        words = [*self.machines.within(machine), "runuser", "-u", user, "--", "env", "-i", f"HOME={home}", f"PATH={os.environ['PATH']}", FAIRLEAD, *words]
        return subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60, cwd=home)

    def leader(self):
        for rm in self.places:
            answer = subprocess.run(["curl", "-s", f"http://{self.address(rm)}:8088/fairlead/v1/ha"], capture_output=True, text=True, timeout=20).stdout
            told = json.loads(answer or "{}")
            if told.get("leader"):
                return told["leader"]
        return ""

    def test_both_know_what_one_has_made(self):
        OtherMachines.wait(self.leader, "a leader")
        before = self.leader()
        after = "rm2" if before == "rm1" else "rm1"
        made = self.run_at(self.places[before], "credentials", "make", "--client", "laptop", "--as", "alice", "--out", self.work / "laptop.credential", "--config", self.conf, user="root")
        self.assertEqual(made.returncode, 0, made.stderr)
        os.chown(self.work / "laptop.credential", pwd.getpwnam("nobody").pw_uid, -1)
        self.assertEqual(self.run_at("laptop", "join", self.work / "laptop.credential").returncode, 0)
        OtherMachines.wait(lambda: self.run_at("laptop", "ha", "transfer", after).returncode == 0, "the transfer, as soon as the other has seen the credential", 20)
        self.assertEqual(self.leader(), after)
        self.assertEqual(self.run_at("laptop", "apps").returncode, 0)
        # Who asks the standby is sent away as soon as that has heard from the leader.
        began = time.monotonic()
        refused = self.run_at("laptop", "apps", "--set", "yarn.resourcemanager.ha.enabled=false", "--set", f"yarn.resourcemanager.address={self.address(before)}:8032")
        self.assertIn(f"ResourceManager {before} is not Active!", refused.stderr)
        self.assertLess(time.monotonic() - began, 10, "15 s are for managers of which none knows who leads")
        back = self.run_at("laptop", "ha", "transfer", before)
        self.assertEqual(back.returncode, 0, back.stderr)
        self.managers[before].kill()
        OtherMachines.wait(lambda: self.leader() == after, "the takeover")
        shown = self.run_at("laptop", "apps")
        self.assertEqual(shown.returncode, 0, shown.stderr)


if __name__ == "__main__":
    unittest.main()
