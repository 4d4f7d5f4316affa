"""Push-merged shuffle of unmodified Spark on YARN: node agents merge, reducers read merged chunks, and results are right whatever dies."""
import dataclasses
import json
import shutil
import subprocess

import differential
import jobs
import merge_differential
import peers
from registry import Spec, case

RELEASES = ("3.5.9", "4.3.0")
RESOLVER = ("spark.shuffle.push.server.mergedShuffleFileManagerImpl", merge_differential.RESOLVER)
TWO_A_NODE = ("yarn.nodemanager.resource.memory-mb", "2304")  # containers: executors are on both
MERGING = (RESOLVER, TWO_A_NODE)
# What docs/shuffle.md lists; the thresholds are lowered for two nodes and a small shuffle.
PUSH = {"spark.shuffle.push.enabled": "true", "spark.shuffle.service.enabled": "true", "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.shuffle.push.mergersMinStaticThreshold": 2, "spark.shuffle.push.minShuffleSizeToWait": 0, "spark.shuffle.push.finalize.timeout": "10s"}
MAPS, REDUCES = 100, 20


class Job:
    """shuffle_job.py's pairs: the reducers of one shuffle run twice, with a pause in between."""

    def __init__(self, cluster, work, rows=100, task_millis=0, map_millis=0, **conf):
        self.cluster, self.work = cluster, work
        self.events = work / "events"
        self.events.mkdir(parents=True)
        # Who merges is settled as the maps begin: they wait for all executors, which take longer to come on a busy machine.
        settings = {**PUSH, "spark.scheduler.maxRegisteredResourcesWaitingTime": "10min", "spark.eventLog.enabled": "true",
                    "spark.eventLog.dir": f"file://{self.events}", "spark.eventLog.rolling.enabled": "false", "spark.eventLog.compress": "false", **conf}
        words = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
        command, environment = cluster.spark_command("--deploy-mode", "client", "--num-executors", "3", *words, peers.HERE / "shuffle_job.py", work, "pairs", MAPS, REDUCES,
                                                     rows, 20, task_millis, map_millis)
        self.log = work / "driver.log"
        with open(self.log, "wb") as out:
            self.driver = subprocess.Popen(command, env=environment, stdout=out, stderr=out)

    def wait(self, condition, what, seconds=300):
        self.cluster.wait(lambda: condition() or self.driver.poll() is not None, what, seconds)
        assert condition(), f"the driver ended before {what}: " + self.log.read_text(errors="replace")[-3000:]

    def has(self, name, tasks):
        """Awaits that many bytes in a file of shuffle_job.py's: tasks that have begun."""
        progress = self.work / name
        self.wait(lambda: progress.exists() and progress.stat().st_size >= tasks, f"{tasks} tasks in {name}")

    def kill_executor(self):
        """kill -9 of one of those that run now."""
        jobs.kill(sorted(jobs.executors(self.cluster.apps()[-1]["id"]))[:1])

    def paused(self):
        self.wait((self.work / "paused").exists, "the map outputs")

    def go_on(self):
        (self.work / "go").write_text("")

    def result(self):
        self.go_on()
        self.wait((self.work / "result").exists, "the result")
        self.driver.wait(timeout=60)
        result = json.loads((self.work / "result").read_text())
        assert result["found"] == result["expected"], result

    def reads(self):
        """Blocks of successful reducers: (in merged chunks, by themselves), and how often merged ones were given up."""
        merged = separate = fallbacks = 0
        for line in next(self.events.iterdir()).read_text().splitlines():
            event = json.loads(line)
            if event["Event"] != "SparkListenerTaskEnd" or event["Task End Reason"]["Reason"] != "Success":
                continue
            read = event["Task Metrics"]["Shuffle Read Metrics"]
            of_push = read["Push Based Shuffle"]
            own = of_push["Merged Local Blocks Fetched"] + of_push["Merged Remote Blocks Fetched"]
            merged += own
            separate += read["Local Blocks Fetched"] + read["Remote Blocks Fetched"] - own
            fallbacks += of_push["Merged Fetch Fallback Count"]
        return merged, separate, fallbacks

    def require_merged(self, share=0.9, most=1.0):
        """And every block was read once; gives how many fall-backs there were."""
        merged, separate, fallbacks = self.reads()
        print(f"{merged} of {merged + separate} blocks merged, {fallbacks} fallbacks", flush=True)
        assert merged + separate == 2 * MAPS * REDUCES, (merged, separate)
        assert share * (merged + separate) <= merged <= most * (merged + separate), (merged, separate, fallbacks)
        return fallbacks


def merges(cluster, work):
    job = Job(cluster, work)
    job.paused()
    job.result()
    job.require_merged()


def services_killed(cluster, work):
    """kill -9 of both node agents with their services between the stages: what was said to be merged is read."""
    job = Job(cluster, work)
    job.paused()
    cluster.restart("nm1", "nm2")
    job.result()
    job.require_merged()


def files_gone(cluster, work):
    """All merged files are removed: every reducer falls back, at once."""
    job = Job(cluster, work)
    job.paused()
    for directory in cluster.directory.glob("nm*-local/usercache/*/appcache/*/merge_manager*"):
        shutil.rmtree(directory)
    job.result()
    assert job.require_merged(share=0) > 0


def authenticated(cluster, work):
    job = Job(cluster, work, **{"spark.authenticate": "true"})
    job.paused()
    job.result()
    job.require_merged()


def encrypted(cluster, work):
    """By Spark's own handshake and AES."""
    job = Job(cluster, work, **{"spark.authenticate": "true", "spark.network.crypto.enabled": "true"})
    job.paused()
    job.result()
    job.require_merged()


def refused(cluster, work):
    """Services that do not merge: the job is right, and nothing is merged."""
    job = Job(cluster, work)
    job.paused()
    job.result()
    assert job.reads()[0] == 0


def executors_killed(cluster, work):
    """kill -9 of one while it maps and pushes, and of one while others reduce."""
    job = Job(cluster, work, task_millis=200, map_millis=100)
    job.has("mapped", MAPS // 3)
    job.kill_executor()
    job.paused()
    job.go_on()
    job.has("progress", 5)
    job.kill_executor()
    job.result()
    job.require_merged(share=0.3)


def exchanged(cluster, work):
    """Both nodes go to a service that does not merge, as that of an earlier release, and back, each under a running job. Reducers on a merger's node read
    merged files past the service, so what was merged before may be read after it."""
    def restart(*merging):
        cluster.spec = dataclasses.replace(cluster.spec, yarn_site=(TWO_A_NODE, *merging))
        cluster.write()
        cluster.restart("nm1", "nm2")

    job = Job(cluster, work / "back")
    job.paused()
    restart()
    job.result()
    job.require_merged(share=0.4)
    job = Job(cluster, work / "forth", map_millis=100)
    job.has("mapped", MAPS // 3)
    restart(RESOLVER)
    job.paused()
    job.result()
    job.require_merged(share=0)


def disk_full(cluster, work):
    """The second node's merged files are on a disk that is soon full: those partitions are not claimed."""
    job = Job(cluster, work, rows=2000, map_millis=100)
    found = cluster.directory / "nm2-local"
    job.wait(lambda: len(list(found.glob("usercache/*/appcache/*/merge_manager/3f"))) == 1, "the directories of merged files")
    (directory,) = found.glob("usercache/*/appcache/*/merge_manager")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", directory], check=True)
    try:
        for at in range(64):
            (directory / f"{at:02x}").mkdir()
        job.paused()
        job.result()
    finally:
        subprocess.run(["umount", "--lazy", directory], check=True)
    assert "Merged blocks cannot be written" in (cluster.directory / "nm2.log").read_text(), "the disk was large enough"
    job.require_merged(share=0.4, most=0.95)


def beside_hadoops_nodes(cluster, work):
    """`fairlead shuffle` on the nodes of stock NodeManagers, whose own service is at another port; killed between the stages."""
    def start(number):
        cluster.spawn(f"shuffle{number}", [peers.BINARY, "shuffle", "--bind", cluster.host_of(number), "--port", cluster.shuffle,
                                           "--local-roots", cluster.directory / f"nm{number}-local", "--state", cluster.directory / f"shuffle{number}-state",
                                           "--conf", "=".join(RESOLVER)])

    for number in (1, 2):
        start(number)
    job = Job(cluster, work)
    job.paused()
    for number in (1, 2):
        cluster.kill(f"shuffle{number}")
        start(number)
    job.result()
    job.require_merged()
    status = subprocess.run([peers.BINARY, "shuffle", "status", "--state", cluster.directory / "shuffle1-state"], capture_output=True, text=True, check=True).stdout
    assert "merged: blocks" in status, status


for _version in RELEASES:
    _spec = Spec(spark=_version, yarn_site=MERGING, history=False)
    _secret = Spec(spark=_version, yarn_site=(*MERGING, ("spark.authenticate", "true")), history=False)
    _encrypted = dataclasses.replace(_secret, yarn_site=(*_secret.yarn_site, ("spark.network.crypto.enabled", "true")))
    case("all", _spec, name=f"merge-{_version}")(merges)
    case("all", _spec, own_cluster=True, name=f"merge-services-killed-{_version}")(services_killed)
    case("all", _spec, name=f"merge-files-gone-{_version}")(files_gone)
    case("all", _secret, name=f"merge-authenticated-{_version}")(authenticated)
    case("all", _encrypted, name=f"merge-encrypted-{_version}")(encrypted)
    case("all", Spec(spark=_version, history=False), name=f"merge-refused-{_version}")(refused)
    case("all", _spec, name=f"merge-executors-killed-{_version}")(executors_killed)
    case("all", _spec, own_cluster=True, name=f"merge-exchanged-{_version}")(exchanged)
    case("all", Spec(spark=_version, yarn_site=(*MERGING, ("fairlead.shuffle.merge.memory", "1m")), history=False), own_cluster=True, name=f"merge-disk-full-{_version}")(disk_full)
    # The first node's own service would have the port of the cluster's.
    case("all", Spec(spark=_version, nodes=("java", "java"), yarn_site=(TWO_A_NODE, ("spark.shuffle.service.port", "0")), history=False), own_cluster=True,
         name=f"merge-beside-hadoops-nodes-{_version}")(beside_hadoops_nodes)


def beside_sparks_own(release):
    """Random pushes, merges and reads with the service alone, as Spark's own answers them."""
    def run(cluster, work):
        assert differential.compare(merge_differential.Comparison, peers.spark(release), peers.BINARY, range(1, 101), work), "the services differ; see above"
    case("all", Spec(spark=release, rm=None), name=f"merge-differential-{release}")(run)


beside_sparks_own("3.5.5")
beside_sparks_own("4.3.0")
