"""Profile `yarn-capacity`: a cluster of the CapacityScheduler, with its own capacity-scheduler.xml."""
import dataclasses

from cases_mapreduce import require_pi
from jobs import Background, container_processes, require_end
from registry import Spec, case, require_success
import cases_spark

QUEUES = (("root.queues", "alpha,beta"), ("root.alpha.capacity", "50"), ("root.beta.capacity", "50"),
          ("maximum-am-resource-percent", "0.5"), ("root.alpha.maximum-capacity", "100"))
CAPACITY = Spec(capacity=QUEUES, history=False)
PREEMPTING = dataclasses.replace(CAPACITY, yarn_site=(
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


def preempted(cluster, work):
    """A job that has the whole cluster loses maps to the queue that has its share coming, and still ends well."""
    large = Background(work, "large", cluster.example_command("pi", "30", "30000000"), cluster.client_environment())
    cluster.wait(lambda: large.running() and cluster.apps(), "the submission", 120)
    first = cluster.apps()[0]["id"]
    cluster.wait(lambda: len(container_processes(first)) > 8, "a cluster full of maps", 120)
    run = cluster.example("pi", "-Dmapreduce.job.queuename=root.beta", "6", "1000", cwd=work)
    require_success(run, "the second queue's job")
    assert cluster.app(first)["state"] == "RUNNING", "the first one ended before: nothing was preempted"
    large.finish()
    require_pi(large.text())
    assert "Failed map tasks" not in large.text(), large.text()[-3000:]
    assert cluster.app(first)["preemptedMemorySeconds"] > 0, cluster.app(first)


case("smoke", CAPACITY, own_cluster=True, name="capacity-mapreduce")(run_and_change)
case("all", PREEMPTING, own_cluster=True, name="capacity-preemption")(preempted)
case("all", CAPACITY, name="capacity-spark-client-mode")(cases_spark.client_mode)
case("all", CAPACITY, name="capacity-spark-cluster-mode")(cases_spark.cluster_mode)
