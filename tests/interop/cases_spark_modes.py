"""Ways of using Spark that are not one job with an end: streaming, Connect, and executors that leave with their node."""
import collections
import json
import os
import re
import subprocess

import peers
from jobs import Background, PausedJob, executors, require_end
from registry import Spec, case, require_success

FOUR = Spec(hadoop="3.4.3", spark="4.3.0", history=False)
CONNECT = "connect-4.3.0"


def streaming(cluster, work):
    """A stream goes on through a restart of the resource manager and the loss of its executors; each file counts once."""
    (work / "in").mkdir()
    command, environment = cluster.spark_command("--deploy-mode", "client", "--num-executors", "2", peers.HERE / "streaming_job.py", work)
    job = Background(work, "stream", command, environment)

    def counts():
        job.running()
        found = collections.Counter()
        for batch in work.glob("batch-*"):
            found.update(json.loads(batch.read_text()))
        return found

    def feed(name, text):
        (work / name).write_text(text)
        os.rename(work / name, work / "in" / name)

    feed("first", "a b a\n")
    cluster.wait(lambda: counts() == {"a": 2, "b": 1}, "the first file's words", 180)
    app = (work / "app").read_text()
    cluster.restart("rm")
    feed("second", "b c\n" * 100)
    cluster.wait(lambda: counts() == {"a": 2, "b": 101, "c": 100}, "the second file's words", 120)
    for pid in executors(app):
        os.kill(pid, 9)
    feed("third", "d\n")
    cluster.wait(lambda: counts() == {"a": 2, "b": 101, "c": 100, "d": 1}, "the third file's words", 180)
    (work / "end").touch()
    job.finish()
    require_end(cluster, app)


def connect(cluster, work):
    """A Connect server on YARN, and a client that knows nothing of either."""
    peers.fetch(CONNECT)
    port = peers.free_ports(1)[0]
    command, environment = cluster.spark_command("--deploy-mode", "client", "--num-executors", "2", "--conf", f"spark.connect.grpc.binding.port={port}",
                                                 "--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal")
    server = Background(work, "server", command, environment)
    cluster.wait(lambda: server.running() and "Spark Connect server started" in server.text(), "the server", 180)
    program = (f"from pyspark.sql import SparkSession; spark = SparkSession.builder.remote('sc://127.0.0.1:{port}').getOrCreate(); "
               "print(spark.range(1000).selectExpr('id % 7 AS k', 'id').groupBy('k').sum('id').agg({'sum(id)': 'sum'}).collect()[0][0])")
    python = peers.spark(cluster.spec.spark) / "python"
    [py4j] = python.glob("lib/py4j-*.zip")
    run = subprocess.run(["python3", "-c", program], capture_output=True, text=True, timeout=180, cwd=work,
                         env={**os.environ, "PYTHONPATH": f"{python}:{py4j}:{peers.LAB / CONNECT}"})
    require_success(run, "the client")
    assert run.stdout.strip() == "499500", run.stdout
    app = cluster.apps()[-1]
    assert app["state"] == "RUNNING", app
    server.stop()


def decommissioned(cluster, work):
    """A node that is drained tells Spark, which takes its executor out before it ends: no task fails for it."""
    job = PausedJob(cluster, work, "--deploy-mode", "client", "--num-executors", "2", "--conf", "spark.decommission.enabled=true",
                    "--conf", "spark.storage.decommission.enabled=true", rounds=2)
    app = job.await_round()
    number = re.search(r"/nm(\d)-local/", os.readlink(f"/proc/{min(executors(app))}/cwd"))[1]
    host = cluster.host_of(int(number)).replace("127.0.0.1", "localhost")  # that one has a name
    drained = subprocess.run([peers.BINARY, "node", "drain", host, "--timeout", "300", "--no-wait", "--hadoop-conf", cluster.conf],
                             capture_output=True, text=True, timeout=60)
    require_success(drained, "fairlead node drain")
    cluster.wait(lambda: job.running() and "Decommission executors" in job.text(), "Spark to hear of it", 60)
    job.release()
    job.await_round(2)
    job.release(2)
    result = job.result()
    assert result["task_retries"] == 0, result
    require_end(cluster, app)


case("all", FOUR, own_cluster=True, name="spark-streaming")(streaming)
case("all", FOUR, name="spark-connect")(connect)
case("all", FOUR, own_cluster=True, name="spark-decommissioning")(decommissioned)
