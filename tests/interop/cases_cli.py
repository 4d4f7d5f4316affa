"""Fairlead's own commands against a stock ResourceManager: they speak YARN's protocols, and mark what only Fairlead knows as absent."""
import json
import subprocess

import peers
from registry import Spec, case, require_success

STOCK = Spec(rm="java", nodes=("java", "java"))


def fairlead(cluster, *words):
    return subprocess.run([str(w) for w in (peers.BINARY, *words, "--hadoop-conf", cluster.conf)], capture_output=True, text=True, timeout=120)


def answer(cluster, *words):
    run = fairlead(cluster, *words, "--json")
    require_success(run, "fairlead " + " ".join(words))
    return json.loads(run.stdout)


def sleeping_job(cluster, work):
    """A MapReduce job that takes a while, in the background; gives the process and the application's id."""
    process = subprocess.Popen(cluster.java_command("org.apache.hadoop.util.RunJar", peers.examples_jar(), "pi", "-Dmapreduce.job.queuename=root.alpha", "8", "200000000"), cwd=work,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=cluster.client_environment())
    cluster.wait(lambda: any(app["state"] == "RUNNING" for app in answer(cluster, "apps")), "the job to run")
    return process, next(app["id"] for app in answer(cluster, "apps") if app["state"] == "RUNNING")


@case("all", STOCK)
def commands_on_a_stock_resource_manager(cluster, work):
    nodes = answer(cluster, "nodes")
    assert len(nodes) == 2 and all(node["state"] == "RUNNING" for node in nodes), nodes
    process, app_id = sleeping_job(cluster, work)
    try:
        app = answer(cluster, "app", app_id)
        assert app["id"] == app_id and app["state"] == "RUNNING", app
        assert app["fairlead"] is None, "what only Fairlead knows is absent on a stock ResourceManager"
        require_success(fairlead(cluster, "logs", app_id), "logs")
        require_success(fairlead(cluster, "kill", app_id), "kill")
        cluster.wait(lambda: answer(cluster, "app", app_id)["state"] == "KILLED", "the kill")
        missing = fairlead(cluster, "app", "application_1_0001")
        assert missing.returncode == 4, (missing.returncode, missing.stderr)
    finally:
        process.kill()
        process.wait()
