"""Spark standalone with `fairlead shuffle`: executors and the service die, disks lie, and the results are right without a map stage
computed again where its output was still there."""
import json
import random
import re
import socket
import threading
import time

import differential
import peers
import shuffle_differential
import standalone
from registry import Spec, case

RELEASES = ("3.5.9", "4.3.0")
SECRET = {"spark.authenticate": "true", "spark.authenticate.secret": "a secret"}
# What Spark says on its own account whatever serves its blocks; the last when its driver stops and the connection to its master ends late.
ALWAYS = (r"NativeCodeLoader|SparkConf: Note that spark.local.dir|RECEIVED SIGNAL TERM|TaskSchedulerImpl: Initial job has not accepted|"
          r"Dispatcher: Message RemoteProcessDisconnected\(\S+\) dropped. Could not find AppClient")
# And when executors end. Of connections: those to executors; one to the service would be named ":shuffle".
LOST = (r"Lost executor|Lost task|Removing |No more replicas|Asked to remove|Executor \S+ on|Attempted to get executor loss reason|"
        r"Remote RPC client disassociated|Connection reset|Command exited with code N|Failed to remove|DecommissionWorker|"
        r"Unable to get executor|HeartbeatReceiver|Tried to|BlockManagerMasterEndpoint|Transport\w+: .*:N\b")


class Job:
    """A job of shuffle_job.py, from its start to its result."""

    def __init__(self, cluster, work, name, *numbers, conf=None):
        self.cluster, self.work = cluster, work
        self.driver = cluster.submit(conf or {}, peers.HERE / "shuffle_job.py", work, name, *numbers)

    def log(self):
        return (self.cluster.directory / "driver.log").read_text(errors="replace")

    def wait(self, condition, what, seconds=400):
        self.cluster.wait(lambda: condition() or self.driver.poll() is not None, what, seconds)
        assert condition(), f"the driver ended before {what}: " + self.log()[-3000:]

    def paused(self):
        self.wait((self.work / "paused").exists, "the map outputs")

    def go_on(self):
        (self.work / "go").write_text("")

    def reducing(self, tasks):
        """Awaits the begin of that many tasks of the last stage."""
        progress = self.work / "progress"
        self.wait(lambda: progress.exists() and progress.stat().st_size >= tasks, f"{tasks} tasks of the reduce")

    def result(self, seconds=400):
        self.wait((self.work / "result").exists, "the result", seconds)
        self.driver.wait(timeout=60)
        result = json.loads((self.work / "result").read_text())
        assert result["found"] == result["expected"], result
        return result

    def map_runs(self):
        return sum(task["Task Type"] == "ShuffleMapTask" and task["Task End Reason"]["Reason"] == "Success" for task in self.cluster.task_ends())

    def fetch_failures(self):
        return sum(task["Task End Reason"]["Reason"] == "FetchFailed" for task in self.cluster.task_ends())

    def clean(self, maps, expected=ALWAYS):
        """Each map task ran once, no fetch failed, and Spark's logs hold no complaint but the expected."""
        assert self.map_runs() == maps, f"{self.map_runs()} map tasks ran instead of {maps}"
        assert self.fetch_failures() == 0, "fetches failed"
        if self.cluster.spec.service == "spark":
            return  # what it makes Spark say is what others are held against
        others = {text for text in self.cluster.complaints() if not re.search(f"{ALWAYS}|{expected}", ": ".join(text))}
        assert not others, f"Spark complains: {others}"


def pairs(cluster, work, maps=8, reduces=8, rows=2000, size=20, task_millis=0, conf=None):
    job = Job(cluster, work, "pairs", maps, reduces, rows, size, task_millis, conf=conf)
    job.paused()
    return job


def beside_sparks_own(function):
    """The case on fairlead's service, then on Spark's: nobody in Spark complains with the first who does not with the second."""
    def both(cluster, work):
        function(cluster, work)
        cluster.stop()
        peer = cluster.beside(service="spark")
        try:
            (work / "spark").mkdir()
            function(peer, work / "spark")
            complain = [{logger for logger, text in each.complaints() if not re.search(ALWAYS, f"{logger}: {text}")} for each in (cluster, peer)]
            assert complain[0] <= complain[1], f"only with fairlead's service complain {complain[0] - complain[1]}"
        finally:
            peer.stop()
    return both


def shuffle_case(name, conf=None, releases=RELEASES, compared=False, **spec):
    """Registers a case for each release, on a cluster of its own; `compared`: with Spark's own service, too."""
    def register(function):
        run = beside_sparks_own(function) if compared else function
        for release in releases:
            case("all", standalone.Spec(spark=release, conf=tuple((conf or {}).items()), **spec), own_cluster=True, name=f"shuffle-{name}-{release}")(run)
        return function
    return register


@shuffle_case("plain", compared=True)
def plain(cluster, work):
    job = pairs(cluster, work)
    cluster.require(lambda counters: counters["blockTransfers"] > 0)
    job.go_on()
    job.result()
    job.clean(8)
    cluster.require(lambda counters: counters["blockFailures"] == counters["rpcFailures"] == 0 and counters["registeredExecutorsSize"] == 2)


@shuffle_case("executors-killed")
def executors_killed(cluster, work):
    """In the middle of the reduce: new executors read what the dead ones wrote."""
    job = pairs(cluster, work, reduces=20, task_millis=300)
    job.go_on()
    job.reducing(5)
    assert cluster.kill_executors() == 2
    job.result()
    job.clean(8, LOST)


@shuffle_case("dynamic-allocation")
def dynamic_allocation(cluster, work):
    job = pairs(cluster, work, conf={
        "spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.executorIdleTimeout": "2s",
        "spark.dynamicAllocation.maxExecutors": 2, "spark.dynamicAllocation.minExecutors": 0})
    job.wait(lambda: not cluster.executors(), "the release of the executors")
    job.go_on()
    job.result()
    job.clean(8, LOST)


@shuffle_case("service-killed")
def service_killed(cluster, work):
    """kill -9 and a new start in the middle of the reduce: it serves within 2 s what was registered before."""
    job = pairs(cluster, work, reduces=20, task_millis=300)
    before = cluster.counters()["registeredExecutorsSize"]
    job.go_on()
    job.reducing(5)
    cluster.kill("shuffle")
    begin = time.monotonic()
    cluster.start_service()
    assert time.monotonic() - begin < 2, "slow to serve again"
    assert cluster.counters()["registeredExecutorsSize"] == before == 2
    job.result()
    job.clean(8, "TransportChannelHandler|RetryingBlockTransferor|OneForOneBlockFetcher|TransportResponseHandler")


@shuffle_case("service-away")
def service_away(cluster, work):
    """The reducers begin while the service is away; it is back within their retries."""
    job = pairs(cluster, work)
    cluster.kill("shuffle")
    threading.Timer(3, cluster.start_service).start()
    job.go_on()
    job.result()
    job.clean(8, "TransportChannelHandler|RetryingBlockTransferor|OneForOneBlockFetcher|TransportResponseHandler")


@shuffle_case("byte-flipped", compared=True)
def byte_flipped(cluster, work):
    """A damaged block is noticed by the reader, diagnosed as the disk's fault, and computed again."""
    job = pairs(cluster, work)
    files = sorted(path for path in cluster.roots.rglob("shuffle_*.data") if path.stat().st_size > 100)
    path = random.Random(1).choice(files)
    data = bytearray(path.read_bytes())
    for at in range(20, len(data), 50):
        data[at] ^= 0xff
    path.write_bytes(data)
    job.go_on()
    job.result()
    assert job.map_runs() > 8, "the damage was not noticed"
    cluster.require(lambda counters: counters["diagnoseRequests"] > 0)
    assert any(re.search("disk.issue", log.read_text(errors="replace"), re.IGNORECASE) for log in
               [cluster.directory / "driver.log", *cluster.directory.glob("work/*/*/stderr")]), "no diagnosis in Spark's logs"


def authenticated(cluster, work):
    plain(cluster, work)
    counters = cluster.counters()
    assert counters["authSuccesses"] > 0 and counters["authFailures"] == 0, counters


AES = {**SECRET, "spark.network.crypto.enabled": "true"}
shuffle_case("sasl", SECRET)(authenticated)
shuffle_case("sasl-encrypted", {**SECRET, "spark.authenticate.enableSaslEncryption": "true"})(authenticated)
shuffle_case("aes", AES)(authenticated)
shuffle_case("aes-v2", {**AES, "spark.network.crypto.authEngineVersion": "2"}, ["4.3.0"])(authenticated)


shuffle_case("tls-authenticated", SECRET, ["4.3.0"], tls=True)(authenticated)


@shuffle_case("tls", releases=["4.3.0"], tls=True)
def tls(cluster, work):
    """spark.ssl.rpc; who speaks in the clear is sent away and harms nobody."""
    with socket.create_connection(("127.0.0.1", cluster.shuffle), 5) as stranger:
        stranger.sendall(b"\0\0\0\0\0\0\0\x15\3" + b"\0" * 12)
        while stranger.recv(4096):
            pass  # the alert
    plain(cluster, work)
    assert cluster.counters()["tlsFailures"] == 1


@shuffle_case("batch-fetch", compared=True)
def batch_fetch(cluster, work):
    """Adaptive execution asks for many reduce partitions of a map output as one block."""
    job = Job(cluster, work, "coalesced", 10, 100, conf={
        "spark.sql.adaptive.enabled": "true", "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
        "spark.sql.adaptive.fetchShuffleBlocksInBatch": "true"})
    job.result()
    job.clean(10)
    cluster.require(lambda counters: 0 < counters["blockTransfers"] <= 20)  # more: not in batches


@shuffle_case("rdd-blocks", {"spark.shuffle.service.fetch.rdd.enabled": "true"}, bind="0.0.0.0")
def rdd_blocks(cluster, work):
    """An executor is given back although it holds blocks of an RDD on disk; the service serves them to one on another host (readers on
    the same host would open the files themselves), and removes them in the end."""
    job = Job(cluster, work, "cached", 6, 20000, conf={
        "spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.executorIdleTimeout": "2s",
        "spark.dynamicAllocation.maxExecutors": 1, "spark.dynamicAllocation.minExecutors": 0})
    job.paused()
    job.wait(lambda: not cluster.executors(), "the release of the executor")
    cluster.start_worker("127.0.0.2", 8)
    job.go_on()
    assert job.result()["computed"] == [6, 6], "partitions were computed again"
    counters = cluster.counters()
    assert counters["blockTransfers"] >= 6 and counters["removeBlocksRequests"] > 0, counters
    assert not list(cluster.roots.rglob("rdd_*")), "unpersisted blocks were left"
    job.clean(0, LOST)


@shuffle_case("2-gib", {"spark.shuffle.compress": "false", "spark.shuffle.spill.compress": "false"})
def more_than_2_gib(cluster, work):
    """One block longer than a frame can be: it comes as a stream and goes to the reader's disk."""
    job = Job(cluster, work, "long_block", 2100, conf={"spark.executor.memory": "1g"})
    job.paused()
    assert max(path.stat().st_size for path in cluster.roots.rglob("shuffle_*.data")) > 1 << 31
    assert cluster.kill_executors() == 2
    job.go_on()
    job.result()
    job.clean(1, LOST)
    reads = [task["Task Metrics"]["Shuffle Read Metrics"] for task in cluster.task_ends() if "Task Metrics" in task]
    assert max(read["Remote Bytes Read To Disk"] for read in reads) > 1 << 31


@shuffle_case("small-blocks")
def small_blocks(cluster, work):
    """2,000 x 2,000 blocks of one row each."""
    job = Job(cluster, work, "small_blocks", 2000, 2000, conf={"spark.sql.adaptive.enabled": "false", "spark.executor.memory": "1g"})
    job.result(900)
    job.clean(4000)
    reads = [task["Task Metrics"]["Shuffle Read Metrics"] for task in cluster.task_ends() if "Task Metrics" in task]
    assert sum(read["Remote Blocks Fetched"] + read["Local Blocks Fetched"] for read in reads) >= 4_000_000
    assert cluster.counters()["blockTransfers"] >= 1_000_000


@shuffle_case("host-local", compared=True)
def host_local(cluster, work):
    """Readers on the same host ask for the directories and read the files themselves."""
    job = pairs(cluster, work, conf={"spark.shuffle.readHostLocalDisk": "true"})
    job.go_on()
    job.result()
    job.clean(8)
    cluster.require(lambda counters: counters["localDirsRequests"] > 0 and counters["blockTransfers"] == 0)


def beside_sparks_own(release):
    """Random exchanges with the service alone, as Spark's own answers them."""
    def run(cluster, work):
        assert differential.compare(shuffle_differential.Comparison, peers.spark(release), peers.BINARY, range(1, 151), work), "the services differ; see above"
    case("all", Spec(spark=release, rm=None), name=f"shuffle-differential-{release}")(run)


beside_sparks_own("3.5.5")
beside_sparks_own("4.3.0")
