"""A Spark Standalone cluster whose Master and Workers are each Spark's own or Fairlead's."""
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import urllib.request

import peers
import tls
from daemons import Daemons
from standalone import listening
from zookeeper import ZooKeeper


@dataclasses.dataclass(frozen=True)
class Spec:
    spark: str = "4.3.0"
    master: str = "fairlead"                # or "spark"
    worker: str = "spark"                   # or "fairlead"
    workers: tuple[int, ...] = (2, 2)       # cores of each
    memory: str = "2g"                      # of each worker
    conf: tuple[tuple[str, str], ...] = ()  # of all daemons and applications; {directory} is the cluster's, {shuffle} a port, {zookeeper} its address
    options: tuple[str, ...] = ()           # further words of our master's command line
    queues: str = ""                        # a fair-scheduler.xml for it
    masters: int = 1                        # more than one: with ZooKeeper
    tls: bool = False                       # pages by HTTPS

    def needs(self):
        return {f"spark-{self.spark}"}

    def all_java(self):
        return dataclasses.replace(self, master="spark", worker="spark")


class SparkCluster(Daemons):
    def __init__(self, directory, spec):
        super().__init__(directory)
        self.spec = spec
        self.home = peers.spark(spec.spark)
        self.ports = [peers.free_ports(3) for _ in range(spec.masters)]
        self.leader = 0  # as the case knows
        self.shuffle, = peers.free_ports(1)
        self.zookeeper = ZooKeeper(self.directory / "zookeeper") if spec.masters > 1 else None
        self.url = "spark://" + ",".join(f"127.0.0.1:{port}" for port, _, _ in self.ports)
        (self.directory / "local").mkdir(parents=True, exist_ok=True)  # Spark's own Worker keeps its service's rows there
        self.conf = {"spark.ui.enabled": "false", "spark.local.dir": self.directory / "local", "spark.master.rest.enabled": "true",
                     **{key: value.format(directory=self.directory, shuffle=self.shuffle, zookeeper=self.zookeeper and self.zookeeper.address) for key, value in spec.conf}}
        self.trusting = None
        if spec.tls:
            made = tls.Certificates(self.directory)
            self.trusting = made.trusting()
            ssl = {"enabled": "true", "keyStore": made.make_pkcs12(), "keyStorePassword": tls.PASSWORD, "keyStoreType": "PKCS12"}
            self.conf.update({f"spark.ssl.standalone.{key}": value for key, value in ssl.items()})
        self.properties = self.directory / "spark-defaults.conf"
        self.environment = {
            **os.environ, "JAVA_HOME": peers.java_home(), "SPARK_HOME": str(self.home), "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_SCALA_VERSION": "2.13" if spec.spark.startswith("4") else "2.12", "PYSPARK_PYTHON": sys.executable, "SPARK_LAUNCHER_OPTS": " ".join(peers.JVM)}

    port, web, rest = (property(lambda self, at=at: self.ports[self.leader][at]) for at in range(3))

    def start(self):
        self.properties.write_text("".join(f"{key} {value}\n" for key, value in self.conf.items()))
        if self.zookeeper:
            self.zookeeper.start()
        for number in range(self.spec.masters):
            self.start_master(number)
        self.await_leader()
        for number, cores in enumerate(self.spec.workers):
            self.start_worker(number, cores)
        self.wait(lambda: self.page()["aliveworkers"] == len(self.spec.workers), "the workers' registration")

    def start_master(self, number=0):
        """Master 0 is called "master", as that of a cluster with one."""
        port, web, rest = self.ports[number]
        words = ["--host", "127.0.0.1", "--port", port, "--webui-port", web, "--properties-file", self.properties]
        if self.spec.queues:
            queues = self.directory / "fair-scheduler.xml"
            queues.write_text(self.spec.queues)
            words += ["--set", f"yarn.scheduler.fair.allocation.file={queues}"]
        self.daemon(self.master_name(number), self.spec.master, [*words, *self.spec.options], options=f"-Dspark.master.rest.port={rest}")
        self.wait(lambda: listening(port), "the master")

    @staticmethod
    def master_name(number):
        return f"master-{number}" if number else "master"

    def status(self, number):
        """STANDBY, RECOVERING, ALIVE; nothing from one that does not answer."""
        try:
            return self.page(web=self.ports[number][1], timeout=2)["status"]
        except OSError:
            return None

    def await_leader(self, other_than=None, seconds=60):
        """Waits until one of the masters is ALIVE, makes it the leader, and gives its number."""
        def leads():
            alive = [n for n in range(self.spec.masters) if n != other_than and self.status(n) == "ALIVE"]
            self.leader = alive[0] if alive else self.leader
            return bool(alive)
        self.wait(leads, "a leader", seconds)
        return self.leader

    def start_worker(self, number, cores, properties=None):
        words = ["--host", "127.0.0.1", "--webui-port", 0, "--cores", cores, "--memory", self.spec.memory, "--work-dir", self.directory / f"work-{number}",
                 "--properties-file", properties or self.properties, self.url]
        self.daemon(f"worker-{number}", self.spec.worker, words)

    def daemon(self, name, kind, words, options=""):
        role = name.split("-")[0]
        if kind == "fairlead":
            return self.spawn(name, [peers.BINARY, f"spark-{role}", *words], env={**self.environment, "SPARK_DAEMON_JAVA_OPTS": options})
        main = f"org.apache.spark.deploy.{role}.{role.capitalize()}"
        return self.spawn(name, [peers.java(), "-Xmx384m", *peers.JVM, *peers.OPENS, *options.split(), "-cp",
                                 f"{self.home}/jars/*", main, *words], env=self.environment)

    def log(self, name="master"):
        return (self.directory / f"{name}.log").read_text(errors="replace")

    def page(self, path="/json/", web=None, timeout=10):
        """With `tls` this is sent on to the port of HTTPS."""
        return self.fetch(f"http://127.0.0.1:{web or self.web}{path}", timeout)

    def fetch(self, url, timeout=10):
        with urllib.request.urlopen(url, timeout=timeout, context=self.trusting) as answer:
            return json.load(answer)

    def spark_command(self, *words, **conf):
        every = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.memory": "512m", "spark.executor.memory": "512m",
                 "spark.executor.cores": 1, "spark.cores.max": 2,
                 **dict.fromkeys(("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"), " ".join(peers.JVM)),
                 **self.conf, **conf}
        options = [word for key, value in every.items() for word in ("--conf", f"{key}={value}")]
        return [self.home / "bin/spark-submit", "--master", self.url, *options, *words], self.environment

    def processes_of(self, app_id):
        """{executor: pid} of the application's executors."""
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0") if entry.name.isdigit() else []
            except OSError:
                continue
            if app_id in words and "--executor-id" in words:
                found[words[words.index("--executor-id") + 1]] = int(entry.name)
        return found

    def stop(self):
        super().stop()
        if self.zookeeper:
            self.zookeeper.stop()
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.readlink(entry / "cwd").startswith(str(self.directory)):
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                continue
