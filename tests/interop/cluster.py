"""A Fairlead cluster on this machine for real clients: one resource manager and two node agents, started with nothing but Hadoop's
configuration files."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
import json
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LAB = ROOT / "build/interop"
BINARY = ROOT / "build/fairlead"
HADOOP = LAB / ("hadoop-" + os.environ.get("HADOOP_VERSION", "3.3.6"))
SPARK = LAB / ("spark-" + os.environ.get("SPARK_VERSION", "3.5.5"))
OPENS = [f"--add-opens=java.base/{p}=ALL-UNNAMED" for p in (
    "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util", "java.util.concurrent",
    "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar")]


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def java_home():
    if "JAVA_HOME" in os.environ:
        return os.environ["JAVA_HOME"]
    return str(pathlib.Path(shutil.which("java")).resolve().parent.parent)


def write_site(path, properties):
    lines = [f"  <property><name>{k}</name><value>{escape(str(v))}</value></property>" for k, v in properties.items()]
    path.write_text("<configuration>\n" + "\n".join(lines) + "\n</configuration>\n")


class Cluster:
    def __init__(self, directory, extra=None):
        self.directory = pathlib.Path(directory)
        self.conf = self.directory / "conf"
        self.processes = {}
        (self.scheduler, self.tracker, self.client, self.admin, self.web, self.shuffle, self.mapreduce, self.history,
         self.history_web, self.history_admin) = free_ports(10)
        self.extra = extra or {}

    def node_conf(self, number):
        return self.directory / f"nm{number}"

    def write(self):
        opens = " ".join(OPENS)
        core = {"fs.defaultFS": "file:///", "hadoop.tmp.dir": self.directory / "tmp", "ipc.client.connect.max.retries": 3}
        yarn = {
            "yarn.resourcemanager.hostname": "127.0.0.1",
            "yarn.resourcemanager.scheduler.address": f"127.0.0.1:{self.scheduler}",
            "yarn.resourcemanager.resource-tracker.address": f"127.0.0.1:{self.tracker}",
            "yarn.resourcemanager.address": f"127.0.0.1:{self.client}",
            "yarn.resourcemanager.admin.address": f"127.0.0.1:{self.admin}",
            "yarn.resourcemanager.webapp.address": f"127.0.0.1:{self.web}",
            "yarn.resourcemanager.scheduler.class": "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler",
            "yarn.scheduler.fair.allocation.file": self.conf / "fair-scheduler.xml",
            "yarn.scheduler.minimum-allocation-mb": 256,
            "yarn.scheduler.increment-allocation-mb": 256,
            "yarn.scheduler.maximum-allocation-mb": 4096,
            "yarn.nodemanager.resource.memory-mb": 6144,
            "yarn.nodemanager.resource.cpu-vcores": 6,
            "yarn.nodemanager.aux-services": "mapreduce_shuffle,spark_shuffle",
            "yarn.nodemanager.vmem-check-enabled": "false",
            "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": 99.5,
            "spark.shuffle.service.port": self.shuffle,
            "yarn.application.classpath": f"{HADOOP}/*",
        }
        mapred = {
            "mapreduce.framework.name": "yarn",
            "mapreduce.application.classpath": f"{HADOOP}/*",
            "mapreduce.shuffle.port": self.mapreduce,
            "mapreduce.jobhistory.address": f"127.0.0.1:{self.history}",
            "mapreduce.jobhistory.webapp.address": f"127.0.0.1:{self.history_web}",
            "mapreduce.jobhistory.admin.address": f"127.0.0.1:{self.history_admin}",
            "yarn.app.mapreduce.am.staging-dir": self.directory / "staging",
            "yarn.app.mapreduce.am.resource.mb": 768,
            "yarn.app.mapreduce.am.command-opts": "-Xmx512m -XX:TieredStopAtLevel=1 " + opens,
            "mapreduce.map.memory.mb": 512,
            "mapreduce.reduce.memory.mb": 512,
            "mapred.child.java.opts": "-Xmx300m -XX:TieredStopAtLevel=1 " + opens,
        }
        yarn.update(self.extra)
        for number in (0, 1, 2):
            directory = self.conf if number == 0 else self.node_conf(number)
            directory.mkdir(parents=True, exist_ok=True)
            own = dict(yarn)
            if number:
                host = f"127.0.0.{number}"
                own.update({
                    "yarn.nodemanager.hostname": host,
                    "yarn.nodemanager.address": f"{host}:0",
                    "yarn.nodemanager.webapp.address": f"{host}:0",
                    "yarn.nodemanager.local-dirs": self.directory / f"nm{number}-local",
                    "yarn.nodemanager.log-dirs": self.directory / f"nm{number}-logs",
                    "yarn.nodemanager.recovery.dir": self.directory / f"nm{number}-state",
                })
            write_site(directory / "core-site.xml", core)
            write_site(directory / "yarn-site.xml", own)
            write_site(directory / "mapred-site.xml", mapred)
        (self.conf / "fair-scheduler.xml").write_text(
            '<allocations><queue name="alpha"><weight>2</weight></queue><queue name="beta"/></allocations>\n')

    def spawn(self, name, command, **kwargs):
        with open(self.directory / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen([str(c) for c in command], stdout=log, stderr=log, start_new_session=True, **kwargs)

    def start_rm(self):
        self.spawn("rm", [BINARY, "rm", "--hadoop-conf", self.conf])

    def start_nm(self, number):
        self.spawn(f"nm{number}", [BINARY, "nm", "--hadoop-conf", self.node_conf(number)], env={**os.environ, "JAVA_HOME": java_home()})

    def start_history(self):
        self.spawn("history", [java_home() + "/bin/java", "-Xmx256m", "-XX:TieredStopAtLevel=1", *OPENS, "-cp", f"{self.conf}:{HADOOP}/*",
                               "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer"])

    def start(self):
        self.write()
        self.start_rm()
        for number in (1, 2):
            self.start_nm(number)
        self.start_history()
        self.wait(lambda: self.get("/ws/v1/cluster/metrics")["clusterMetrics"]["activeNodes"] == 2, "two active nodes")

    def wait(self, condition, what, seconds=60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for name, process in self.processes.items():
                if process.poll() is not None:
                    raise AssertionError(f"{name} ended with {process.returncode}; its log: {self.directory / (name + '.log')}")
            try:
                if condition():
                    return
            except (OSError, KeyError, ValueError):
                pass
            time.sleep(0.1)
        raise AssertionError(f"waited {seconds} s for {what}")

    def get(self, path):
        request = urllib.request.Request(f"http://127.0.0.1:{self.web}{path}", headers={"Accept": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def app(self, app_id):
        return self.get("/ws/v1/cluster/apps/" + app_id)["app"]

    def stop(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.terminate()
        for process in self.processes.values():
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def java(self, main, *arguments, **kwargs):
        command = [java_home() + "/bin/java", "-Xmx512m", "-XX:TieredStopAtLevel=1", *OPENS, "-cp", f"{self.conf}:{HADOOP}/*", main, *arguments]
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, env={**os.environ, "HADOOP_CONF_DIR": str(self.conf)}, **kwargs)

    def spark_submit(self, *arguments, **kwargs):
        python = shutil.which("python3")
        work = self.directory / "spark"
        work.mkdir(exist_ok=True)
        command = [SPARK / "bin/spark-submit", "--master", "yarn"]
        for key, value in {
                "spark.yarn.jars": f"local:{SPARK}/jars/*", "spark.pyspark.python": python, "spark.pyspark.driver.python": python,
                "spark.driver.memory": "512m", "spark.executor.memory": "512m", "spark.executor.cores": 1, "spark.yarn.am.memory": "512m",
                "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": 4,
                "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1", "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
                "spark.shuffle.service.port": self.shuffle, "spark.hadoop.fs.defaultFS": "file:///",
                "spark.yarn.stagingDir": f"file://{work}/staging"}.items():
            command += ["--conf", f"{key}={value}"]
        environment = {**os.environ, "SPARK_HOME": str(SPARK), "HADOOP_CONF_DIR": str(self.conf), "YARN_CONF_DIR": str(self.conf),
                       "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(work / "local"), "JAVA_HOME": java_home()}
        return subprocess.run([str(c) for c in command + list(arguments)], capture_output=True, text=True, env=environment, **kwargs)
