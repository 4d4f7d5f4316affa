#!/usr/bin/env python3
"""A cluster without a KDC that believes nobody by his name (fairlead.auth=credentials): real processes on this machine and, in network namespaces, on others.
Needs root, for the other machines alone."""
import json
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/interop"), str(ROOT / "tests/process")]
import namespaces  # noqa: E402
import peers  # noqa: E402
from commands_test import SCHEMA, differences  # noqa: E402

FAIRLEAD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build")) / "fairlead"
PORTS = ("", ".scheduler", ".resource-tracker", ".admin", ".webapp")
HERE = "10.213.77.254"  # of the switch


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
        cls.web = f"http://{HERE}:{ports['.webapp']}"
        settings = {f"yarn.resourcemanager{name}.address": f"{HERE}:{port}" for name, port in ports.items()}
        settings |= {"yarn.resourcemanager.hostname": HERE, "fairlead.auth": "credentials", "fairlead.auth.networks": cls.machines.address("trusted"),
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

    @staticmethod
    def wait(holds, what, seconds=60):
        deadline = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > deadline:
                raise AssertionError(f"{what}: not within {seconds} s")
            time.sleep(0.1)

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
        refused = self.here("nodes", HADOOP_USER_NAME="bob")
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertIn("this process is root's, and acts as root alone; drop HADOOP_USER_NAME (--user)", refused.stderr)
        asked = subprocess.run(["curl", "-s", f"{self.web}/ws/v1/cluster/userinfo?user.name=bob"], capture_output=True, text=True, timeout=30)
        self.assertEqual(json.loads(asked.stdout)["requestedUser"], "root")

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
                    "yarn.nodemanager.recovery.dir": self.homes[machine] / "state", "fairlead.nm.cgroups": "false"}
        return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]

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
        home = self.homes["worker"]
        with log.open("wb") as output:
            words = ["runuser", "-u", "nobody", "--", "env", f"HOME={home}", str(FAIRLEAD), "nm", *map(str, self.node_settings("worker"))]
            process = subprocess.Popen([*self.machines.within("worker"), *words], stdout=output, stderr=output, cwd=home)
            self.addCleanup(self.end, process)
            self.wait(lambda: self.nodes().get(self.machines.address("worker")) == "RUNNING", "the node")
            self.assertEqual(self.here("credentials", "revoke", "worker").returncode, 0)
            self.wait(lambda: "the credential is not known here, or was revoked" in log.read_text(), "its refusal, though it was connected", 30)
            self.wait(lambda: self.nodes().get(self.machines.address("worker")) != "RUNNING", "its end", 30)

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


if __name__ == "__main__":
    unittest.main()
