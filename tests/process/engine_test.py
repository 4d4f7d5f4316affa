#!/usr/bin/env python3
"""Jobs of the engine that misbehave, on a real cluster and as one process: crashing functions, a driver that dies after its commit,
executors given back, slow tasks, little memory, a full scratch disk, files of a HDFS."""
import collections
import datetime
import getpass
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
import cluster as lab  # noqa: E402
import fake_hdfs  # noqa: E402
import peers  # noqa: E402
import registry  # noqa: E402
from process_test import processes_naming, until  # noqa: E402

BUILD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build"))
peers.BINARY = BUILD / "fairlead"
FAULTS = BUILD / "tests/engine_faults"


def parts_of(directory):
    return "".join(part.read_text() for part in sorted(directory.glob("part-*")))


def block(offset, length, host, cached=()):
    """What a NameNode says of a block."""
    return {"offset": offset, "length": length, "hosts": [host], "names": [f"{host}:9866"], "cachedHosts": list(cached), "corrupt": False,
            "storageTypes": ["DISK"], "topologyPaths": [f"/default-rack/{host}:9866"]}


class WithACluster(unittest.TestCase):
    SPEC = registry.Spec(yarn_site=(("yarn.nodemanager.sleep-delay-before-sigkill.ms", 5000),))

    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-engine-"))
        cls.directory.chmod(0o755)
        cls.cluster = lab.Cluster(cls.directory / "cluster", cls.SPEC)
        cls.addClassCleanup(cls.clean_up)  # also after a set-up that failed
        cls.cluster.write()
        cls.cluster.start_rm()
        for number in (1, 2):
            cls.cluster.start_nm(number)
        cls.cluster.wait_for_nodes(2)

    @classmethod
    def clean_up(cls):
        cls.cluster.stop()
        for pid in processes_naming(str(cls.directory)):
            os.kill(pid, 9)
        shutil.rmtree(cls.directory, ignore_errors=True)

    def start(self, options, *job, executor_memory=256):
        command = [peers.BINARY, "submit", "--hadoop-conf", self.cluster.conf, "--json", "--executor-memory", executor_memory, *options, FAULTS, *job]
        return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def id_of(self, detached):
        return json.loads(detached.communicate(timeout=60)[0])["id"]

    def finish(self, job):
        """The application's id and what the driver printed."""
        out, err = job.communicate(timeout=120)
        self.assertEqual(job.returncode, 0, out + err)
        application = json.loads(out)["id"]
        return application, self.tool("logs", application, "--file", "stdout")

    def tool(self, command, *arguments):
        words = [peers.BINARY, command, "--hadoop-conf", self.cluster.conf, *arguments]
        run = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout


class LostWork(WithACluster):
    # A node holds one executor and one master: each queue has a right to one node.
    SPEC = registry.Spec(yarn_site=(("yarn.nodemanager.resource.memory-mb", 4096), ("yarn.scheduler.fair.preemption", "true"), ("fairlead.scheduler.preemption.starvation-ms", 1000),
                                    ("fairlead.scheduler.preemption.interval-ms", 500), ("fairlead.scheduler.preemption.minimum-run-ms", 1000),
                                    ("yarn.scheduler.fair.waitTimeBeforeKill", 1000)),
                         allocations='<allocations><queue name="alpha"/><queue name="beta"/></allocations>')

    def test_the_executor_that_keeps_a_cached_partition_outlives_an_idle_one_that_is_older(self):
        marks = self.directory / "keeping"
        marks.mkdir()
        keeping = self.start(["--queue", "root.alpha", "--executors", "2", "--executors-min", "1"], "keep", marks, executor_memory=3840)
        until(lambda: (marks / "kept").exists(), 60)
        younger, older = int((marks / "younger").read_text()), int((marks / "older").read_text())
        other = self.directory / "other"
        other.mkdir()
        self.finish(self.start(["--queue", "root.beta", "--executors", "1"], "meet", other, 1, executor_memory=3840))
        self.assertFalse(pathlib.Path(f"/proc/{older}").exists(), "nobody made room")
        self.assertTrue(pathlib.Path(f"/proc/{younger}").exists(), "the work that was kept is lost")
        self.assertRegex(self.tool("events", "--kind", "notice"), r"this container will be taken back for application_\w+ in root\.beta")
        (marks / "go").touch()
        self.finish(keeping)


class Merging(WithACluster):
    # A node holds one executor, so both nodes' services merge.
    SPEC = registry.Spec(yarn_site=(("yarn.nodemanager.resource.memory-mb", 4096),
                                    ("spark.shuffle.push.server.mergedShuffleFileManagerImpl", "org.apache.spark.network.shuffle.RemoteBlockPushResolver")))

    def start_merging(self, name, merge):
        out, marks = self.directory / name, self.directory / f"{name}-marks"
        marks.mkdir()
        # Nodes that were started again have other ports: the log is kept elsewhere.
        options = ["--executors", "2", "--detach", "--conf", f"fairlead.shuffle.merge={merge}", "--event-log", marks]
        return self.id_of(self.start(options, "merge", out, marks, executor_memory=2560)), out, marks

    def end_of(self, application, out, marks):
        """The result, which is there twice, and what each stage counted of merges."""
        (marks / "go").touch()
        until(lambda: self.cluster.app(application)["state"] == "FINISHED", "the end")
        self.assertEqual(self.cluster.app(application)["finalStatus"], "SUCCEEDED", self.tool("logs", application))
        stages = [{key: value for key, value in stage["summary"].items() if "merged" in key or key.startswith("blocks_") or key == "merging_services"}
                  for stage in json.loads(self.tool("history", "--json", next(marks.glob("*.jsonl"))))["stages"]]
        first = {path.name: path.read_bytes() for path in (out / "first").glob("part-*")}
        self.assertEqual(first, {path.name: path.read_bytes() for path in (out / "second").glob("part-*")})
        return first, [collections.Counter(stage) for stage in stages]

    def test_merged_shuffles_give_the_same_bytes(self):
        results = {}
        for merge in ("off", "on", "auto"):
            application, out, marks = self.start_merging(merge, merge)
            results[merge], stages = self.end_of(application, out, marks)
            sums = sum(stages, collections.Counter())
            if merge == "on":
                self.assertGreaterEqual(sums["blocks_merged"], 0.9 * 720, sums)  # 24 x 20 and 20 x 12
                self.assertEqual(sums["blocks_written"], 720)
                self.assertGreaterEqual(sums["blocks_read_merged"], 0.9 * (sums["blocks_read_merged"] + sums["blocks_read_single"]), sums)
                self.assertEqual(sums["merged_fallbacks"], 0, stages)
                self.assertRegex(self.tool("history", next(marks.glob("*.jsonl"))), r"merged: \d+ of 480 blocks written, .* by [12] service")
            else:
                self.assertFalse(sums, f"{merge}: so few blocks are not merged")
        self.assertEqual(results["on"], results["off"])

    def test_services_that_are_killed_and_files_that_are_gone_cost_no_result(self):
        plain, _ = self.end_of(*self.start_merging("plain", "off"))
        application, out, marks = self.start_merging("killed", "on")
        until(lambda: (marks / "saved").exists(), "the first save")
        self.cluster.restart("nm1", "nm2")
        for merged in self.cluster.directory.glob(f"nm*-local/usercache/*/appcache/{application}/merge_manager_1/*/shuffleMerged_*"):
            if int(merged.stem.rsplit("_", 1)[1]) % 2 == 0:  # of every other reduce partition
                merged.unlink()
        saved, stages = self.end_of(application, out, marks)
        self.assertEqual(saved, plain)
        self.assertGreater(stages[-1]["merged_fallbacks"], 0, "nothing was lost")
        self.assertGreater(stages[-1]["blocks_read_merged"], 0, "what is there was not read")


class OnACluster(WithACluster):
    def test_a_crashing_function_fails_its_stage_by_name_and_the_others_go_on(self):
        application, printed = self.finish(self.start([], "poison"))
        self.assertIn("healthy 5000", printed)
        poison = next(line for line in printed.splitlines() if line.startswith("poison: "))
        self.assertIn("poisoned numbers", poison)
        self.assertRegex(poison, "executor .* lost")
        self.assertIn("(SIGSEGV)", poison)
        container = re.search(r"container_\w+", poison).group()
        self.assertCrash(self.tool("logs", application, "--container", container, "--file", "stderr"))

    def assertCrash(self, text):
        self.assertIn("job crashed: SIGSEGV", text)
        self.assertGreater(text.count("engine_faults(") + text.count("job("), 2, text)

    def test_a_killed_job_leaves_nothing_behind(self):
        out = self.directory / "killed"
        job = self.start(["--detach"], "slow", out)
        application = self.id_of(job)
        until(lambda: (out / "_temporary").exists(), "the first output")
        self.tool("kill", application)
        until(lambda: self.cluster.app(application)["state"] == "KILLED", "the end")
        until(lambda: not out.exists(), "the output's removal")
        self.assertNotIn("crashed", self.tool("logs", application))

    def history_of_detached(self, end, *job):
        """The text and the JSON that `history` gives once `end` has been done to a running job."""
        application = self.id_of(self.start(["--detach", "--max-attempts", "1"], *job))
        if end:
            until(lambda: subprocess.run([peers.BINARY, "history", "--hadoop-conf", self.cluster.conf, application], capture_output=True,
                                         text=True).stdout.count("stage "), "the first stage")
            end(application)
        until(lambda: self.cluster.app(application)["state"] in ("FINISHED", "FAILED", "KILLED"), "the end")
        return self.tool("history", application), json.loads(self.tool("history", "--json", application))

    def expire(self, application):
        soon = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%S.000+0000")
        body = json.dumps({"timeout": {"type": "LIFETIME", "expiryTime": soon}}).encode()
        url = f"http://127.0.0.1:{self.cluster.web}/ws/v1/cluster/apps/{application}/timeout?user.name={getpass.getuser()}"
        urllib.request.urlopen(urllib.request.Request(url, body, {"Content-Type": "application/json"}, method="PUT")).read()

    def test_the_history_tells_every_end(self):
        slow = ("slow", self.directory / "history")
        cases = {
            "done": (None, ("meet", self.directory, 1), "done", ""),
            "failed": (None, ("copy", "/does/not/exist", self.directory / "none"), "failed", "/does/not/exist"),
            "killed by its user": (lambda application: self.tool("kill", application), slow, "killed", "with fairlead kill"),
            "killed by the manager": (self.expire, slow, "killed", "exceeded the lifetime period"),
            "crashed": (lambda _: (self.directory / "crash-go").touch(), ("crash", self.directory / "crash-go"), "failed", "exitCode: 139"),
            "killed by the node": (None, ("eat", 500), "failed", "physical memory"),
        }
        for case, (end, job, state, why) in cases.items():
            with self.subTest(case):
                text, story = self.history_of_detached(end, *job)
                self.assertEqual((story["state"], why in story["error"]), (state, True), text)
                self.assertIn(f": {state}, began", text)
                self.assertNotRegex(text, "(:|  ) running")
                self.assertIn(why, text)
                self.assertEqual([stage["state"] for stage in story["stages"]], {"killed": ["failed"], "failed": ["done"] * (job[0] != "copy"), "done": ["done"]}[state])

    def test_submit_shows_a_line_for_each_running_stage(self):
        words = [peers.BINARY, "submit", "--hadoop-conf", self.cluster.conf, "--executor-memory", "256", FAULTS, "slow", self.directory / "lines"]
        job = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        late = threading.Timer(30, job.terminate)
        late.start()
        shown = next((line for line in job.stderr if re.match(r"stage \d+ +\S.* \d+/\d+ +\d+ running", line)), "")
        late.cancel()
        job.terminate()
        job.communicate(timeout=60)
        self.assertTrue(shown)

    def test_executors_that_no_node_can_hold_are_a_clear_error(self):
        _, err = self.start([], "slow", self.directory / "too-large", executor_memory=900000).communicate(timeout=60)
        self.assertIn("an executor of 878.9 GiB and 1 core fits nowhere: the largest container of this cluster has 4 GiB and ", err)

    def test_a_second_driver_finds_what_the_first_committed(self):
        out, counts = self.directory / "again", self.directory / "again-counts"
        counts.mkdir()
        _, printed = self.finish(self.start(["--max-attempts", "2"], "again", out, counts))
        self.assertIn("saved 10", printed)
        self.assertEqual(parts_of(out), "".join(f"{i}\n" for i in range(10)))
        self.assertEqual(sorted(path.name for path in out.iterdir()), ["_SUCCESS", "part-00000", "part-00001"])
        computed = collections.Counter(path.name.split("-")[0] for path in counts.iterdir() if path.name != "first-driver")
        self.assertEqual(set(computed.values()), {1}, "the save was done again")

    def test_idle_executors_are_given_back_and_their_shuffle_files_stay(self):
        work, go = self.directory / "work", self.directory / "go"
        job = self.start(["--executors", "3", "--executors-min", "0", "--executor-idle", "1", "--detach"], "shrink", work, go)
        application = self.id_of(job)
        containers = lambda: self.cluster.app(application)["runningContainers"]
        until(lambda: containers() == 4, "driver and three executors")
        work.touch()
        until(lambda: containers() == 1, "the executors' end")
        go.touch()
        until(lambda: self.cluster.app(application)["state"] == "FINISHED", "the end")
        self.assertEqual(self.cluster.app(application)["finalStatus"], "SUCCEEDED")
        self.assertIn(f"total {sum(range(3000))}", self.tool("logs", application, "--file", "stdout"))
        story = json.loads(self.tool("history", "--json", application))
        maps = [stage for stage in story["stages"] if stage["summary"]["shuffle_written_bytes"] > 0]
        self.assertEqual([stage["tasks"] for stage in maps], [6], "map outputs were computed again")

    def test_a_slow_task_is_run_a_second_time(self):
        out = self.directory / "slow"
        application, printed = self.finish(self.start(["--speculation"], "slow", out))
        self.assertIn("saved 40", printed)
        self.assertEqual(parts_of(out), "".join(f"{i}\n" for i in range(40)))
        stages = json.loads(self.tool("history", "--json", application))["stages"]
        self.assertEqual(sum(stage["summary"]["speculative"] for stage in stages), 1)
        text = self.tool("history", application)
        self.assertIn("done", text)

    def attempts_of_a_failing_task(self, *settings):
        """The executors' processes that tried it, in turn, and the end's words."""
        marks = pathlib.Path(tempfile.mkdtemp(dir=self.directory))
        options = [word for setting in settings for word in ("--conf", setting)]
        job = self.start(["--executors", "2", "--max-attempts", "1", *options], "fails", marks)
        out, err = job.communicate(timeout=120)
        self.assertNotEqual(job.returncode, 0)
        tried = dict(name.name.split("-") for name in marks.iterdir())
        self.assertEqual(sorted(map(int, tried)), list(range(len(tried))))
        return [tried[str(attempt)] for attempt in range(len(tried))], out + err

    def test_a_failing_task_is_tried_as_often_as_conf_says(self):
        tried, end = self.attempts_of_a_failing_task()
        self.assertEqual(len(tried), 4, "as in Spark")
        self.assertIn("this task always fails", end)
        self.assertEqual(len(self.attempts_of_a_failing_task("spark.task.maxFailures=2")[0]), 2)

    def test_an_executor_on_which_a_task_failed_is_excluded_for_it(self):
        tried, _ = self.attempts_of_a_failing_task("spark.excludeOnFailure.enabled=true", "spark.excludeOnFailure.task.maxTaskAttemptsPerNode=3",
                                                   "spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout=1s")
        self.assertGreater(len(tried), 1)
        self.assertEqual(len(set(tried)), len(tried), "tried twice by one executor")

    def test_tasks_run_where_their_blocks_are(self):
        hdfs = fake_hdfs.FakeHdfs()
        self.addCleanup(hdfs.close)
        text = b"".join(b"line %d\n" % i for i in range(600_000))
        half = len(text) // 2
        hdfs.files["/in"] = text

        cases = {  # a node has room for one of the two executors
            "NODE_LOCAL": [block(0, half, "127.0.0.9"), block(half, len(text) - half, "127.0.0.2"), block(0, half, "127.0.0.2")],
            "PROCESS_LOCAL": [block(0, len(text), "127.0.0.1", cached=["127.0.0.2"])],
            "RACK_LOCAL": [block(0, len(text), "127.0.0.9")],  # no executor there: its rack is the resource manager's for all nodes
            "NODE_LOCAL by the redirect": None,
        }
        for case, blocks in cases.items():
            with self.subTest(case):
                hdfs.blocks = {"/in": blocks} if blocks else {}
                hdfs.data_host = "127.0.0.2"
                out = self.directory / case.replace(" ", "-")
                options = ["--executors", "2", "--conf", "spark.locality.wait=60s"]
                marks = self.directory / f"marks-{case}".replace(" ", "-")
                marks.mkdir()
                application, printed = self.finish(self.start(options, "places", marks, 2, hdfs.url("/in"), out, executor_memory=3584))
                self.assertIn("lines 600000", printed)
                self.assertEqual(parts_of(out).encode(), text)
                stages = json.loads(self.tool("history", "--json", application))["stages"]
                stage = next(stage for stage in stages if stage["name"] == "text")
                self.assertEqual(dict(stage["summary"]["levels"]), {case.split()[0]: stage["tasks"]})
                self.assertGreater(stage["tasks"], 3)
                self.assertEqual(dict(stage["summary"]["away"]), {"no executor there": stage["tasks"]} if case == "RACK_LOCAL" else {})

    def test_the_history_says_why_tasks_ran_away_from_their_data(self):
        hdfs = fake_hdfs.FakeHdfs()
        self.addCleanup(hdfs.close)
        hdfs.files["/in"] = b"".join(b"line %d\n" % i for i in range(600_000))
        hdfs.blocks = {"/in": [block(0, len(hdfs.files["/in"]), "127.0.0.2")]}
        marks = self.directory / "marks-away"
        marks.mkdir()
        # Without a wait the idle executor takes tasks whose data are beside the busy one.
        options = ["--executors", "2", "--conf", "spark.locality.wait=0s"]
        application, _ = self.finish(self.start(options, "places", marks, 2, hdfs.url("/in"), self.directory / "away", executor_memory=3584))
        text = self.tool("history", application)
        self.assertIn("waits for places near the data: process 0 ms, node 0 ms, rack 0 ms", text)
        self.assertRegex(text, r"[1-9]\d* tasks? away from their data: busy there, and the wait was over")

    def test_a_busy_host_loses_its_tasks(self):
        hdfs = fake_hdfs.FakeHdfs()
        self.addCleanup(hdfs.close)
        hdfs.files["/in"] = b"".join(b"line %d\n" % i for i in range(600_000))
        hdfs.blocks = {"/in": [block(0, len(hdfs.files["/in"]), "127.0.0.2")]}
        loads = self.directory / "loads"
        loads.write_text("127.0.0.2 1000\n")
        for weight in (0, 0.5):
            with self.subTest(weight):
                marks = self.directory / f"marks-load-{weight}"
                marks.mkdir()
                options = ["--executors", "2", "--conf", "spark.locality.wait=60s", "--conf", f"fairlead.locality.loadWeight={weight}",
                           "--conf", f"fairlead.locality.loadFile={loads}"]
                application, _ = self.finish(self.start(options, "places", marks, 2, hdfs.url("/in"), self.directory / f"load-{weight}", executor_memory=3584))
                stages = json.loads(self.tool("history", "--json", application))["stages"]
                stage = next(stage for stage in stages if stage["name"] == "text")
                levels, away = dict(stage["summary"]["levels"]), dict(stage["summary"]["away"])
                if weight == 0:
                    self.assertEqual((levels, away), ({"NODE_LOCAL": stage["tasks"]}, {}))
                else:
                    self.assertGreater(levels["ANY"], 0)
                    self.assertEqual(away, {"there, but its host is busier": levels["ANY"]})
                    self.assertIn("busier by 0.50 slots", self.tool("history", application))

    def cached_job(self, *kill):
        """What `history` counts of cached partitions by stage, and how often the partition was made."""
        marks = self.directory / f"cached{len(kill)}"
        marks.mkdir()
        options = ["--executors", "2", "--conf", "spark.locality.wait=0s"]
        application, printed = self.finish(self.start(options, "cached", marks, *kill, executor_memory=3584))
        total = sum(range(100_000))
        self.assertEqual([line for line in printed.splitlines() if line.startswith(("first", "both", "again"))], ["first 100000", f"both {2 * total}", f"again {2 * total}"])
        stages = json.loads(self.tool("history", "--json", application))["stages"]
        counts = [{key: stage["summary"][f"cached_{key}"] for key in ("made", "read", "fetched")} for stage in stages if stage["name"] != "meeting"]
        return counts, len(list((marks / "made").iterdir())), self.tool("history", application)

    def test_a_cached_partition_is_fetched_from_the_executor_that_keeps_it(self):
        counts, made, text = self.cached_job()
        here_and_there = {"made": 0, "read": 1, "fetched": 1}
        self.assertEqual(counts, [{"made": 1, "read": 0, "fetched": 0}, here_and_there, here_and_there])
        self.assertEqual(made, 1)
        self.assertRegex(text, r"cached partitions: 1 read where they are kept, 1 fetched from other executors \(\d.*B\)")

    def test_a_cached_partition_whose_keeper_is_killed_is_made_again(self):
        counts, made, _ = self.cached_job("kill")
        self.assertEqual(counts[:2], [{"made": 1, "read": 0, "fetched": 0}, {"made": 0, "read": 1, "fetched": 1}])
        self.assertGreaterEqual(sum(count["made"] for count in counts[2:]), 1)
        self.assertGreaterEqual(made, 2)

    def test_executors_are_asked_for_where_the_blocks_are(self):
        hdfs = fake_hdfs.FakeHdfs()
        self.addCleanup(hdfs.close)
        hdfs.files["/in"] = b"".join(b"line %d\n" % i for i in range(60_000))
        hosts = collections.Counter()
        hdfs.blocks = {"/in": [block(0, len(hdfs.files["/in"]), "127.0.0.2")]}
        for number in range(6):
            out = self.directory / f"near-{number}"
            application, _ = self.finish(self.start(["--executors", "1"], "copy", hdfs.url("/in"), out))
            executors = json.loads(self.tool("history", "--json", application))["executors"]
            hosts[executors[0]["host"]] += 1
        self.assertEqual(hosts, {"127.0.0.2": 6})

    def test_two_gangs_where_one_fits_do_not_block_each_other(self):
        # A node holds one of these executors, and each of the jobs needs two at work at once.
        jobs = []
        for name in ("first", "second"):
            marks = self.directory / f"gang-{name}"
            marks.mkdir()
            jobs.append(self.start(["--executors", "2", "--gang"], "meet", marks, 2, executor_memory=3584))
        for job in jobs:
            self.finish(job)

    def test_pools_share_the_executors_by_their_weights(self):
        pools, logs = self.directory / "pools.xml", self.directory / "fair-log"
        logs.mkdir()
        logs.chmod(0o777)
        pools.write_text('<allocations><pool name="one"/><pool name="three"><weight>3</weight></pool></allocations>')
        options = ["--executors", "2", "--executor-cores", "4", "--conf", "spark.scheduler.mode=FAIR",
                   "--conf", f"spark.scheduler.allocation.file={pools}", "--event-log", logs]
        self.finish(self.start(options, "fair"))
        events = [next(iter(json.loads(line).items())) for log in logs.iterdir() for line in log.read_text().splitlines()]
        self.assertEqual({event["pool"] for name, event in events if name == "job_started"}, {"one", "three"})
        pool = {event["stage"]: event["name"] for name, event in events if name == "stage_started"}
        spans = [(pool[event["launch"]["stage"]], event["launch"]["at_ms"], event["at_ms"]) for name, event in events if name == "task_finished"]
        self.assertEqual(len(spans), 240)
        # Both want more from a moment after the later one's start until the last task of `three` is launched.
        starts = [min(begin for name, begin, _ in spans if name == wanted) for wanted in ("one", "three")]
        first, last = max(starts) + 1500, max(begin for name, begin, _ in spans if name == "three")
        self.assertGreater(last - first, 2000)
        running = collections.Counter()
        for name, begin, end in spans:
            running[name] += max(0, min(end, last) - max(begin, first))
        share = running["three"] / running.total()
        self.assertAlmostEqual(share, 0.75, delta=0.05, msg=str(running))
        print(f"pool `three` had {share:.1%} of the running tasks")
        self.assertIn("(pool three)", self.tool("history", next(logs.iterdir())))


class AsOneProcess(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-engine-"))
        self.scratch = self.directory / "scratch"
        self.scratch.mkdir()
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def run_job(self, memory_mib, *job, environment=()):
        """The run, and the most memory (MiB) that its process had."""
        command = [FAULTS, "--local[2]", "--memory", memory_mib, "--scratch", self.scratch, *job]
        with subprocess.Popen([str(word) for word in command], env=os.environ | dict(environment), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            out, err = process.stdout.read(), process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, out, err, usage.ru_maxrss / 1024

    def test_a_stage_of_more_tasks_than_the_log_takes(self):
        log, tasks = self.directory / "many.jsonl", 100_000
        code, out, err, _ = self.run_job(48, "--event-log", log, "many", tasks)
        self.assertEqual(code, 0, err)
        self.assertIn(f"tasks {tasks}", out)
        self.assertLess(log.stat().st_size, 49 << 20)
        told = json.loads(subprocess.run([peers.BINARY, "history", "--json", log], capture_output=True, text=True, check=True).stdout)
        self.assertTrue(told["tasks_omitted"])
        stage, = told["stages"]
        self.assertEqual((stage["done"], stage["summary"]["succeeded"], stage["summary"]["records_read"]), (tasks, tasks, tasks))
        self.assertIn("slow tasks", [finding["kind"] for finding in stage["findings"]])  # the last one, which is not in the log
        self.assert_page_says(told["stages"], log)

    def assert_page_says(self, stages, log):
        """The page says of the log's stages what the command does."""
        if shutil.which("node"):
            page = subprocess.run(["node", ROOT / "tests/browser/findings.mjs", ROOT / "web/engine/story.js", log], capture_output=True, text=True, check=True)
            self.assertEqual(json.loads(page.stdout), [[stage["stage"], stage["attempt"], stage["findings"], stage["notes"]] for stage in stages])

    def test_ten_times_the_memory(self):
        budget, keys = 48, 4_000_000  # about 500 MiB of keys, values, table and items to sort
        log = self.directory / "events.jsonl"
        *_, base = self.run_job(budget, "distinct", 1000, self.directory / "small")
        code, out, err, peak = self.run_job(budget, "--event-log", log, "distinct", keys, self.directory / "large")
        self.assertEqual(code, 0, err)
        self.assertIn(f"groups {keys}", out)
        with subprocess.Popen(f"cat {self.directory}/large/part-* | wc -l", shell=True, stdout=subprocess.PIPE) as count:
            self.assertEqual(int(count.stdout.read()), keys)
        history = subprocess.run([peers.BINARY, "history", "--json", log], capture_output=True, text=True, check=True)
        stages = json.loads(history.stdout)["stages"]
        self.assert_page_says(stages, log)
        self.assertTrue(any(stage["findings"] for stage in stages))  # it spills
        summaries = [stage["summary"] for stage in stages]
        self.assertGreater(sum(summary["spilled_bytes"] for summary in summaries), 0)
        kept = max(summary["peak_memory"] for summary in summaries) / (1 << 20)
        self.assertLessEqual(kept, budget / 2 * 1.1, "what one of two tasks kept")
        # And the whole process, with holes of the heap and buffers of files.
        self.assertLess(peak - base, budget * 1.1, f"the process had {peak:.0f} MiB, without data {base:.0f}")

    def on_hdfs(self):
        hdfs = fake_hdfs.FakeHdfs()
        self.addCleanup(hdfs.close)
        return hdfs

    def test_reads_and_writes_a_hdfs(self):
        hdfs = self.on_hdfs()
        lines = [f"line {i} {'x' * (i % 70)}" for i in range(60_000)]  # several splits
        text = "".join(line + "\n" for line in lines).encode()
        hdfs.files |= {"/in": None, "/in/a b%": text, "/in/b.gz": gzip.compress(b"packed\n"), "/in/_SUCCESS": b"hidden", "/deep": None}
        code, out, err, _ = self.run_job(256, "copy", hdfs.url("/in"), hdfs.url("/deep/out"))
        self.assertEqual(code, 0, err)
        self.assertIn("lines 60001", out)
        parts = sorted(name for name in hdfs.files if name.startswith("/deep/out/part-"))
        self.assertGreater(len(parts), 2)
        self.assertEqual(b"".join(hdfs.files[part] for part in parts), text + b"packed\n")
        self.assertEqual({name for name in hdfs.files if name.startswith("/deep/out/")} - set(parts), {"/deep/out/_SUCCESS"})
        self.assertGreater(sum(1 for operation, path, at_data in hdfs.operations if operation == "OPEN" and at_data and path == "/in/a b%"), 1)
        code, _, err, _ = self.run_job(256, "copy", hdfs.url("/in"), hdfs.url("/deep/out"))
        self.assertEqual(code, 1)
        self.assertIn("it exists and is not empty", err)

    def test_of_two_name_nodes_the_one_that_serves_is_asked(self):
        first, second = self.on_hdfs(), self.on_hdfs()
        second.files |= {"/in": b"1\n2\n", "/deep": None}
        first.files = second.files
        both = f"127.0.0.1:{first.port},127.0.0.1:{second.port}"
        first.standby = True

        def change(operation, path):  # of roles, in the middle
            if operation == "MKDIRS":
                first.standby, second.standby = False, True
                second.files["/changed"] = None
            return False

        second.fail = change
        file = self.directory / "tokens"
        first.secured = second.secured = b"alice's"
        file.write_bytes(fake_hdfs.token_file(first.secured, b"ha-hdfs:main"))
        environment = {"HADOOP_TOKEN_FILE_LOCATION": str(file), "FAIRLEAD_NAME_NODES": f"=main;other=127.0.0.1:1;main={both};"}
        code, _, err, _ = self.run_job(256, "copy", "hdfs:///in", "hdfs://main:8020/deep/out", environment=environment)
        self.assertEqual(code, 0, err)
        self.assertEqual(b"".join(data for name, data in sorted(first.files.items()) if name.startswith("/deep/out/part-")), b"1\n2\n")
        self.assertIn("/changed", first.files)
        self.assertTrue(first.operations)
        self.assertEqual({operation for operation, _, at_data in second.operations if not at_data} & {"RENAME"}, set(), "the first serves by then")
        code, _, err, _ = self.run_job(256, "copy", "hdfs://nowhere/in", "hdfs://main/x", environment=environment)
        self.assertEqual(code, 1)
        self.assertIn("is not known; submit the job with the --hadoop-conf", err)
        code, _, err, _ = self.run_job(256, "copy", "hdfs:///in", "hdfs://main/x", environment=environment | {"FAIRLEAD_NAME_NODES": f"main={both};"})
        self.assertEqual(code, 1)
        self.assertIn("is not known; submit the job with the --hadoop-conf", err)

    def test_a_name_node_that_is_gone_leads_to_the_other_and_no_error_has_the_token(self):
        hdfs = self.on_hdfs()
        hdfs.files |= {"/in": b"1\n2\n", "/deep": None}
        code, _, err, _ = self.run_job(256, "copy", f"webhdfs://127.0.0.1:1,127.0.0.1:{hdfs.port}/in", hdfs.url("/deep/out"))
        self.assertEqual(code, 0, err)
        file = self.directory / "tokens"
        file.write_bytes(fake_hdfs.token_file(b"alice's", b"127.0.0.1:8020"))
        hdfs.close()
        code, _, err, _ = self.run_job(256, "copy", hdfs.url("/in"), self.directory / "out", environment={"HADOOP_TOKEN_FILE_LOCATION": str(file)})
        self.assertEqual(code, 1)
        self.assertNotIn("delegation=", err)

    def test_a_token_opens_a_secured_hdfs(self):
        hdfs = self.on_hdfs()
        hdfs.secured = b"alice's"
        hdfs.files |= {"/in": b"1\n2\n", "/deep": None}
        code, _, err, _ = self.run_job(256, "copy", hdfs.url("/in"), hdfs.url("/deep/none"))
        self.assertEqual(code, 1)
        self.assertIn("Failed to obtain user group information", err)
        file = self.directory / "tokens"
        for service, opens in ((b"127.0.0.1:8020", True), (b"127.0.0.2:8020", False)):
            with self.subTest(service):
                file.write_bytes(fake_hdfs.token_file(hdfs.secured, service))
                code, _, err, _ = self.run_job(256, "copy", hdfs.url("/in"), hdfs.url("/deep/out"), environment={"HADOOP_TOKEN_FILE_LOCATION": str(file)})
                self.assertEqual(code, 0 if opens else 1, err)
        self.assertEqual(b"".join(data for name, data in sorted(hdfs.files.items()) if name.startswith("/deep/out/part-")), b"1\n2\n")

    def test_a_hdfs_that_refuses_is_a_clear_error_and_leaves_nothing(self):
        hdfs = self.on_hdfs()
        hdfs.files |= {"/in": b"1\n2\n"}
        hdfs.fail = lambda operation, path: operation == "CREATE" and "part-" in path
        code, _, err, _ = self.run_job(256, "copy", hdfs.url("/in"), hdfs.url("/out"))
        self.assertEqual(code, 1)
        self.assertIn("AccessControlException: denied: /out/_temporary", err)
        self.assertNotIn("\tat x", err)
        self.assertEqual(set(hdfs.files), {"/", "/in"})
        hdfs.fail, hdfs.full = lambda operation, path: False, True
        code, _, err, _ = self.run_job(256, "copy", hdfs.url("/in"), hdfs.url("/out"))
        self.assertEqual(code, 1)
        self.assertIn("DSQuotaExceededException: no room", err)
        self.assertEqual(set(hdfs.files), {"/", "/in"})

        def aborted(operation, path):  # meanwhile
            if operation == "CREATE":
                hdfs.remove("/out")
            return False
        hdfs.fail, hdfs.full = aborted, False
        code, _, err, _ = self.run_job(256, "copy", hdfs.url("/in"), hdfs.url("/out"))
        self.assertEqual(code, 1)
        self.assertIn("File does not exist: /out/_temporary", err)
        self.assertEqual(set(hdfs.files), {"/", "/in"})
        for path, reason in (("/nowhere", "no such file"), ("", "not of the form")):
            code, _, err, _ = self.run_job(256, "copy", hdfs.url(path) if path else "webhdfs://host/in", self.directory / "out")
            self.assertEqual(code, 1)
            self.assertIn(reason, err)

    def test_a_setting_that_is_wrong_is_refused_by_name(self):
        for setting, shown in [("spark.locality.wiat=1s", "did you mean 'spark.locality.wait'?"), ("spark.task.maxFailures=0", "at least 1")]:
            code, _, err, _ = self.run_job(64, "--conf", setting, "distinct", 10, self.directory / "out")
            self.assertEqual(code, 1)
            self.assertIn(setting.split("=")[0], err)
            self.assertIn(shown, err)
            self.assertFalse((self.directory / "out").exists())

    def test_a_crash_says_its_signal_and_where(self):
        code, _, err, _ = self.run_job(64, "poison")
        self.assertEqual(code, -signal.SIGSEGV)
        self.assertIn("job crashed: SIGSEGV", err)
        self.assertGreater(err.count("engine_faults("), 2, err)

    def test_a_stopped_job_leaves_nothing_behind(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            out = self.directory / f"stopped-{number}"
            command = [FAULTS, "--local[2]", "--scratch", self.scratch, "slow", out]
            with subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True) as job:
                until(lambda out=out: (out / "_temporary").exists(), "the first output")
                job.send_signal(number)
                _, err = job.communicate(timeout=60)
            self.assertEqual(job.returncode, 1)
            self.assertIn(f"stopped by {number.name}", err)
            self.assertFalse(out.exists())
            self.assertEqual(list(self.scratch.iterdir()), [])

    def test_broadcasts_are_freed(self):
        code, out, err, peak = self.run_job(256, "broadcasts", 60)
        self.assertEqual(code, 0, err)
        self.assertIn("sum 60000000", out)
        self.assertLess(peak, 400, "60 values of 8 MB were kept")

    def test_a_full_scratch_disk_is_a_clear_error_and_leaves_nothing(self):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", self.scratch], check=True)
        self.addCleanup(subprocess.run, ["umount", self.scratch], check=True)
        out = self.directory / "out"
        code, _, err, _ = self.run_job(64, "distinct", 2_000_000, out)
        self.assertEqual(code, 1)
        self.assertIn("No space left on device", err)
        self.assertIn(str(self.scratch), err)
        self.assertFalse(out.exists())
        self.assertEqual(list(self.scratch.iterdir()), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
