"""Spark's own Master and Worker, unmodified, with `fairlead shuffle` (or Spark's service) on the shuffle service's port."""
import dataclasses
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys

import peers
from daemons import Daemons


@dataclasses.dataclass(frozen=True)
class Spec:
    spark: str = peers.SPARK_VERSION
    conf: tuple[tuple[str, str], ...] = ()  # of Spark's daemons, the service and the applications alike
    service: str = "fairlead"               # or "spark": inside the Worker
    tls: bool = False                       # spark.ssl.rpc, with keys of its own
    bind: str = "127.0.0.1"                 # of fairlead's service

    def needs(self):
        return {f"spark-{self.spark}"}


def listening(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


class Standalone(Daemons):
    def __init__(self, directory, spec):
        super().__init__(directory)
        self.spec = spec
        self.driver = None
        self.home = peers.spark(spec.spark)
        self.roots = self.directory / "local"
        self.roots.mkdir()
        self.events = self.directory / "events"
        self.events.mkdir()
        self.state = self.directory / "state"
        self.properties = self.directory / "spark-defaults.conf"
        self.master, self.shuffle, self.master_web = peers.free_ports(3)
        self.conf = {"spark.shuffle.service.port": self.shuffle, "spark.ui.enabled": "false", "spark.local.dir": self.roots, **dict(spec.conf)}
        self.environment = {
            **os.environ, "JAVA_HOME": peers.java_home(), "SPARK_HOME": str(self.home), "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.roots), "SPARK_SCALA_VERSION": "2.13" if spec.spark.startswith("4") else "2.12",
            "PYSPARK_PYTHON": sys.executable, "SPARK_LAUNCHER_OPTS": " ".join(peers.JVM)}

    def make_keys(self):
        """A key with a certificate it signed itself, and what trusts it, as Spark reads them (spark.ssl.rpc.*)."""
        keys, trusted, certificate = self.directory / "keys.p12", self.directory / "trusted.p12", self.directory / "certificate"
        keytool, store = peers.java_home() + "/bin/keytool", ["-storepass", "changeit", "-storetype", "PKCS12", "-alias", "spark"]
        for words in (["-genkeypair", "-keyalg", "RSA", "-keysize", "2048", "-dname", "CN=spark", "-validity", "2", "-keystore", keys],
                      ["-exportcert", "-file", certificate, "-keystore", keys],
                      ["-importcert", "-noprompt", "-file", certificate, "-keystore", trusted]):
            subprocess.run([keytool, *words, *store], check=True, capture_output=True)
        self.conf.update({"spark.ssl.rpc.enabled": "true", "spark.ssl.rpc.keyStore": keys, "spark.ssl.rpc.keyStorePassword": "changeit",
                          "spark.ssl.rpc.trustStore": trusted, "spark.ssl.rpc.trustStorePassword": "changeit"})

    def start(self):
        if self.spec.tls:
            self.make_keys()
        self.properties.write_text("".join(f"{key} {value}\n" for key, value in self.conf.items()))
        if self.spec.service == "fairlead":
            self.start_service()
        self.daemon("master", {}, "master.Master", "--host", "127.0.0.1", "--port", self.master, "--webui-port", self.master_web)
        self.wait(lambda: listening(self.master), "the master")
        self.start_worker("127.0.0.1", 4)

    def start_worker(self, host, cores):
        """One with more free cores than all before gets the next executor."""
        self.daemon(f"worker-{host}", {"spark.shuffle.service.enabled": str(self.spec.service == "spark").lower()},
                    "worker.Worker", "--host", host, "--webui-port", 0, "--cores", cores, "--memory", "4g",
                    "--work-dir", self.directory / "work", f"spark://127.0.0.1:{self.master}", host=host)
        log = self.directory / "master.log"
        self.wait(lambda: f"Registering worker {host}:" in log.read_text(), "the worker's registration")

    def daemon(self, name, conf, main, *words, host="127.0.0.1"):
        options = [f"-D{key}={value}" for key, value in {**self.conf, **conf}.items()]
        self.spawn(name, [peers.java(), "-Xmx512m", *peers.JVM, *peers.OPENS, *options, "-cp", f"{self.home}/jars/*",
                          f"org.apache.spark.deploy.{main}", *words], env={**self.environment, "SPARK_LOCAL_IP": host})

    def start_service(self):
        self.spawn("shuffle", [peers.BINARY, "shuffle", "--bind", self.spec.bind, "--state", self.state, "--local-roots", self.roots, "--properties-file", self.properties])
        self.wait(lambda: listening(self.shuffle), "the shuffle service", 10)

    def status(self):
        """What `fairlead shuffle status` says."""
        out = subprocess.run([peers.BINARY, "shuffle", "status", "--state", self.state, "--json"], capture_output=True, text=True, check=True)
        return json.loads(out.stdout)

    def counters(self):
        return self.status()["counters"]

    def require(self, condition):
        """A condition on the counters of fairlead's service; Spark's own, which has none of them, is let be."""
        if self.spec.service == "fairlead":
            counters = self.counters()
            assert condition(counters), counters

    def beside(self, **changes):
        """One more, started, of a spec with these changes; below this one's directory, and to be stopped by the caller."""
        directory = self.directory / "beside"
        directory.mkdir()
        other = Standalone(directory, dataclasses.replace(self.spec, **changes))
        other.start()
        return other

    def executors(self):
        """Pids of the executors of this cluster."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0") if entry.name.isdigit() else []
            except OSError:
                continue
            if f"-Dfairlead.interop={self.shuffle}" in words and any("CoarseGrainedExecutorBackend" in word for word in words):
                found.append(int(entry.name))
        return found

    def kill_executors(self):
        """kill -9 of all that run now; gives how many."""
        pids = self.executors()
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self.wait(lambda: not set(pids) & set(self.executors()), "the executors' end")
        return len(pids)

    def submit(self, conf, *words):
        """Starts an application in client mode; its output goes to driver.log."""
        every = {
            "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.memory": "512m",
            "spark.executor.memory": "512m", "spark.executor.cores": 1, "spark.cores.max": 2, "spark.shuffle.service.enabled": "true",
            "spark.shuffle.readHostLocalDisk": "false", "spark.executor.extraJavaOptions": " ".join([f"-Dfairlead.interop={self.shuffle}", *peers.JVM]),
            "spark.driver.extraJavaOptions": " ".join(peers.JVM),
            "spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file://{self.events}", "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false", **self.conf, **conf}
        options = [word for key, value in every.items() for word in ("--conf", f"{key}={value}")]
        self.spawn("driver", [self.home / "bin/spark-submit", "--master", f"spark://127.0.0.1:{self.master}", *options, *words],
                   env=self.environment)
        self.driver = self.processes.pop("driver")
        return self.driver

    def task_ends(self):
        """The listener's SparkListenerTaskEnd of the application that has ended."""
        lines = [line for path in self.events.iterdir() for line in path.read_text().splitlines()]
        return [event for event in map(json.loads, lines) if event["Event"] == "SparkListenerTaskEnd"]

    def complaints(self):
        """Warnings and errors in the logs of driver and executors: (class, text with N for numbers and "shuffle" for the service's port)."""
        found = set()
        for log in [self.directory / "driver.log", *self.directory.glob("work/*/*/stderr")]:
            text = log.read_text(errors="replace")
            for line in text[:text.rfind("\n") + 1].splitlines():  # a killed process leaves half a line
                match = re.match(r"\S+ \S+ (WARN|ERROR) (\w+): (.*)", line)
                if match:
                    found.add((match[2], re.sub(r"\d+", "N", match[3].replace(f":{self.shuffle}", ":shuffle"))))
        return found

    def stop(self):
        if self.driver and self.driver.poll() is None:
            os.killpg(self.driver.pid, signal.SIGKILL)
        for pid in self.executors():
            os.kill(pid, signal.SIGKILL)
        super().stop()
