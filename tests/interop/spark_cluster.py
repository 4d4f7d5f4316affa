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
from daemons import Daemons
from standalone import listening


@dataclasses.dataclass(frozen=True)
class Spec:
    spark: str = "4.3.0"
    master: str = "fairlead"                # or "spark"
    worker: str = "spark"                   # or "fairlead"
    workers: tuple[int, ...] = (2, 2)       # cores of each
    conf: tuple[tuple[str, str], ...] = ()  # of all daemons and applications; {directory} is the cluster's

    def needs(self):
        return {f"spark-{self.spark}"}


class SparkCluster(Daemons):
    def __init__(self, directory, spec):
        super().__init__(directory)
        self.spec = spec
        self.home = peers.spark(spec.spark)
        self.port, self.web, self.rest = peers.free_ports(3)
        self.url = f"spark://127.0.0.1:{self.port}"
        self.conf = {"spark.ui.enabled": "false", "spark.local.dir": self.directory / "local", "spark.master.rest.enabled": "true",
                     "spark.master.rest.port": self.rest, **{key: value.format(directory=self.directory) for key, value in spec.conf}}
        self.properties = self.directory / "spark-defaults.conf"
        self.environment = {
            **os.environ, "JAVA_HOME": peers.java_home(), "SPARK_HOME": str(self.home), "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_SCALA_VERSION": "2.13" if spec.spark.startswith("4") else "2.12", "PYSPARK_PYTHON": sys.executable}

    def start(self):
        self.properties.write_text("".join(f"{key} {value}\n" for key, value in self.conf.items()))
        self.start_master()
        for number, cores in enumerate(self.spec.workers):
            self.start_worker(number, cores)
        self.wait(lambda: self.page()["aliveworkers"] == len(self.spec.workers), "the workers' registration")

    def start_master(self):
        words = ["--host", "127.0.0.1", "--port", self.port, "--webui-port", self.web, "--properties-file", self.properties]
        self.daemon("master", self.spec.master, words)
        self.wait(lambda: listening(self.port), "the master")

    def start_worker(self, number, cores, memory="2g", properties=None):
        words = ["--host", "127.0.0.1", "--webui-port", 0, "--cores", cores, "--memory", memory, "--work-dir", self.directory / f"work-{number}",
                 "--properties-file", properties or self.properties, self.url]
        self.daemon(f"worker-{number}", self.spec.worker, words)

    def daemon(self, name, kind, words):
        role = name.split("-")[0]
        if kind == "fairlead":
            return self.spawn(name, [peers.BINARY, f"spark-{role}", *words], env=self.environment)
        main = f"org.apache.spark.deploy.{role}.{role.capitalize()}"
        return self.spawn(name, [peers.java(), "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *peers.OPENS, "-cp", f"{self.home}/jars/*",
                                 main, *words], env=self.environment)

    def log(self, name="master"):
        return (self.directory / f"{name}.log").read_text(errors="replace")

    def page(self, path="/json/"):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.web}{path}", timeout=10) as answer:
            return json.load(answer)

    def spark_command(self, *words, **conf):
        every = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.memory": "512m", "spark.executor.memory": "512m",
                 "spark.executor.cores": 1, "spark.cores.max": 2, **self.conf, **conf}
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
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.readlink(entry / "cwd").startswith(str(self.directory)):
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                continue
