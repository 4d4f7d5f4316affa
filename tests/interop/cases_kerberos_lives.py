"""Jobs that run longer than anything they were given at their start: tickets, tokens and the keys that tokens are made with live for a minute here."""
import dataclasses
import os
import signal
import time

import cases_kerberos_spark
from cases_mapreduce import require_pi
from jobs import Background, PausedJob, container_processes, executors, kill, master, require_end
from registry import Spec, case

MINUTE = 60_000
# A key is used alone 1.5 times as long after its roll as a master may be silent. A master has to come up within that
# time, on a busy machine, too.
SHORT_KEYS = (
    ("yarn.am.liveness-monitor.expiry-interval-ms", 45_000),
    ("yarn.nm.liveness-monitor.expiry-interval-ms", 15_000),
    ("yarn.resourcemanager.am-rm-tokens.master-key-rolling-interval-secs", 136),
    *((f"yarn.resourcemanager.{kind}.master-key-rolling-interval-secs", 46) for kind in ("nm-tokens", "container-tokens")),
    ("yarn.resourcemanager.rm.container-allocation.expiry-interval-ms", MINUTE),
    ("yarn.resourcemanager.delegation.key.update-interval", MINUTE // 2),
    ("yarn.resourcemanager.delegation.token.renew-interval", MINUTE // 2),
    ("yarn.resourcemanager.delegation.token.max-lifetime", MINUTE),
)
SHORT_HDFS = (
    ("dfs.namenode.delegation.key.update-interval", MINUTE),
    ("dfs.namenode.delegation.token.renew-interval", MINUTE // 3),
    ("dfs.namenode.delegation.token.max-lifetime", MINUTE),
)
ALL_LIVES_S = 215  # after which nothing of the start is good any more
KEYS = Spec(kerberos="authentication", nodes=("fairlead", "fairlead"), yarn_site=SHORT_KEYS)
FILES = dataclasses.replace(KEYS, nodes=("fairlead",), hdfs=True, hdfs_site=SHORT_HDFS, ticket_life="100s", history=False)


def outlive(cluster, work, mode):
    """A Spark job by its keytab; when all lives are over one of its executors is killed, in cluster mode the master, too. What comes in their place gets its
    tokens, finds the job's files in HDFS, and reads a file there."""
    uri = cluster.hdfs.uri
    (work / "lines").write_text("1\n2\n3\n")
    cluster.hdfs.shell("-mkdir", "-p", f"{uri}/user/{cluster.user}")
    cluster.hdfs.shell("-put", work / "lines", f"{uri}/lines-{mode}")
    with cluster.logins():
        job = PausedJob(cluster, work, "--deploy-mode", mode, "--num-executors", "2", *cases_kerberos_spark.keytab(cluster),
                        "--conf", f"spark.hadoop.fs.defaultFS={uri}", "--conf", f"spark.yarn.stagingDir={uri}/user/{cluster.user}",
                        rounds=2, read=f"{uri}/lines-{mode}")
        begin = time.monotonic()
        app_id = job.await_round()
        job.release()
        job.await_round(2)
        cluster.wait(lambda: job.running() and time.monotonic() > begin + ALL_LIVES_S, "the end of all lives", 2 * ALL_LIVES_S)
        before = executors(app_id)
        assert len(before) == 2, before
        kill([min(before)])
        cluster.wait(lambda: job.running() and len(executors(app_id) - before) == 1, "an executor in place of the killed", 120)
        attempt = 1
        if mode == "cluster":
            kill([master(app_id)])
            attempt = 2
            job.await_round(1, attempt)
            job.release(1, attempt)
            job.await_round(2, attempt)
        job.release(2, attempt)
        job.result(attempt)
    require_end(cluster, app_id)


def tasks_outlive_keys(cluster, work):
    """MapReduce, one map at a time: the first stands still until all lives are over, so that the others and the reduce start by tokens of keys that nobody
    had when the job began."""
    job = Background(work, "pi", cluster.example_command("pi", "-Dmapreduce.job.running.map.limit=1", "3", "20000000"), cluster.client_environment())
    begin = time.monotonic()
    cluster.wait(lambda: job.running() and cluster.apps() and len(container_processes(cluster.apps()[-1]["id"])) == 2, "the first map", 120)
    app_id = cluster.apps()[-1]["id"]
    [first] = executors(app_id)
    os.kill(first, signal.SIGSTOP)
    cluster.wait(lambda: job.running() and time.monotonic() > begin + ALL_LIVES_S, "the end of all lives", 2 * ALL_LIVES_S)
    os.kill(first, signal.SIGCONT)
    job.finish()
    require_pi(job.text(), within=0.1)
    require_end(cluster, app_id)
    for lost in ("Failed map tasks", "Killed map tasks", "Failed reduce tasks"):
        assert lost not in job.text(), job.text()[-3000:]


case("all", spec=dataclasses.replace(KEYS, spark="3.5.9"), name="kerberos-mapreduce-outlives-keys")(tasks_outlive_keys)
for _spark in ("3.5.9", "4.3.0"):
    for _mode in ("client", "cluster"):
        case("all", spec=dataclasses.replace(FILES, spark=_spark), name=f"kerberos-spark-outlives-tokens-{_mode}-{_spark}")(
            lambda cluster, work, mode=_mode: outlive(cluster, work, mode))
