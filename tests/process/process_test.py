#!/usr/bin/env python3
"""Faults on the real processes: daemons and executors are killed with SIGKILL in mid-job, the job must end with the right result;
the resource manager's journal replays; a local cluster leaves nothing behind, however it ends."""
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import struct
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
from waiting import until  # noqa: E402
from jobs import container_processes, executors_below  # noqa: E402
import registry  # noqa: E402

BUILD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build"))
peers.BINARY = BUILD / "fairlead"
WORDS = [f"word{i % 1000}" for i in range(40000)]
FILES = 40


def processes_naming(text):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if text.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


def find_journal(directory):
    """Directories of ended applications may vanish meanwhile: os.walk passes over them."""
    return next(pathlib.Path(root) / "rm.journal" for root, _, files in os.walk(directory) if "rm.journal" in files)


def write_text(directory):
    directory.mkdir()
    body = "\n".join(" ".join(WORDS[i:i + 10]) for i in range(0, len(WORDS), 10)) + "\n"
    for i in range(FILES):
        (directory / f"part-{i:02}").write_text(body * 10)


def submit_word_count(conf, directory, output="out"):
    """Counts the words of DIRECTORY/text."""
    return subprocess.Popen([str(w) for w in [
        peers.BINARY, "submit", "--hadoop-conf", conf, "--json", "--driver-memory", "256", "--executors", "4", "--executor-memory", "256",
        BUILD / "examples/word_count", directory / "text", directory / output]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_executors(job, directory):
    def some():
        if job.poll() is not None:
            raise AssertionError("the job ended before the fault: " + job.communicate()[1])
        return executors_below(directory)
    return until(some, "an executor")


def assert_right(test, job, output):
    out, err = job.communicate(timeout=180)
    test.assertEqual(job.returncode, 0, out + err)
    test.assertEqual(json.loads(out)["finalStatus"], "SUCCEEDED")
    expected = {word: count * 10 * FILES for word, count in collections.Counter(WORDS).items()}
    found = {}
    for part in output.glob("part-*"):
        for line in part.read_text().splitlines():
            word, count = line.rsplit("\t", 1)
            test.assertNotIn(word, found, "doubled output")
            found[word] = int(count)
    test.assertEqual(found, expected)


class Daemons(unittest.TestCase):
    """A cluster of real processes, and one word count on it."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-process-"))
        self.directory.chmod(0o755)
        write_text(self.directory / "text")
        self.cluster = lab.Cluster(self.directory / "cluster", registry.Spec(yarn_site=tuple({
            "yarn.nm.liveness-monitor.expiry-interval-ms": 10000,
            "yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms": 100,
            "yarn.nodemanager.recovery.supervised": "true",
            **self.further_keys(),
        }.items())))
        self.addCleanup(self.clean_up)  # also after a set-up that failed
        self.cluster.write()
        self.cluster.start_rm()
        for number in (1, 2):
            self.cluster.start_nm(number)
        self.wait_for_nodes()

    def further_keys(self):
        return {}

    def clean_up(self):
        self.cluster.stop()
        for pid in processes_naming(str(self.directory)):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.directory, ignore_errors=True)

    def wait_for_nodes(self):
        self.cluster.wait(lambda: self.cluster.get("/ws/v1/cluster/metrics")["clusterMetrics"]["activeNodes"] == 2, "two nodes")

    def submit(self, output="out"):
        self.output = self.directory / output
        return submit_word_count(self.cluster.conf, self.directory, output)

    def wait_for_executors(self, job):
        return wait_for_executors(job, self.directory)

    def assert_right(self, job):
        assert_right(self, job, self.output)


class Kills(Daemons):
    def test_rm_is_killed_in_mid_job(self):
        job = self.submit()
        self.wait_for_executors(job)
        self.cluster.kill("rm")
        self.cluster.start_rm()
        self.assert_right(job)

    def test_nm_with_its_shuffle_service_is_killed_in_mid_job(self):
        job = self.submit()
        self.wait_for_executors(job)
        self.cluster.kill("nm2")
        self.cluster.start_nm(2)
        self.assert_right(job)
        self.wait_for_nodes()

    def test_a_master_whose_node_does_not_answer_says_so(self):
        for number in (1, 2):
            self.cluster.kill(f"nm{number}")  # the manager still takes them for there
        app = self.cluster.submit_sleeper()
        said = until(lambda: re.search("does not take it yet.*", self.cluster.app(app)["diagnostics"]), "what its master waits for")[0]
        self.assertRegex(said, r"\(cannot connect to \S+:\d+: .*Connection refused\), and is tried for \d+ s more$")

    def test_agents_stopped_on_request_leave_their_containers_to_the_next(self):
        app = self.cluster.submit_sleeper()
        self.cluster.wait(lambda: self.cluster.has_container(app), "its container")
        before = until(lambda: container_processes(app, "sleep"), "its process")
        for number in (1, 2):
            agent = self.cluster.processes.pop(f"nm{number}")
            agent.terminate()
            self.assertEqual(agent.wait(timeout=30), 0)
            self.cluster.start_nm(number)

        def taken_back():
            for node in self.cluster.get("/ws/v1/cluster/nodes")["nodes"]["node"]:
                with urllib.request.urlopen(f"http://{node['nodeHTTPAddress']}/ws/v1/node/containers", timeout=10) as answer:
                    containers = json.load(answer)["containers"] or {}
                if any(app.removeprefix("application_") in container["id"] for container in containers.get("container", [])):
                    return True
        self.cluster.wait(taken_back, "the container at an agent that was started again")
        self.assertEqual((container_processes(app, "sleep"), self.cluster.app(app)["runningContainers"]), (before, 1))
        self.cluster.send("PUT", f"/ws/v1/cluster/apps/{app}/state", {"state": "KILLED"})
        until(lambda: not container_processes(app, "sleep"), "the container's end by its new agent")

    def test_executors_are_killed_in_mid_job(self):
        job = self.submit()
        executors = self.wait_for_executors(job)
        os.kill(executors[0], signal.SIGKILL)
        self.assert_right(job)

    def test_a_host_stays_out_over_a_restart_and_is_taken_back_by_its_name(self):
        def tool(*words):
            return subprocess.run([peers.BINARY, *words, "--hadoop-conf", self.cluster.conf], capture_output=True, text=True, timeout=120)
        host = json.loads(tool("nodes", "--json").stdout)[0]["id"].rpartition(":")[0]
        self.assertEqual(tool("node", "drain", host).returncode, 0)
        self.cluster.kill("rm")
        self.cluster.start_rm()
        shown = until(lambda: (answer := tool("node", "undrain", host)).returncode != 3 and answer, "the resource manager")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertRegex(shown.stdout, r"^\S+ is taken back; its node agent has ended, start it again\n")
        self.assertEqual(tool("node", "undrain", "nosuch").returncode, 4)

    def test_journal_replays_and_an_altered_event_is_found(self):
        self.assert_right(self.submit())
        self.cluster.processes["rm"].terminate()
        self.cluster.processes.pop("rm").wait(timeout=30)
        journal = find_journal(self.directory)
        run = subprocess.run([peers.BINARY, "replay", "--json", journal], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr[-2000:])
        self.assertTrue(json.loads(run.stdout)["same"])
        self.assertGreater(json.loads(run.stdout)["batches"], 10)
        altered = self.directory / "altered.journal"
        altered.write_bytes(alter(journal.read_bytes(), b"word_count", b"word_counT"))
        run = subprocess.run([peers.BINARY, "replay", altered], capture_output=True, text=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn("word_counT", run.stderr, "the altered event is named")


JOURNAL_BYTES = 20_000  # in segments of an eighth of it and the state before


class Profile:
    """The profiles beside the default one, live: a job with its resource manager killed in between, and the journal."""

    def further_keys(self):
        # Hadoop's queue of the user root is root itself, which holds no applications.
        return {"fairlead.scheduler.profile": self.profile, "yarn.scheduler.fair.user-as-default-queue": "false",
                "fairlead.rm.journal-bytes": JOURNAL_BYTES}

    def test_a_job_outlives_the_rm_and_the_journal_replays(self):
        job = self.submit()
        self.wait_for_executors(job)
        self.cluster.kill("rm")
        self.cluster.start_rm()
        self.assert_right(job)
        self.assert_right(self.submit("again"))
        self.cluster.processes["rm"].terminate()
        self.cluster.processes.pop("rm").wait(timeout=30)
        journal = find_journal(self.directory)
        segments = list(journal.parent.glob("rm.journal*"))
        self.assertLessEqual(sum(segment.stat().st_size for segment in segments), JOURNAL_BYTES)
        begins = set()
        for segment in segments:
            run = subprocess.run([peers.BINARY, "replay", "--json", segment], capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, f"{segment}: {run.stderr[-2000:]}")
            self.assertTrue(json.loads(run.stdout)["same"])
            self.assertTrue(segment == journal or json.loads(run.stdout)["batches"] > 0)
            begins.add(json.loads(run.stdout)["begins"])
        self.assertIn("state", begins, "no segment follows another one")


class YarnFair(Profile, Daemons):
    profile = "yarn-fair"


class YarnCapacity(Profile, Daemons):
    profile = "yarn-capacity"

    def test_activities_have_hadoops_form(self):
        job = self.submit()
        self.wait_for_executors(job)
        app, = self.cluster.get("/ws/v1/cluster/apps")["apps"]["app"]
        told = self.cluster.get(f"/ws/v1/cluster/scheduler/app-activities/{app['id']}")["appActivities"]
        allocation, = told["allocations"]
        self.assertEqual((told["applicationId"], allocation["queueName"], allocation["allocationState"]), (app["id"], app["queue"], "SKIPPED"))
        self.assertEqual(allocation["appPriority"], 0)
        passes = "/ws/v1/cluster/scheduler/activities"
        self.cluster.wait(lambda: "allocations" in self.cluster.get(passes)["activities"], "a pass that is written down")
        self.assert_right(job)
        told = self.cluster.get(f"/ws/v1/cluster/scheduler/app-activities/{app['id']}")["appActivities"]
        self.assertEqual(told["diagnostic"], "fail to get application activities after finished")


class Unfit(Daemons):
    """A node whose health script finds a fault."""

    def further_keys(self):
        self.fault, script = self.directory / "fault", self.directory / "health"
        script.write_text(f"#!/bin/sh\n[ ! -e {self.fault} ] || echo ERROR the fan stands still\n")
        script.chmod(0o755)
        return {"yarn.nodemanager.health-checker.script.path": script, "yarn.nodemanager.health-checker.interval-ms": 200}

    def test_the_logs_say_why(self):
        agents, managers = self.cluster.directory / "nm1.log", self.cluster.directory / "rm.log"
        self.fault.touch()
        until(lambda: re.search(r"takes no containers until it is fit why=.*the fan stands still", agents.read_text()), "the reason in the agent's log")
        until(lambda: re.search(r"is UNHEALTHY from=RUNNING why=.*the fan stands still", managers.read_text()), "and in the manager's")
        self.cluster.kill("rm")
        self.cluster.start_rm()
        until(lambda: re.search(r"is UNHEALTHY from=NEW why=.*the fan stands still", managers.read_text()), "and of a node that comes so")
        self.fault.unlink()
        until(lambda: "this node is fit again" in agents.read_text(), "its end")


class AnotherProfilesState(unittest.TestCase):
    """The day a cluster moves: yarn-capacity starts on the applications that the default profile left waiting."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-process-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        allocations = '<allocations><queue name="alpha"/><queue name="full"/><queue name="gone"/></allocations>'
        self.cluster = lab.Cluster(self.directory / "cluster", registry.Spec(nodes=(), history=False, allocations=allocations))
        self.addCleanup(self.cluster.stop)
        self.cluster.write()

    def submit(self, queue):
        app = self.cluster.new_application()
        self.cluster.send("POST", "/ws/v1/cluster/apps", {
            "application-id": app, "application-name": "waits", "queue": queue,
            "am-container-spec": {"commands": {"command": "true"}}, "resource": {"memory": 256, "vCores": 1}})
        return app

    def test_applications_keep_their_queues_or_the_log_names_those_that_cannot(self):
        self.cluster.start_rm()
        self.cluster.wait(lambda: self.cluster.get("/ws/v1/cluster/info"), "the resource manager")
        queues = {queue: self.submit(queue) for queue in ("root.alpha", "root.full", "root.gone")}
        self.cluster.kill("rm")
        (self.cluster.conf / "fair-scheduler.xml").unlink()
        self.cluster.write_capacity((("root.queues", "alpha,full,other"), ("root.alpha.capacity", "50"), ("root.other.capacity", "50"),
                                     ("root.full.capacity", "0"), ("root.full.state", "STOPPED")))
        site = self.cluster.conf / "yarn-site.xml"
        site.write_text(site.read_text().replace("scheduler.fair.FairScheduler", "scheduler.capacity.CapacityScheduler"))
        self.cluster.start_rm()
        self.cluster.wait(lambda: self.cluster.get("/ws/v1/cluster/info"), "the resource manager again")
        self.assertEqual(self.cluster.get("/ws/v1/cluster/scheduler")["scheduler"]["schedulerInfo"]["type"], "capacityScheduler")
        for queue in ("root.alpha", "root.full"):  # no limit counts for what was taken before
            self.assertEqual((self.cluster.app(queues[queue])["state"], self.cluster.app(queues[queue])["queue"]), ("ACCEPTED", queue))
        lost = queues["root.gone"]
        why = "submitted to queue root.gone which no longer exists after restart"
        until(lambda: self.cluster.app(lost)["state"] == "FAILED", "its end")
        self.assertIn(why, self.cluster.app(lost)["diagnostics"])
        log = (self.cluster.directory / "rm.log").read_text()
        self.assertTrue(any(lost in line and why in line for line in log.splitlines()), log[-3000:])


class Tdw(Profile, Daemons):
    profile = "tdw"


class SparkStandalone(Profile, Daemons):
    profile = "spark-standalone"


class FullStateDisk(Daemons):
    """The resource manager's state lies on a disk of its own, which fills up."""

    def further_keys(self):
        self.disk = self.directory / "state-disk"
        self.disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", self.disk], check=True)
        self.addCleanup(subprocess.run, ["umount", self.disk], check=True)
        return {"fairlead.rm.state-dir": self.disk / "state", "fairlead.rm.journal-bytes": 0}

    def fill(self):
        with open(self.disk / "filler", "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(4096))
            except OSError:
                pass

    def test_new_work_is_refused_with_the_reason_and_running_work_goes_on(self):
        job = self.submit()
        self.wait_for_executors(job)
        self.fill()
        refused = self.submit("refused")
        _, err = refused.communicate(timeout=60)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("full", err)
        (self.disk / "filler").unlink()
        self.output = self.directory / "out"
        self.assert_right(job)
        first = self.cluster.apps()[0]["id"]
        attempts = self.cluster.get(f"/ws/v1/cluster/apps/{first}/appattempts")["appAttempts"]["appAttempt"]
        self.assertEqual(len(attempts), 1, "running work was harmed")
        self.assert_right(self.submit("again"))


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def alter(journal, old, new):
    """Changes the first batch that holds `old`, and makes its checksum right again."""
    out, position = bytearray(journal[:8]), 8
    changed = False
    while position < len(journal):
        length, crc = struct.unpack(">II", journal[position:position + 8])
        payload = journal[position + 8:position + 8 + length]
        if old in payload and not changed and position > 8:
            payload, changed = payload.replace(old, new, 1), True
            crc = crc32c(payload)
        out += struct.pack(">II", len(payload), crc) + payload
        position += 8 + length
    assert changed, "the journal does not hold the word"
    return bytes(out)


class LocalCluster(unittest.TestCase):
    """fairlead up leaves nothing behind: no process, directory, control group or port."""

    def snapshot(self):
        groups = {str(p) for p in pathlib.Path("/sys/fs/cgroup").rglob("*fairlead*")}
        mounts = pathlib.Path("/proc/self/mounts").read_text()
        directories = set(pathlib.Path(tempfile.gettempdir()).glob("fairlead-up-*"))
        return groups, mounts, directories

    def up(self, *options, memory=512):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-local-"))
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)
        ready = self.work / "ready"
        process = subprocess.Popen([peers.BINARY, "up", "--nodes", "2", "--memory", str(memory), "--ready-file", ready, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        def is_ready():
            if process.poll() is not None:
                raise AssertionError(process.communicate()[0].decode())
            return ready.exists()
        until(is_ready, "the cluster")
        self.directory = str(pathlib.Path(ready.read_text().strip()).parent)
        return process

    def check(self, before):
        until(lambda: not processes_naming(self.directory), "the end of every process")
        until(lambda: not pathlib.Path(self.directory).exists(), "the removal of the directory")
        self.assertEqual(self.snapshot(), before)

    def test_after_interrupt(self):
        before = self.snapshot()
        process = self.up()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=30), 0)
        process.stdout.close()
        self.check(before)

    def test_two_managers(self):
        """The leader is killed in mid-job: the other leads, commands go there without being told, and the job ends well."""
        before = self.snapshot()
        process = self.up("--ha", memory=1024)
        conf = self.directory + "/conf"

        def states():
            run = subprocess.run([peers.BINARY, "status", "--json", "--hadoop-conf", conf], capture_output=True, text=True)
            return {manager["state"]: manager["id"] for manager in json.loads(run.stdout)["managers"]}
        write_text(self.work / "text")
        job = submit_word_count(conf, self.work)
        wait_for_executors(job, self.directory)
        leader = states()["ACTIVE"]
        # Its command line names its id; the guard's and the other's do not.
        pids = [pid for pid in processes_naming(self.directory) if f"ha.id={leader}" in pathlib.Path(f"/proc/{pid}/cmdline").read_text()]
        self.assertEqual(len(pids), 1)
        os.kill(pids[0], signal.SIGKILL)
        until(lambda: states().get("ACTIVE") not in (None, leader), "the other to lead")
        nodes = [peers.BINARY, "nodes", "--json", "--hadoop-conf", conf]
        # They come to the new leader each at its next heartbeat.
        until(lambda: len(json.loads(subprocess.run(nodes, capture_output=True, text=True, check=True).stdout)) == 2, "both nodes at the new leader")
        assert_right(self, job, self.work / "out")
        until(lambda: states().get("STANDBY") == leader, "the killed one as standby")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=30), 0)
        process.stdout.close()
        self.check(before)

    def test_two_managers_without_java(self):
        environment = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"} | {"PATH": "/nowhere"}
        run = subprocess.run([peers.BINARY, "up", "--ha"], capture_output=True, text=True, timeout=60, env=environment)
        self.assertEqual(run.returncode, 1)
        self.assertIn("java is not here: install Debian's packages default-jre-headless and zookeeper", run.stderr)

    def test_queues_inside_others(self):
        process = self.up("--profile", "tdw", "--queue", "bi.daily=3", "--queue", "bi.hourly=1", "--queue", "search=2")
        run = subprocess.run([peers.BINARY, "queues", "--json", "--hadoop-conf", self.directory + "/conf"], capture_output=True, text=True)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        for name in ("root.bi.daily", "root.bi.hourly", "root.search"):
            self.assertIn(name, run.stdout, run.stderr)

    def test_after_kill(self):
        before = self.snapshot()
        process = self.up()
        process.kill()
        process.wait()
        process.stdout.close()
        self.check(before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
