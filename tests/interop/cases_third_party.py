"""Programs that others wrote for YARN: Tez, Flink and Skein. DistributedShell is in no registry."""
import dataclasses
import os
import subprocess

import peers
from cases_capacity import CAPACITY
from jobs import Background, require_end
from registry import Spec, case, require_success
from texts import text_file

TEZ, FLINK, SKEIN = "tez-0.10.5", "flink-1.20.1", "skein-0.8.2"
# Their masters find the cluster by the configuration in the class path, as on any cluster.
def with_class_path(spec):
    return dataclasses.replace(spec, yarn_site=(("yarn.application.classpath", f"{{directory}}/conf,{peers.hadoop(spec.hadoop)}/*"),))


FAIR = with_class_path(Spec(history=False))
CAPACITY_3_4 = with_class_path(dataclasses.replace(CAPACITY, hadoop="3.4.3"))


def counts_in(files):
    """Of lines "word, a tab or blank, count"; a word is there once."""
    found = {}
    for path in files:
        for line in path.read_text().splitlines():
            word, count = line.split()
            assert word not in found, word
            found[word] = int(count)
    return found


def tez_word_count(cluster, work):
    """A graph of three vertices with two shuffles by the nodes' service, also on one node; its jars are localized from tez.lib.uris."""
    peers.fetch(TEZ)
    jars = peers.LAB / TEZ
    counts = text_file(work / "text")
    conf = work / "conf"
    conf.mkdir()
    peers.write_site(conf / "tez-site.xml", {
        "tez.lib.uris": f"file://{jars}", "tez.use.cluster.hadoop-libs": "true", "tez.staging-dir": work / "staging", "tez.queue.name": "root.alpha",
        "tez.am.resource.memory.mb": 768, "tez.task.resource.memory.mb": 512, "tez.am.launch.cmd-opts": " ".join(cluster.jvm()),
        "tez.task.launch.cmd-opts": " ".join(cluster.jvm()), "tez.runtime.io.sort.mb": 64, "tez.runtime.optimize.local.fetch": "false"})
    command = [peers.java(), "-Xmx512m", *cluster.jvm(), "-cp", f"{conf}:{cluster.conf}:{jars}/*:{cluster.hadoop}/*",
               "org.apache.tez.examples.ExampleDriver", "orderedwordcount", work / "text", work / "out", "2"]
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=cluster.client_environment(), cwd=work, timeout=300)
    require_success(run, "Tez's ordered word count")
    assert counts_in((work / "out").glob("part-*")) == dict(counts), "the word count differs"
    app = require_end(cluster, cluster.apps()[-1]["id"])
    assert (app["applicationType"], app["queue"]) == ("TEZ", "root.alpha"), app


def flink_conf(work, cluster):
    conf = work / "conf"
    conf.mkdir(exist_ok=True)
    (conf / "config.yaml").write_text(f"""jobmanager.memory.process.size: 1024m
taskmanager.memory.process.size: 1024m
taskmanager.numberOfTaskSlots: 1
parallelism.default: 2
rest.address: 127.0.0.1
yarn.application.queue: root.alpha
yarn.staging-directory: file://{work}/staging
env.java.opts.all: "{' '.join(peers.OPENS + peers.JVM)}"
""")
    (conf / "log4j.properties").write_text("""log4j.rootLogger=INFO, err
log4j.appender.err=org.apache.log4j.ConsoleAppender
log4j.appender.err.target=System.err
log4j.appender.err.layout=org.apache.log4j.SimpleLayout
""")
    return conf


def flink_program(work):
    """FlinkWordCount in a jar."""
    peers.fetch(FLINK)
    classes = work / "classes"
    subprocess.run([peers.java() + "c", "-nowarn", "-d", classes, "-cp", f"{peers.LAB / FLINK}/*", peers.HERE / "java/flink/FlinkWordCount.java"], check=True)
    subprocess.run([peers.java()[:-4] + "jar", "--create", "--file", work / "job.jar", "-C", classes, "."], check=True)
    return work / "job.jar"


def flink_cli(cluster, work, main, *words):
    """A run of one of Flink's own commands, by its class below org.apache.flink."""
    peers.fetch(FLINK)
    jars = peers.LAB / FLINK
    command = [peers.java(), "-Xmx512m", *peers.OPENS, *cluster.jvm(), "-cp", f"{jars}/*:{cluster.conf}:{cluster.hadoop}/*", f"org.apache.flink.{main}", *words]
    environment = {**cluster.client_environment(), "FLINK_CONF_DIR": str(flink_conf(work, cluster)), "FLINK_LIB_DIR": str(jars)}
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment, cwd=work, timeout=300)


def flink_word_count(cluster, work):
    """Application mode: the job runs in the master, which asks for task managers and gives them back."""
    counts = text_file(work / "text")
    program = flink_program(work)
    require_success(flink_cli(cluster, work, "client.cli.CliFrontend", "run-application", "-t", "yarn-application", "-c", "FlinkWordCount", program,
                              work / "text", work / "out"), "flink run-application")
    app = require_end(cluster, cluster.apps()[-1]["id"])
    assert app["applicationType"] == "Apache Flink", app
    assert counts_in(path for path in (work / "out").rglob("part-*")) == dict(counts), "the word count differs"


def skein_services(cluster, work):
    """Two containers of a service, a third that is asked for while it runs, and their end."""
    peers.fetch(SKEIN)
    tools = work / "bin"
    tools.mkdir()
    (tools / "yarn").write_text(f"#!/bin/sh\necho {cluster.conf}:{':'.join(map(str, sorted(cluster.hadoop.glob('*.jar'))))}\n")
    (tools / "yarn").chmod(0o755)
    environment = {**cluster.client_environment(), "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(peers.LAB / SKEIN), "SKEIN_CONFIG": str(work / "skein")}
    job = Background(work, "skein", ["python3", peers.HERE / "skein_job.py", work], environment)
    cluster.wait(lambda: job.running() and len(list(work.glob("begun-*"))) == 3, "three containers of the service", 180)
    (work / "gate").touch()
    job.finish()
    assert job.text().endswith("SUCCEEDED\n"), job.text()
    app = require_end(cluster, cluster.apps()[-1]["id"])
    assert (app["applicationType"], app["queue"]) == ("skein", "root.alpha"), app


for _name, _run in {"tez-word-count": tez_word_count, "flink-word-count": flink_word_count, "skein-services": skein_services}.items():
    _hdfs = _run is skein_services  # it asks which host the default file system is at
    case("smoke" if _run is tez_word_count else "all", dataclasses.replace(FAIR, hdfs=_hdfs), name=_name)(_run)
    case("all", dataclasses.replace(CAPACITY_3_4, hdfs=_hdfs), name=f"capacity-{_name}")(_run)
