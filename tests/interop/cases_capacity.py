"""Profile `yarn-capacity`: a cluster of the CapacityScheduler, with its own capacity-scheduler.xml."""
import dataclasses
import os
import re
import subprocess

import cases_ha
import cases_mapreduce
import cases_restart
import cases_spark
import cases_yarn
import peers
from cases_mapreduce import require_pi
from jobs import Background, PausedJob, executors, go_on, master, require_end, stand_still
from registry import Spec, case, require_success
from texts import text_file

QUEUES = (("root.queues", "alpha,beta"), ("root.alpha.capacity", "50"), ("root.beta.capacity", "50"),
          ("maximum-am-resource-percent", "0.5"), ("root.alpha.maximum-capacity", "100"))
CAPACITY = Spec(capacity=QUEUES, history=False)
PREEMPTING = dataclasses.replace(CAPACITY, capacity=QUEUES + (("root.alpha.user-limit-factor", "2"),), yarn_site=(
    ("yarn.resourcemanager.scheduler.monitor.enable", "true"),
    ("yarn.resourcemanager.monitor.capacity.preemption.monitoring_interval", "500"),
    ("yarn.resourcemanager.monitor.capacity.preemption.max_wait_before_kill", "1000"),
    ("yarn.resourcemanager.monitor.capacity.preemption.total_preemption_per_round", "1.0"),
    ("yarn.resourcemanager.monitor.capacity.preemption.natural_termination_factor", "1.0"),
))


def yarn(cluster, *words):
    return cluster.java("org.apache.hadoop.yarn.client.cli." + words[0], *words[1:])


def with_changes(cluster, **capacity):
    """The file again, queues with other shares."""
    changed = dict(QUEUES)
    changed.update({f"root.{queue}.capacity": share for queue, share in capacity.items()})
    cluster.write_capacity(tuple(changed.items()))


def run_and_change(cluster, work):
    """MapReduce in a queue, `yarn queue -status`, and a refresh: one that Hadoop takes, one that it refuses."""
    run = cluster.example("pi", "4", "1000", cwd=work)
    require_success(run, "pi")
    require_pi(run.stdout)
    app = require_end(cluster, cluster.apps()[-1]["id"])
    assert app["queue"] == "root.alpha", app
    status = yarn(cluster, "QueueCLI", "-status", "alpha")
    require_success(status, "yarn queue -status")
    assert "Capacity : 50.00%" in status.stdout and "State : RUNNING" in status.stdout, status.stdout
    with_changes(cluster, alpha="30", beta="70")
    require_success(yarn(cluster, "RMAdminCLI", "-refreshQueues"), "yarn rmadmin -refreshQueues")
    status = yarn(cluster, "QueueCLI", "-status", "root.beta")
    assert "Capacity : 70.00%" in status.stdout, status.stdout
    with_changes(cluster, alpha="30", beta="60")
    refused = yarn(cluster, "RMAdminCLI", "-refreshQueues")
    assert refused.returncode != 0 and "Illegal capacity sum" in refused.stderr, refused.stderr[-2000:]
    status = yarn(cluster, "QueueCLI", "-status", "beta")
    assert "Capacity : 70.00%" in status.stdout, "the refused file changed the queues: " + status.stdout


def waiting_maps(cluster, work, count, queue="root.alpha"):
    """A MapReduce job of so many maps, each of which makes maps/begun-ATTEMPT, waits for maps/gate and makes maps/done-NUMBER."""
    classes, jar = work / "classes", work / "maps.jar"
    for directory in (classes, work / "maps"):
        directory.mkdir()
    subprocess.run([peers.java() + "c", "-nowarn", "-proc:none", "-d", classes, "-cp", f"{cluster.hadoop}/*", peers.HERE / "java/WaitingMaps.java"], check=True)
    subprocess.run([peers.java()[:-4] + "jar", "--create", "--file", jar, "-C", classes, "."], check=True)
    return Background(work, "large", cluster.java_command(
        "org.apache.hadoop.util.RunJar", jar, "WaitingMaps", "-Dmapreduce.map.memory.mb=1024", "-Dmapreduce.map.speculative=false",
        f"-Dmapreduce.job.queuename={queue}", count, work / "maps"), cluster.client_environment())


def preempted(cluster, work):
    """A job that has the whole cluster loses maps to the queue that has its share coming, and still ends well."""
    large = waiting_maps(cluster, work, 30)
    cluster.wait(lambda: large.running() and cluster.apps(), "the submission", 120)
    first = cluster.apps()[0]["id"]

    def stands_in_the_way():
        full = cluster.get("/ws/v1/cluster/metrics")["clusterMetrics"]["availableMB"] < 1024
        return large.running() and full and len(list((work / "maps").glob("begun-*"))) == cluster.app(first)["runningContainers"] - 1
    cluster.wait(stands_in_the_way, "a cluster full of maps that stand still", 180)
    run = cluster.example("pi", "-Dmapreduce.job.queuename=root.beta", "6", "1000", cwd=work)
    require_success(run, "the second queue's job")
    assert cluster.app(first)["preemptedMemorySeconds"] > 0, cluster.app(first)
    (work / "maps/gate").touch()
    large.finish()
    done = {path.name for path in (work / "maps").glob("done-*")}
    assert done == {f"done-{number}" for number in range(30)}, done
    assert "Failed map tasks" not in large.text(), large.text()[-3000:]


LABELS = dataclasses.replace(CAPACITY, yarn_site=(("yarn.node-labels.enabled", "true"),), capacity=QUEUES + (
    ("root.accessible-node-labels.fast.capacity", "100"), ("root.alpha.accessible-node-labels", "fast"),
    ("root.alpha.accessible-node-labels.fast.capacity", "100"), ("root.beta.accessible-node-labels", " ")))


def labelled(cluster, work):
    """A partition of one node: real Spark's executors run there alone, a queue without access is refused, and a restart keeps the labels."""
    host = cluster.host_of(2)
    require_success(yarn(cluster, "RMAdminCLI", "-addToClusterNodeLabels", "fast(exclusive=true)"), "-addToClusterNodeLabels")
    require_success(yarn(cluster, "RMAdminCLI", "-replaceLabelsOnNode", f"{host}=fast"), "-replaceLabelsOnNode")
    cluster.restart("rm")
    listed = yarn(cluster, "ClusterCLI", "--list-node-labels")
    require_success(listed, "yarn cluster --list-node-labels")
    assert "<fast:exclusivity=true>" in listed.stdout, listed.stdout
    job = PausedJob(cluster, work, "--deploy-mode", "client", "--num-executors", "2", "--conf", "spark.yarn.queue=root.alpha",
                    "--conf", "spark.yarn.executor.nodeLabelExpression=fast")
    app = job.await_round()
    nodes = {re.search(r"/nm(\d)-local/", os.readlink(f"/proc/{pid}/cwd"))[1] for pid in executors(app)}
    assert nodes == {"2"}, nodes
    job.release()
    job.result()
    require_end(cluster, app)
    text_file(work / "text")
    refused = cluster.spark_submit("--deploy-mode", "cluster", "--conf", "spark.yarn.queue=root.beta", "--conf", "spark.yarn.am.nodeLabelExpression=fast",
                                   peers.HERE / "wordcount.py", work / "text", work / "counts", timeout=120)
    assert refused.returncode != 0 and "doesn't have permission to access all labels" in refused.stderr, refused.stderr[-3000:]
    kept = yarn(cluster, "RMAdminCLI", "-removeFromClusterNodeLabels", "fast")
    assert kept.returncode != 0 and "is using this label" in kept.stderr, kept.stderr[-2000:]


def whole_job_in_partition(cluster, work):
    """Spark in cluster mode with its master and its executors on a partition that has one node of its own, and one without labels, which stays outside."""
    host = cluster.host_of(2)
    require_success(yarn(cluster, "RMAdminCLI", "-addToClusterNodeLabels", "fast(exclusive=true)"), "-addToClusterNodeLabels")
    require_success(yarn(cluster, "RMAdminCLI", "-replaceLabelsOnNode", f"{host}=fast"), "-replaceLabelsOnNode")
    for name, labels, node in (("inside", ("am", "executor"), "2"), ("outside", (), "1")):
        directory = work / name
        directory.mkdir()
        job = PausedJob(cluster, directory, "--deploy-mode", "cluster", "--num-executors", "2", "--conf", "spark.yarn.queue=root.alpha",
                        *(word for part in labels for word in ("--conf", f"spark.yarn.{part}.nodeLabelExpression=fast")))
        app = job.await_round()
        nodes = {re.search(r"/nm(\d)-local/", os.readlink(f"/proc/{pid}/cwd"))[1] for pid in {master(app), *executors(app)}}
        assert nodes == {node}, (name, nodes)
        job.release()
        job.result()
        require_end(cluster, app)


def passes_grant(cluster, work):
    """Asynchronous scheduling in queues of the older way: MapReduce in a queue that a mapping makes for its user, with the manager killed in mid-job."""
    job = Background(work, "job", cluster.example_command("pi", "6", "1000000"), cluster.client_environment())
    cluster.wait(lambda: job.running() and cluster.apps() and stand_still(cluster.apps()[0]["id"]), "maps", 120)
    cluster.restart("rm")
    go_on(cluster.apps()[0]["id"])
    job.finish()
    require_pi(job.text())
    app = require_end(cluster, cluster.apps()[0]["id"])
    assert app["queue"] == "root.users." + app["user"], app
    queues = subprocess.run([peers.BINARY, "queues", "--hadoop-conf", cluster.conf], capture_output=True, text=True, timeout=60)
    assert app["queue"] in queues.stdout, queues.stdout + queues.stderr


ASYNCHRONOUS = dataclasses.replace(CAPACITY, hadoop="3.4.3", capacity=(
    ("root.queues", "alpha,users"), ("root.alpha.capacity", "50"), ("root.users.capacity", "50"), ("maximum-am-resource-percent", "0.5"),
    ("root.users.auto-create-child-queue.enabled", "true"), ("root.users.leaf-queue-template.capacity", "50"),
    ("root.users.leaf-queue-template.user-limit-factor", "4"), ("queue-mappings", "u:%user:root.users.%user"),
    ("queue-mappings-override.enable", "true"), ("schedule-asynchronously.enable", "true")))


case("smoke", CAPACITY, own_cluster=True, name="capacity-mapreduce")(run_and_change)
case("all", LABELS, own_cluster=True, name="capacity-labels")(labelled)
case("all", LABELS, own_cluster=True, name="capacity-labels-whole-job")(whole_job_in_partition)
case("all", ASYNCHRONOUS, own_cluster=True, name="capacity-asynchronous")(passes_grant)
case("all", PREEMPTING, own_cluster=True, name="capacity-preemption")(preempted)
case("all", CAPACITY, name="capacity-spark-client-mode")(cases_spark.client_mode)
case("all", CAPACITY, name="capacity-spark-cluster-mode")(cases_spark.cluster_mode)

# Hadoop's nodes beside Fairlead's, and Spark 4.
BESIDE = dataclasses.replace(CAPACITY, hadoop="3.4.3", spark="4.3.0", nodes=("java", "fairlead"))
for _job, _run in {"pi": cases_mapreduce.pi, "spark-cluster-mode": cases_spark.cluster_mode,
                   "spark-client-mode": cases_spark.client_mode, "spark-dynamic-allocation": cases_spark.dynamic_allocation, "yarn-client": cases_yarn.yarn_client}.items():
    case("all", BESIDE, name=f"capacity-mixed-nodes-{_job}")(_run)
case("all", BESIDE, own_cluster=True, name="capacity-daemons-killed")(cases_restart.daemons_killed)
case("all", dataclasses.replace(BESIDE, rm=None, yarn_site=cases_ha.DEFAULTS), own_cluster=True, name="capacity-takeover")(
    lambda cluster, work: cases_ha.on_two(work, dataclasses.replace(BESIDE, rm=None, yarn_site=cases_ha.DEFAULTS),
                                          lambda two, inside: cases_ha.mapreduce(two, inside, cases_ha.killed)))
