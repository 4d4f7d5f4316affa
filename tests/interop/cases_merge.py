"""Push-merged shuffle of unmodified Spark on YARN: node agents merge, reducers read merged chunks, and results are right whatever dies."""
import json
import shutil
import subprocess

import merge_differential
import peers
from registry import Spec, case

RELEASES = ("3.5.9", "4.3.0")
RESOLVER = "org.apache.spark.network.shuffle.RemoteBlockPushResolver"
MERGING = (("spark.shuffle.push.server.mergedShuffleFileManagerImpl", RESOLVER),
           ("yarn.nodemanager.resource.memory-mb", "2304"))  # two containers a node: executors are on both
# What docs/shuffle.md lists; the thresholds are lowered for two nodes and a small shuffle.
PUSH = {"spark.shuffle.push.enabled": "true", "spark.shuffle.service.enabled": "true", "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.shuffle.push.mergersMinStaticThreshold": 2, "spark.shuffle.push.minShuffleSizeToWait": 0, "spark.shuffle.push.finalize.timeout": "10s"}
MAPS, REDUCES = 100, 20


class Job:
    """shuffle_job.py's pairs: the reducers of one shuffle run twice, with a pause in between."""

    def __init__(self, cluster, work, rows=100, task_millis=0, **conf):
        self.cluster, self.work = cluster, work
        self.events = work / "events"
        self.events.mkdir(parents=True)
        settings = {**PUSH, "spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file://{self.events}", "spark.eventLog.rolling.enabled": "false",
                    "spark.eventLog.compress": "false", **conf}
        words = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
        command, environment = cluster.spark_command("--deploy-mode", "client", "--num-executors", "3", *words, peers.HERE / "shuffle_job.py", work, "pairs", MAPS, REDUCES,
                                                     rows, 20, task_millis)
        self.log = work / "driver.log"
        with open(self.log, "wb") as out:
            self.driver = subprocess.Popen(command, env=environment, stdout=out, stderr=out)

    def wait(self, condition, what, seconds=300):
        self.cluster.wait(lambda: condition() or self.driver.poll() is not None, what, seconds)
        assert condition(), f"the driver ended before {what}: " + self.log.read_text(errors="replace")[-3000:]

    def paused(self):
        self.wait((self.work / "paused").exists, "the map outputs")

    def result(self):
        (self.work / "go").write_text("")
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

    def require_merged(self, share=0.9):
        merged, separate, fallbacks = self.reads()
        print(f"{merged} of {merged + separate} blocks merged, {fallbacks} fallbacks")
        assert merged + separate == 2 * MAPS * REDUCES, (merged, separate)
        assert merged >= share * (merged + separate), (merged, separate, fallbacks)


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
    merged, separate, fallbacks = job.reads()
    assert merged + separate == 2 * MAPS * REDUCES and fallbacks > 0, (merged, separate, fallbacks)


def authenticated(cluster, work):
    job = Job(cluster, work, **{"spark.authenticate": "true"})
    job.paused()
    job.result()
    job.require_merged()


def refused(cluster, work):
    """Services that do not merge: the job is right, and nothing is merged."""
    job = Job(cluster, work)
    job.paused()
    job.result()
    assert job.reads()[0] == 0


for _version in RELEASES:
    _spec = Spec(spark=_version, yarn_site=MERGING, history=False)
    _secret = Spec(spark=_version, yarn_site=(*MERGING, ("spark.authenticate", "true")), history=False)
    case("all", _spec, name=f"merge-{_version}")(merges)
    case("all", _spec, own_cluster=True, name=f"merge-services-killed-{_version}")(services_killed)
    case("all", _spec, name=f"merge-files-gone-{_version}")(files_gone)
    case("all", _secret, name=f"merge-authenticated-{_version}")(authenticated)
    case("all", Spec(spark=_version, history=False), name=f"merge-refused-{_version}")(refused)


def differential(release):
    """Random pushes, merges and reads with the service alone, as Spark's own answers them."""
    def run(cluster, work):
        assert merge_differential.compare(peers.spark(release), peers.BINARY, range(1, 101), work), "the services differ; see above"
    case("all", Spec(spark=release, rm=None), name=f"merge-differential-{release}")(run)


differential("3.5.5")
differential("4.3.0")
