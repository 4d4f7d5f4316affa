"""Pages of real masters in a real browser that reaches the resource manager alone: every link, script and request of them through /proxy/APPLICATION/."""
import json
import subprocess

import peers
import spark_cluster
from cases_third_party import FAIR, FLINK, counts_in, flink_cli, flink_program
from jobs import Background, PausedJob, go_on, require_end, stand_still
from registry import Spec, case, require_success
from texts import text_file

DEAD = ["/jobhistory/"]  # Hadoop's page of a job's configuration takes itself for the history server's
NOISE = ["SVGLength"]  # Flink's graph measures itself before it is shown
BROWSER = peers.ROOT / "tests/browser"


def browse(start, below, clicks, nodes=()):
    """proxied.mjs: from `start`, whose link to the proxy is followed first."""
    subprocess.run([BROWSER / "setup"], check=True)
    view = {"start": start, "below": below, "nodes": nodes, "clicks": clicks, "depth": 2, "dead": DEAD, "noise": NOISE}
    seen = subprocess.run(["node", peers.ROOT / "build/browser/proxied.mjs", json.dumps(view)], capture_output=True, text=True, timeout=900)
    assert seen.returncode == 0, seen.stdout + seen.stderr[-2000:]
    print(seen.stdout, end="", flush=True)


def browse_application(cluster, app_id, clicks):
    """From the application's page at the resource manager; its containers' logs are at their nodes, as with Hadoop."""
    browse(cluster.page(f"/cluster/app/{app_id}"), f"/proxy/{app_id}/", clicks, [node["nodeHTTPAddress"] for node in cluster.get("/ws/v1/cluster/nodes")["nodes"]["node"]])


@case("all")
def mapreduce_page_in_a_browser(cluster, work):
    """Job, its tasks, a task's attempts, counters, configuration: while the maps stand still."""
    job = Background(work, "pi", cluster.example_command("pi", "-Dmapreduce.map.speculative=false", "2", "100000"), cluster.client_environment())
    cluster.wait(lambda: job.running() and cluster.apps() and stand_still(cluster.apps()[-1]["id"]), "running tasks", 120)
    app_id = cluster.apps()[-1]["id"]
    job_id = app_id.replace("application", "job")
    browse_application(cluster, app_id, [["", "QuasiMonteCarlo"], [f"a:text-is('{job_id}')", "Elapsed"], ["a:text-is('Map tasks')", "task_"], [f"a:text-is('{job_id.replace('job', 'task')}_m_000000')", "attempt_"]])
    go_on(app_id)
    job.finish()
    require_end(cluster, app_id)


SPARK_CLICKS = [["", "Completed Jobs"], ["a:text-is('Stages')", "Completed Stages"], ["td a.name-link", "Aggregated Metrics by Executor"],
                ["a:text-is('Environment')", "Spark Properties"], ["a:text-is('Executors')", "Summary"]]


def spark_page(mode):
    def run(cluster, work):
        """Jobs, a stage, executors, environment of an application that has had a job and waits to have another."""
        # A driver in cluster mode shows its page to the manager's own address alone (AmIpFilter), so it has to be reached from there.
        job = PausedJob(cluster, work, "--deploy-mode", mode, "--conf", "spark.ui.enabled=true", "--conf", "spark.ui.port=0",
                        "--conf", "spark.yarn.appMasterEnv.SPARK_LOCAL_IP=127.0.0.1", "--name", "paused-and-seen", again=True)
        app_id = job.await_round()
        job.release()
        cluster.wait(lambda: job.running() and (work / "idle").exists(), "the first job's end", 120)
        browse_application(cluster, app_id, SPARK_CLICKS)
        (work / "go-on").touch()
        job.result()
    return run


for _spark, _hadoop in (("3.5.5", "3.3.6"), ("4.3.0", "3.4.3")):
    for _mode in ("client", "cluster"):
        case("all", Spec(hadoop=_hadoop, spark=_spark), name=f"spark-page-in-a-browser-{_mode}-{_spark}")(spark_page(_mode))


@case("all", spark_cluster.Spec(spark="4.3.0", conf=(("spark.ui.reverseProxy", "true"), ("spark.ui.enabled", "true"), ("spark.ui.port", "0"))), own_cluster=True)
def standalone_page_in_a_browser(cluster, work):
    """The same driver behind a Standalone Master of Fairlead's; logs of its executors are Workers' pages, and these are behind the Master, too."""
    job = PausedJob(cluster, work, again=True)
    app_id = job.await_round()
    job.release()
    cluster.wait(lambda: job.running() and (work / "idle").exists(), "the first job's end", 120)
    browse(f"http://127.0.0.1:{cluster.web}/", f"/proxy/{app_id}/", SPARK_CLICKS + [["a:text-is('stderr') >> nth=0", "Spark Executor Command"]])
    (work / "go-on").touch()
    job.result()


@case("all", FAIR)
def flink_page_in_a_browser(cluster, work):
    """A session with a job that has ended: overview, the job, its vertices, task managers, the master's configuration and log."""
    web = FLINK.replace("flink-", "flink-web-")
    peers.fetch(FLINK, web)
    counts = text_file(work / "text")
    require_success(flink_cli(cluster, work, "yarn.cli.FlinkYarnSessionCli", "-d", "-t", peers.LAB / web), "yarn-session -d")
    app_id = cluster.apps()[-1]["id"]
    require_success(flink_cli(cluster, work, "client.cli.CliFrontend", "run", "-t", "yarn-session", f"-Dyarn.application.id={app_id}", "-c", "FlinkWordCount",
                              flink_program(work), work / "text", work / "out"), "flink run")
    assert counts_in(path for path in (work / "out").rglob("part-*")) == dict(counts), "the word count differs"
    browse_application(cluster, app_id, [["", "Completed Job List"], ["td:has-text('words')", "Keyed Aggregation"],
                                         ["li:has-text('Task Managers') >> nth=0", "Task Managers"], ["li:has-text('Job Manager') >> nth=0", "JVM (Heap/Non-Heap) Memory"],
                                         ["[role=tab]:has-text('Configuration')", "root.alpha"], ["[role=tab]:has-text('Thread Dump')", "main"]])
    cluster.end_app(app_id)
    require_end(cluster, app_id, "KILLED", "KILLED")
