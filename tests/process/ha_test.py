#!/usr/bin/env python3
"""Two resource managers and a real ZooKeeper: the leader is killed, stopped, cut off, told to step down."""
import getpass
import http.client
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
import default_client  # noqa: E402
import ha_cluster  # noqa: E402
import namespaces  # noqa: E402
import peers  # noqa: E402
import registry  # noqa: E402
import rpc  # noqa: E402
import strangers  # noqa: E402
import zookeeper  # noqa: E402
from clock import HOUR, Clock  # noqa: E402
from ha_cluster import ACTIVE, FORCED, STANDBY  # noqa: E402

peers.BINARY = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build")) / "fairlead"
STANDBY_EXCEPTION = "org.apache.hadoop.ipc.StandbyException"
GET_METRICS = rpc.preamble() + rpc.context() + rpc.call("getClusterMetrics")
OTHER = {"rm1": "rm2", "rm2": "rm1"}
NO_NAMESPACES = namespaces.missing()
TAKEOVER_S = 10  # the machine may be busy; ./bench/run failover measures


class Managers(unittest.TestCase):
    def make_zookeeper(self):
        return None  # one server

    def make_cluster(self):
        administrators = (("yarn.admin.acl", f"root,{getpass.getuser()}"),)
        return ha_cluster.HaCluster(self.directory, registry.Spec(nodes=("fairlead",), yarn_site=administrators), zookeeper=self.make_zookeeper())

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-ha-"))
        self.directory.chmod(0o755)
        self.cluster = self.make_cluster()
        self.addCleanup(self.clean_up)
        self.cluster.start()
        self.leader = self.cluster.await_active()
        self.standby = OTHER[self.leader]

    def clean_up(self):
        self.cluster.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def client_call(self, rm, seconds=20):
        return rpc.ask(self.cluster.address(rm, "client"), GET_METRICS, seconds)

    def assert_led_by(self, rm):
        self.assertEqual(self.cluster.await_active(), rm)
        self.cluster.wait_for_nodes(1)

    def test_killed_leader(self):
        """What was acknowledged is there, what ran runs on, new work is granted; and back again."""
        kept = self.cluster.submit_sleeper()
        self.cluster.wait(lambda: self.cluster.has_container(kept), "a container")
        epochs = set()
        for leader, standby in ((self.leader, self.standby), (self.standby, self.leader)):
            self.cluster.kill(leader)
            fresh, seconds = self.cluster.time_to_grant()
            print(f"new grant {seconds:.2f} s after kill -9", file=sys.stderr)
            self.assertLess(seconds, TAKEOVER_S)
            self.assert_led_by(standby)
            rows, read = self.rows_at_election(standby)
            self.assertLess(read, rows, "it followed its leader before")
            self.assertIn("recovered applications", self.log(standby))
            self.cluster.wait(lambda: self.cluster.has_container(kept), "the container from before")
            self.assertEqual(self.cluster.app(kept)["state"], "ACCEPTED")
            page = f"http://127.0.0.1:{self.cluster.ports[standby]['web']}/cluster/app/{kept}"
            self.assertIn(page, self.command("app", kept).stdout, "not the dead one's")
            container = self.cluster.app(fresh)["amContainerLogs"].split("/")[-2]
            epochs.add(container)
            self.cluster.start_manager(leader)
            self.cluster.wait(lambda: self.cluster.state(leader) == STANDBY, "the killed one as standby")
        self.assertEqual(len(epochs), 2)
        self.assertTrue(all("_e" in container for container in epochs), epochs)

    def rows_at_election(self, rm):
        """How many rows there were, and how many nodes of them had still to be read, when it was elected last."""
        elections = re.findall(r"elected over (\d+) rows; (\d+) nodes were read since", self.log(rm))
        return tuple(map(int, elections[-1]))

    def kill_under_clients(self, rounds, count):
        """Each manager in turn, while clients have calls open; what the slowest call of each round took."""
        addresses = [self.cluster.address(rm, "client") for rm in ("rm1", "rm2")]
        clients = default_client.Clients(addresses, count)
        self.addCleanup(clients.stop)
        # Others ask the standby all the time, so that it has asked its leader just before.
        askers = [Asker(address) for address in addresses]
        for asker in askers:
            self.addCleanup(asker.stop)
        slowest, leader = [], self.leader
        for _ in range(rounds):
            self.cluster.wait(lambda moment=time.monotonic(): clients.all_answered_since(moment), "calls", 30)
            began = time.monotonic()
            self.cluster.kill(leader)
            standby = OTHER[leader]
            self.cluster.wait(lambda rm=standby: self.cluster.state(rm) == ACTIVE, "the other to lead")
            self.cluster.wait(lambda moment=time.monotonic(): clients.all_answered_since(moment), "answers", 30)
            self.assertEqual(clients.sent_to_sleep(), [])
            slowest.append(clients.took_since(began)[-1])
            self.cluster.start_manager(leader)
            self.cluster.wait(lambda rm=leader: self.cluster.state(rm) == STANDBY, "the killed one as standby")
            leader = standby
        clients.stop()
        self.assertEqual(clients.sent_to_sleep(), [])
        return slowest

    def test_clients_in_mid_call(self):
        """A client of Hadoop's whose call is open when its leader is killed is answered by the next, and not sent back to sleep."""
        slowest = self.kill_under_clients(int(os.environ.get("FAIRLEAD_HA_KILLS", "4")), int(os.environ.get("FAIRLEAD_HA_CLIENTS", "20")))
        slowest.sort()
        print(f"{len(slowest)} kills: the slowest call of each took {slowest[len(slowest) // 2]:.2f} s in the middle, {slowest[-1]:.2f} s at most", file=sys.stderr)
        self.assertLess(slowest[-1], 6)

    def test_stopped_leader(self):
        """SIGSTOP for longer than the session: when it goes on it neither acts nor answers as a leader, and leads later."""
        self.cluster.signal(self.leader, signal.SIGSTOP)
        self.cluster.wait(lambda: self.cluster.state(self.standby) == ACTIVE, "the other to lead")
        # Waiting in the stopped one's queue since before it goes on: it must ask before it takes them.
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.client_call(self.leader))) for _ in range(20)]
        for thread in threads:
            thread.start()
        self.cluster.signal(self.leader, signal.SIGCONT)
        for thread in threads:
            thread.join()
        self.assertEqual([answer[0] for answer in answers], [STANDBY_EXCEPTION] * 20)
        self.assertEqual(self.cluster.state(self.leader), STANDBY)
        self.assert_led_by(self.standby)
        fresh, _ = self.cluster.time_to_grant()
        self.cluster.kill(self.standby)
        self.assert_led_by(self.leader)
        self.cluster.wait(lambda: self.cluster.has_container(fresh), "the container from before")

    def test_a_manager_that_goes_on_as_standby_refuses_within_its_bound(self):
        """Also while its own session is made anew and it has not heard from ZooKeeper who leads: it asks the other."""
        stopped, other = self.standby, self.leader
        relay = zookeeper.Relay(self.cluster.zookeeper.port)
        self.addCleanup(relay.stop)
        self.cluster.kill(stopped)
        self.cluster.start_manager(stopped, "--set", f"hadoop.zk.address={relay.address}")
        self.cluster.wait(lambda: self.cluster.state(stopped) == STANDBY, "the standby behind the relay")
        self.assertEqual(self.cluster.ha_call(stopped, "transitionToActive", FORCED), (None, b""))
        self.cluster.signal(stopped, signal.SIGSTOP)
        self.cluster.wait(lambda: self.cluster.state(other) == ACTIVE, "the other to lead")
        relay.cut()
        self.cluster.signal(stopped, signal.SIGCONT)
        for _ in range(100):
            begin = time.monotonic()
            self.assertEqual(self.client_call(stopped)[0], STANDBY_EXCEPTION)
            self.assertLess(time.monotonic() - begin, 2)

    def test_standby(self):
        """Calls are refused at once while the leader lives, and held while nobody leads."""
        begin = time.monotonic()
        self.assertEqual(self.client_call(self.standby)[0], STANDBY_EXCEPTION)
        self.assertLess(time.monotonic() - begin, 1)
        self.cluster.kill(self.leader)
        self.assertEqual(self.client_call(self.standby)[0], None)  # held until it leads
        self.assertEqual(self.cluster.state(self.standby), ACTIVE)

    def web(self, rm, path):
        """Status, Location and body; a redirection is not followed."""
        connection = http.client.HTTPConnection("127.0.0.1", self.cluster.ports[rm]["web"], timeout=10)
        connection.request("GET", path)
        answer = connection.getresponse()
        seen = answer.status, answer.getheader("Location"), answer.read().decode()
        connection.close()
        return seen

    def test_readers_of_the_leader(self):
        """The port of one of several managers has every page's data, too."""
        for path in ("/ws/v1/cluster/apps", "/ws/v1/cluster/metrics", "/ws/v1/cluster/scheduler", "/ws/v1/cluster/nodes", "/ws/v1/cluster/appstatistics",
                     "/fairlead/v1/cluster", "/fairlead/v1/apps", "/fairlead/v1/queues", "/fairlead/v1/nodes", "/fairlead/v1/events", "/metrics", "/cluster"):
            self.assertEqual(self.web(self.leader, path)[0], 200, path)

    def test_web_of_standby(self):
        """It answers for itself what Hadoop's does, and sends to the leader for all else; `fairlead status` tells them apart."""
        for rm, state in ((self.leader, "ACTIVE"), (self.standby, "STANDBY")):
            def told():
                status, _, body = self.web(rm, "/ws/v1/cluster/info")
                info = json.loads(body)["clusterInfo"]
                return status, info["haState"], info["haZooKeeperConnectionState"]
            self.cluster.wait(lambda: told()[2] == "CONNECTED", f"{rm}'s session with ZooKeeper")  # one that was just lost is made again
            self.assertEqual(told()[:2], (200, state))
        self.assertEqual(self.web(self.leader, "/isActive")[::2], (200, "I am Active!\n"))
        self.assertEqual(self.web(self.standby, "/isActive")[::2], (405, "I am not Active!\n"))
        status, _, body = self.web(self.standby, "/conf?name=yarn.resourcemanager.ha.enabled")
        self.assertEqual((status, "<value>true</value>" in body), (200, True), body)
        to = f"http://127.0.0.1:{self.cluster.ports[self.leader]['web']}"
        self.assertIn(f"This is {self.standby}, a standby. It follows {to}", self.web(self.standby, "/cluster/cluster")[2])
        self.assertIn("This is no Java program", self.web(self.standby, "/stacks")[2])
        self.assertEqual([bean["modelerType"] for bean in json.loads(self.web(self.standby, "/jmx")[2])["beans"]], ["JvmMetrics"])
        for path in ("/ws/v1/cluster/apps?state=RUNNING", "/cluster", "/fairlead/v1/queues", "/metrics"):
            self.assertEqual(self.web(self.standby, path)[:2], (307, to + path))
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:  # a question, by somebody who knows the standby alone
            file.write("<allocations/>")
            file.flush()
            standby = f"127.0.0.1:{self.cluster.ports[self.standby]['web']}"
            run = subprocess.run([peers.BINARY, "config", "check", "--against", standby, file.name], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertIn(f"the resource manager there is a standby; ask the one that leads: {to}\n", run.stderr)
        run = self.command("status", "--json")
        states = {manager["id"]: manager["state"] for manager in json.loads(run.stdout)["managers"]}
        self.assertEqual((run.returncode, states), (0, {self.leader: "ACTIVE", self.standby: "STANDBY"}), run.stderr)
        sessions = {manager["sessionMs"] for manager in json.loads(run.stdout)["managers"]}
        self.assertEqual(sessions, {json.loads(self.web(self.standby, "/fairlead/v1/ha")[2])["session_ms"]})
        self.assertRegex(self.command("status").stdout, r"\nsessions with ZooKeeper of [1-9]\S* s: so long after a death")
        self.assertEqual(self.command("nodes").returncode, 0)
        self.cluster.zookeeper.stop()
        self.cluster.wait(lambda: self.cluster.active() is None, "nobody to lead")
        run = self.command("status")
        self.assertEqual((run.returncode, run.stdout.count("STANDBY")), (1, 2), run.stderr)
        self.assertIn("no manager leads now", run.stderr)

    def command(self, *words):
        return subprocess.run([peers.BINARY, *words, "--hadoop-conf", self.cluster.conf], capture_output=True, text=True, timeout=60)

    def test_leader_cut_off(self):
        """What the leader and ZooKeeper send each other is lost: it stops before the other starts, and both never act at once."""
        kept = self.cluster.submit_sleeper()
        self.cluster.wait(lambda: self.cluster.has_container(kept), "a container")
        relay = zookeeper.Relay(self.cluster.zookeeper.port)
        self.addCleanup(relay.stop)
        self.cluster.kill(self.standby)
        self.cluster.start_manager(self.standby, "--set", f"hadoop.zk.address={relay.address}")
        self.cluster.wait(lambda: self.cluster.state(self.standby) == STANDBY, "the standby behind the relay")
        # Asked at once: it may not have heard yet who leads.
        self.assertEqual(self.cluster.ha_call(self.standby, "transitionToActive", FORCED), (None, b""))
        relay.cut()
        self.assertEqual(self.cluster.await_active(other_than=self.standby), self.leader)  # it fails where it finds two
        self.assertEqual(self.cluster.state(self.standby), STANDBY)
        self.assert_led_by(self.leader)
        self.cluster.wait(lambda: self.cluster.has_container(kept), "the container from before")
        relay.heal()
        self.cluster.kill(self.leader)
        self.assert_led_by(self.standby)

    def test_transitions(self):
        """rmadmin -transitionToActive and -transitionToStandby, with --forcemanual and without."""
        refused, _ = self.cluster.ha_call(self.standby, "transitionToActive", rpc.field(1, rpc.field(1, 0)))
        self.assertEqual(refused, "org.apache.hadoop.security.AccessControlException")
        begin = time.monotonic()
        self.assertEqual(self.cluster.ha_call(self.standby, "transitionToActive", FORCED), (None, b""))
        print(f"planned transition {time.monotonic() - begin:.2f} s", file=sys.stderr)
        self.assert_led_by(self.standby)
        self.assertEqual(self.cluster.ha_call(self.standby, "transitionToStandby", FORCED), (None, b""))
        self.assert_led_by(self.leader)
        # With nobody else there it leads again, instead of nobody.
        self.cluster.kill(self.standby)
        self.assertEqual(self.cluster.ha_call(self.leader, "transitionToStandby", FORCED), (None, b""))
        self.assert_led_by(self.leader)

    def test_transfer(self):
        """`fairlead ha transfer`: without a question, and nothing where the heir cannot lead."""
        def transfer(rm, *words):
            run = self.command("ha", "transfer", rm, *words)
            return run.returncode, run.stdout, run.stderr
        self.assertEqual(transfer(self.leader), (0, f"{self.leader} leads already\n", ""))
        self.assertEqual(transfer(self.standby), (0, f"{self.standby} leads, {self.leader} did before\n", ""))
        self.assert_led_by(self.standby)
        code, _, told = transfer("rm7")
        self.assertEqual((code, "there are rm1, rm2" in told), (4, True), told)
        self.cluster.wait(lambda: self.cluster.state(self.leader) == STANDBY, "the one that led as standby")
        code, _, told = transfer(self.leader, "--user", "stranger")
        self.assertEqual((code, "User stranger doesn't have permission to call 'transitionToActive'" in told), (1, True), told)
        self.cluster.kill(self.leader)
        code, _, told = transfer(self.leader)
        self.assertEqual((code, "the leadership stays where it is" in told), (3, True), told)
        self.assert_led_by(self.standby)

    def test_zookeeper_away(self):
        """Nobody acts without it; work goes on, and the managers lead again when it is back, also after a restart of its server."""
        kept = self.cluster.submit_sleeper()
        self.cluster.wait(lambda: self.cluster.has_container(kept), "a container")
        self.cluster.zookeeper.signal(signal.SIGSTOP)
        self.cluster.wait(lambda: self.cluster.state(self.leader) == STANDBY, "the leader to step down")
        self.assertEqual(self.cluster.state(self.standby), STANDBY)
        self.cluster.zookeeper.signal(signal.SIGCONT)
        self.cluster.await_active()
        self.cluster.zookeeper.stop()
        self.cluster.wait(lambda: self.cluster.active() is None, "nobody to lead")
        self.cluster.zookeeper.start()
        self.cluster.await_active()
        self.cluster.wait_for_nodes(1)
        self.cluster.wait(lambda: self.cluster.has_container(kept), "the container from before")

    def test_node_that_waited_while_nobody_leads(self):
        """It is told to come again at once, and keeps its first failover, the only one that costs nothing, until somebody leads."""
        tracker = "org.apache.hadoop.yarn.server.api.ResourceTrackerPB"
        self.cluster.zookeeper.stop()
        self.cluster.wait(lambda: self.cluster.active() is None, "nobody to lead")
        answers = {}

        def beat(rm, retries):
            data = rpc.preamble() + rpc.context(protocol=tracker) + rpc.call("nodeHeartbeat", protocol=tracker, retries=retries)
            answers[rm, retries] = rpc.ask(self.cluster.address(rm, "tracker"), data, 30)[0]
        threads = [threading.Thread(target=beat, args=(rm, retries)) for rm in OTHER for retries in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        retriable = "org.apache.hadoop.ipc.RetriableException"
        self.assertEqual(answers, {(rm, retries): STANDBY_EXCEPTION if retries else retriable for rm in OTHER for retries in (0, 1)})

    def test_strangers_while_nobody_leads(self):
        """What waits is bounded: half-open peers and calls that are not read keep nobody from asking who leads."""
        self.cluster.zookeeper.stop()
        self.cluster.wait(lambda: self.cluster.active() is None, "nobody to lead")
        strangers.raise_open_files()
        daemon = strangers.Daemon(self.cluster.processes[self.leader], self.cluster.address(self.leader, "web"), self.directory / f"{self.leader}.log")
        for port in ("client", "tracker", "web"):
            for words in (strangers.WEB_KINDS if port == "web" else strangers.RPC_KINDS).values():
                daemon.meet_crowd(self.cluster.address(self.leader, port), words, seconds=1)
        self.assertEqual(self.cluster.state(self.leader), STANDBY)
        self.cluster.zookeeper.start()
        self.cluster.await_active()
        self.cluster.wait_for_nodes(1)

    def test_clocks_apart(self):
        """A manager whose clock is an hour ahead says so, and leads and is followed as any other."""
        kept = self.cluster.submit_sleeper()
        self.cluster.wait(lambda: self.cluster.has_container(kept), "a container")
        ahead = Clock()
        self.addCleanup(ahead.remove)
        ahead.set(HOUR)
        self.cluster.kill(self.standby)
        with ahead.given():
            self.cluster.start_manager(self.standby)
        self.cluster.wait(lambda: "s ahead of ZooKeeper's" in self.log(self.standby), "a warning")
        self.assertNotIn("ZooKeeper's: set one of them right", self.log(self.leader))
        for leader, standby in ((self.leader, self.standby), (self.standby, self.leader)):
            self.cluster.wait(lambda rm=standby: self.cluster.state(rm) == STANDBY, "a standby")
            self.cluster.kill(leader)
            self.assert_led_by(standby)
            self.cluster.wait(lambda: self.cluster.has_container(kept), "the container from before")
            fresh, _ = self.cluster.time_to_grant()
            self.cluster.end_app(fresh)
            self.cluster.start_manager(leader)

    def test_full_disk_of_zookeeper(self):
        """Its server cannot write and ends; nobody acts, nothing is lost, and it goes on when there is room again."""
        kept = self.cluster.submit_sleeper()
        self.cluster.wait(lambda: self.cluster.has_container(kept), "a container")
        server = self.cluster.zookeeper
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, 1))
        begin = time.monotonic()
        refused = 0
        while server.process.poll() is None or self.cluster.active():  # the next write does it
            self.assertLess(time.monotonic() - begin, 60)
            try:
                self.cluster.submit_sleeper()
            except OSError:
                refused += 1
        self.assertGreater(refused, 0)
        self.assertEqual(self.cluster.state(self.leader), STANDBY)
        self.assertRegex(self.log(self.leader), "is standby.*reason=")
        self.assertEqual(len(self.cluster.live_containers()), 1)
        server.start()
        self.cluster.await_active()
        self.cluster.wait_for_nodes(1)
        self.cluster.wait(lambda: self.cluster.has_container(kept), "the container from before")

    def log(self, rm):
        return (self.directory / f"{rm}.log").read_text()

    def test_member_by_yaml(self):
        """The same manager without Hadoop's files."""
        cluster = self.cluster
        cluster.kill(self.standby)
        addresses = {f"yarn.resourcemanager.{key}.{rm}": f"127.0.0.1:{ports[name]}" for rm, ports in cluster.ports.items() for key, name in ha_cluster.PORTS.items()}
        written = {"cluster": {"name": "test"}, "rm": {"state-dir": str(self.directory / "rm-state")}, "hadoop": addresses, "queues": {"alpha": {"weight": 1}},
                   "ha": {"enabled": True, "managers": ["rm1", "rm2"], "id": self.standby, "zookeeper": [cluster.zookeeper.address],
                          "zookeeper-auth": cluster.auth, "session": "3s"}}
        file = self.directory / "fairlead.yaml"
        file.write_text(json.dumps(written))  # JSON is YAML
        cluster.spawn(self.standby, [peers.BINARY, "rm", "--config", file])
        cluster.wait(lambda: cluster.state(self.standby) == STANDBY, "a standby")
        self.assertEqual(cluster.ha_call(self.standby, "transitionToActive", FORCED), (None, b""))
        self.assert_led_by(self.standby)

    def test_started_before_zookeeper(self):
        """They wait for it, and come to it with their identity."""
        for rm in (self.leader, self.standby):
            self.cluster.signal(rm, signal.SIGKILL)
            self.cluster.processes.pop(rm).wait()
        self.cluster.zookeeper.stop()
        for rm in (self.leader, self.standby):
            self.cluster.start_manager(rm)
        self.cluster.wait(lambda: {self.cluster.state(rm) for rm in (self.leader, self.standby)} == {STANDBY}, "two that stand by")
        self.cluster.zookeeper.start()
        self.cluster.await_active()

    def test_second_process_with_one_id(self):
        self.cluster.spawn("twin", [peers.BINARY, "rm", "--hadoop-conf", self.cluster.conf, "--set",
                                    f"yarn.resourcemanager.ha.id={self.leader}", *self.other_ports()])
        twin = self.cluster.processes.pop("twin")
        self.assertEqual(twin.wait(timeout=60), 1)
        self.assertIn(f"another process takes part as {self.leader}", (self.directory / "twin.log").read_text())
        self.assertEqual(self.cluster.active(), self.leader)

    def other_ports(self):
        options = []
        for key, port in zip(ha_cluster.PORTS, peers.free_ports(len(ha_cluster.PORTS)), strict=True):
            options += ["--set", f"yarn.resourcemanager.{key}.{self.leader}=127.0.0.1:{port}"]
        return options

    def test_backup_and_restore(self):
        """While they run, into one file; back once none runs; and that file for a manager that runs alone."""
        def state(*words, conf=self.cluster.conf):
            return subprocess.run([peers.BINARY, "state", *words, "--hadoop-conf", conf], capture_output=True, text=True, timeout=60)
        file = self.directory / "state.db"
        kept = self.cluster.submit_sleeper()
        self.cluster.wait(lambda: self.cluster.has_container(kept), "a container")
        made = state("backup", file)
        self.assertEqual((made.returncode, file.stat().st_mode & 0o777), (0, 0o600), made.stderr)
        self.assertIn("holds the state: 1 application, ", made.stdout)
        later = self.cluster.submit_sleeper()
        refused = state("restore", file)
        self.assertEqual(refused.returncode, 1)
        self.assertRegex(refused.stderr, f"the resource manager {self.leader} runs; stop all of them first$")
        for rm in (self.leader, self.standby):
            self.cluster.signal(rm, signal.SIGKILL)
            self.cluster.processes.pop(rm).wait()
        restored = json.loads(state("restore", file, "--json").stdout)
        self.assertEqual(restored["applications"], 1)
        aside = pathlib.Path(restored["set_aside"])
        for rm in (self.leader, self.standby):
            self.cluster.start_manager(rm)
        self.cluster.await_active()
        self.cluster.wait_for_nodes(1)
        self.assertEqual([app["id"] for app in self.cluster.apps()], [kept])
        self.cluster.wait(lambda: self.cluster.has_container(kept), "the container that runs on")
        alone = self.directory / "alone"
        alone.mkdir()
        (alone / "yarn-site.xml").write_text(f"<configuration><property><name>fairlead.rm.state-dir</name><value>{alone}/state</value></property></configuration>")
        self.assertIn("holds the state: 2 applications, ", state("restore", aside, conf=alone).stdout, later)

    def test_foreign_identity(self):
        self.cluster.spawn("stranger", [peers.BINARY, "rm", "--hadoop-conf", self.cluster.conf, "--set",
                                        f"yarn.resourcemanager.ha.id={self.leader}", "--set", "hadoop.zk.auth=digest:fairlead:wrong",
                                        *self.other_ports()])
        stranger = self.cluster.processes.pop("stranger")
        self.assertEqual(stranger.wait(timeout=60), 1)
        self.assertIn("its ACL is for another identity", (self.directory / "stranger.log").read_text())


class ChangedQueues(Managers):
    """What `yarn schedulerconf` made of the queues lies beside the rest of the state."""

    def make_cluster(self):
        queues = (("root.queues", "alpha,beta"), ("root.alpha.capacity", "50"), ("root.beta.capacity", "50"))
        kept = (("yarn.scheduler.configuration.store.class", "zk"),)
        return ha_cluster.HaCluster(self.directory, registry.Spec(nodes=(), capacity=queues, yarn_site=kept), zookeeper=self.make_zookeeper())

    def test_change_and_takeover(self):
        body = {"update-queue": [{"queue-name": f"root.{queue}", "params": {"entry": {"key": "capacity", "value": share}}}
                                 for queue, share in (("alpha", "20"), ("beta", "80"))]}
        request = urllib.request.Request(f"{self.cluster.url(self.leader)}/ws/v1/cluster/scheduler-conf?user.name=root", method="PUT",
                                         data=json.dumps(body).encode(), headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            self.assertEqual(answer.read(), b"Configuration change successfully applied.")
        self.cluster.kill(self.leader)
        self.assertEqual(self.cluster.await_active(), self.standby)
        queues = self.cluster.get_of(self.standby, "/ws/v1/cluster/scheduler")["scheduler"]["schedulerInfo"]["queues"]["queue"]
        self.assertEqual({queue["queueName"]: queue["capacity"] for queue in queues}, {"alpha": 20, "beta": 80})


class Asker(threading.Thread):
    """Asks one manager all the time, whether it leads or not, or is there at all."""

    def __init__(self, address):
        super().__init__(daemon=True)
        self.address = address
        self.ends = threading.Event()
        self.start()

    def run(self):
        while not self.ends.is_set():
            try:
                rpc.ask(self.address, GET_METRICS, 20)
            except OSError:
                self.ends.wait(0.05)

    def stop(self):
        self.ends.set()
        self.join(timeout=30)


class ThreeServers(Managers):
    """The same ensemble as in production; a server of it that dies is no matter."""

    def make_zookeeper(self):
        return zookeeper.Ensemble(self.directory)

    def test_killed_server(self):
        for kill in (self.cluster.zookeeper.leader, lambda: self.cluster.zookeeper.servers[0]):
            server = kill()
            server.stop()
            self.cluster.await_active()
            app, _ = self.cluster.time_to_grant()
            self.cluster.end_app(app)
            server.start()
        self.cluster.kill(self.cluster.await_active())
        self.cluster.time_to_grant()


class ApartCluster(ha_cluster.HaCluster):
    """Managers, ZooKeeper and node on machines of their own."""

    def __init__(self, directory, machines):
        self.machines = machines
        server = zookeeper.ZooKeeper(directory / "zookeeper", host=machines.address("zookeeper"), within=machines.within("zookeeper"))
        super().__init__(directory, registry.Spec(nodes=("fairlead",)), zookeeper=server)
        self.hosts = {rm: machines.address(rm) for rm in self.hosts}

    def host_of(self, number):
        return self.machines.address("nm1")

    def spawn(self, name, command, **kwargs):
        super().spawn(name, [*self.machines.within(name), *command], **kwargs)


@unittest.skipIf(NO_NAMESPACES, NO_NAMESPACES)
class Partitions(Managers):
    """The network between some of the machines is gone, and none of them is told."""

    def make_cluster(self):
        self.machines = namespaces.Machines("zookeeper", "rm1", "rm2", "nm1")
        self.addCleanup(self.machines.remove)
        return ApartCluster(self.directory, self.machines)

    def a_container(self):
        kept = self.cluster.submit_sleeper()
        self.cluster.wait(lambda: self.cluster.has_container(kept) and len(self.cluster.live_containers()) == 1, "a container")
        return kept, self.cluster.live_containers()

    def assert_kept(self, kept, containers):
        self.cluster.wait(lambda: self.cluster.has_container(kept), "the container from before")
        self.assertEqual(self.cluster.live_containers(), containers)

    def test_zookeeper_cut_off_from_the_leader_alone(self):
        """It stops before the other starts; what it is told afterwards it refuses."""
        kept, containers = self.a_container()
        self.machines.cut(self.leader, "zookeeper")
        self.assertEqual(self.cluster.await_active(other_than=self.leader), self.standby)  # it fails where it finds two
        self.assertEqual(self.client_call(self.leader)[0], STANDBY_EXCEPTION)
        self.assert_led_by(self.standby)
        self.assert_kept(kept, containers)
        self.machines.heal(self.leader, "zookeeper")
        self.cluster.kill(self.standby)
        self.assert_led_by(self.leader)
        self.assert_kept(kept, containers)

    def test_leader_cut_off_from_everything_but_clients(self):
        kept, containers = self.a_container()
        others = ("zookeeper", self.standby, "nm1")
        self.machines.cut(self.leader, *others)
        self.assertEqual(self.cluster.await_active(other_than=self.leader), self.standby)
        self.assertEqual(self.cluster.state(self.leader), STANDBY)
        self.assert_led_by(self.standby)
        self.assert_kept(kept, containers)
        fresh, _ = self.cluster.time_to_grant()
        self.cluster.end_app(fresh)
        self.machines.heal(self.leader, *others)
        self.cluster.kill(self.standby)
        self.assert_led_by(self.leader)
        self.assert_kept(kept, containers)

    def test_leader_cut_off_from_its_node(self):
        """It leads on: ZooKeeper sees both managers. What is submitted waits for the node; what ran runs on."""
        kept, containers = self.a_container()
        self.machines.cut(self.leader, "nm1")
        waits = self.cluster.submit_sleeper()
        self.cluster.wait(lambda: self.cluster.hosts[self.standby] in self.node_log(), "the node to ask the other manager")
        self.assertEqual(self.cluster.active(), self.leader)
        self.assertFalse(self.cluster.has_container(waits))
        self.machines.heal(self.leader, "nm1")
        self.cluster.wait(lambda: self.cluster.has_container(waits) and len(self.cluster.live_containers()) == 2, "the container that waited")
        self.assertEqual(self.cluster.active(), self.leader)
        self.assertLess(containers, self.cluster.live_containers())
        self.assertEqual(self.cluster.app(kept)["runningContainers"], 1)

    def node_log(self):
        return (self.directory / "nm1.log").read_text()


def load_tests(_loader, _tests, _pattern):
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Managers)
    suite.addTest(ThreeServers("test_killed_server"))
    suite.addTest(ChangedQueues("test_change_and_takeover"))
    for name in ("zookeeper_cut_off_from_the_leader_alone", "leader_cut_off_from_everything_but_clients", "leader_cut_off_from_its_node"):
        suite.addTest(Partitions(f"test_{name}"))
    return suite


if __name__ == "__main__":
    unittest.main(verbosity=2)
