#!/usr/bin/env python3
"""Spark's standalone Master and Worker, unmodified, with `fairlead shuffle` on the shuffle service's port.

usage: shuffle_standalone.py --binary build/fairlead --spark HOME [--spark HOME]... [--only CASE] [--keep]
HOME is a directory with jars/, bin/ and python/ of a Spark release. Every case checks the result, and that no map task ran again
although executors or the service died. Ends with "N passed, N failed".
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
OPENS = " ".join(f"--add-opens=java.base/{p}=ALL-UNNAMED" for p in (
    "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util", "java.util.concurrent",
    "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar"))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError(f"waited {seconds} s for {what}")


def listening(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


class Cluster:
    """Master, Worker and the shuffle service; `secure` adds spark.authenticate and AES."""

    def __init__(self, home, binary, directory, conf=None):
        self.home, self.binary, self.directory = pathlib.Path(home), binary, directory
        self.roots = directory / "local"
        self.roots.mkdir(parents=True)
        self.master, self.shuffle, web, worker = free_port(), free_port(), free_port(), free_port()
        self.conf = {"spark.shuffle.service.port": self.shuffle, "spark.ui.enabled": "false", **(conf or {})}
        self.properties = directory / "spark.conf"
        self.properties.write_text("".join(f"{key} {value}\n" for key, value in self.conf.items()))
        self.environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(self.roots),
                            "SPARK_SCALA_VERSION": "2.13" if str(home).split("/")[-1].lstrip("spark-").startswith("4") else "2.12",
                            "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": self.python_path()}
        self.processes = {}
        self.spark("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", self.master, "--webui-port", web)
        wait_for(lambda: listening(self.master), "the master")
        self.spark("worker", "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--port", worker, "--webui-port", free_port(),
                   "--cores", 4, "--memory", "3g", "--work-dir", directory / "work", f"spark://127.0.0.1:{self.master}")
        self.start_service()

    def python_path(self):
        archives = sorted((self.home / "python/lib").glob("py4j-*.zip"))
        return os.pathsep.join(map(str, [self.home / "python", *archives]))

    def start(self, name, command, **more):
        log = open(self.directory / f"{name}.log", "ab")
        self.processes[name] = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, start_new_session=True, **more)

    def spark(self, name, main, *words):
        conf = [f"-D{key}={value}" for key, value in self.conf.items()]
        self.start(name, ["java", "-Xmx512m", *OPENS.split(), *conf, "-cp", f"{self.home}/jars/*", main, *words], env=self.environment)

    def start_service(self):
        self.start("shuffle", [self.binary, "shuffle", "--port", self.shuffle, "--state", self.directory / "state", "--local-roots", self.roots,
                               "--properties-file", self.properties])
        wait_for(lambda: listening(self.shuffle), "the shuffle service", 10)

    def kill_service(self):
        self.processes["shuffle"].kill()
        self.processes["shuffle"].wait()

    def status(self):
        out = subprocess.run([str(self.binary), "shuffle", "status", "--state", str(self.directory / "state"), "--json"], capture_output=True, text=True)
        return json.loads(out.stdout) if out.returncode == 0 else None

    def executors(self):
        """Pids of executors of this cluster's applications."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if any("CoarseGrainedExecutorBackend" in word for word in words) and any(str(self.home) in word for word in words) \
                    and f"-Dfairlead.test={self.shuffle}" in words:
                found.append(int(entry.name))
        return found

    def submit(self, work, maps, reduces, rows, conf):
        every = {"spark.executor.memory": "512m", "spark.executor.cores": 1, "spark.cores.max": 2, "spark.shuffle.service.enabled": "true",
                 "spark.shuffle.readHostLocalDisk": "false", "spark.executor.extraJavaOptions": f"-Dfairlead.test={self.shuffle}",
                 "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", **self.conf, **conf}
        words = [word for key, value in every.items() for word in ("--conf", f"{key}={value}")]
        self.start("driver", [self.home / "bin/spark-submit", "--master", f"spark://127.0.0.1:{self.master}", *words, HERE / "shuffle_job.py",
                              work, maps, reduces, rows], env=self.environment)

    def stop(self):
        for process in self.processes.values():
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for pid in self.executors():
            os.kill(pid, signal.SIGKILL)


def run_job(cluster, between, maps=20, reduces=20, rows=2000, conf=None):
    """Runs the job with `between` called while it pauses; gives its result and what the service served."""
    work = cluster.directory / "job"
    work.mkdir()
    cluster.submit(work, maps, reduces, rows, conf or {})
    driver = cluster.processes["driver"]
    wait_for(lambda: (work / "maps-done").exists() or driver.poll() is not None, "the map outputs", 400)
    assert driver.poll() is None, "the driver ended early: " + (cluster.directory / "driver.log").read_text()[-3000:]
    served = cluster.status()["counters"]["blockTransfers"]
    between()
    (work / "go").write_text("")
    wait_for(lambda: (work / "result").exists() or driver.poll() is not None, "the result", 400)
    log = (cluster.directory / "driver.log").read_text()
    assert (work / "result").exists(), "the driver ended without a result: " + log[-3000:]
    result = json.loads((work / "result").read_text())
    assert result["total"] == result["expected_total"] == result["first"] and result["keys"] == 997, result
    return result, served, log


def no_map_ran_again(result):
    assert result["map_runs_after"] == result["map_runs_before"], f"map tasks ran again: {result}"


def plain(cluster):
    result, served, log = run_job(cluster, lambda: None)
    no_map_ran_again(result)
    assert served > 0, "nothing was served"
    assert "FetchFailed" not in log
    counters = cluster.status()["counters"]
    assert counters["blockFailures"] == 0 and counters["registeredExecutorsSize"] >= 2, counters


def executors_killed(cluster):
    def kill():
        pids = cluster.executors()
        assert len(pids) == 2, pids
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not set(pids) & set(cluster.executors()), "the executors' end", 10)
    result, _, log = run_job(cluster, kill)
    no_map_ran_again(result)
    assert "FetchFailed" not in log


def dynamic_allocation(cluster):
    def wait_for_release():
        wait_for(lambda: not cluster.executors(), "executors to be released", 200)
    result, _, log = run_job(cluster, wait_for_release, conf={
        "spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.executorIdleTimeout": "2s",
        "spark.dynamicAllocation.maxExecutors": 2, "spark.dynamicAllocation.minExecutors": 0})
    no_map_ran_again(result)
    assert "FetchFailed" not in log


def service_killed(cluster):
    def restart():
        before = cluster.status()["counters"]["registeredExecutorsSize"]
        cluster.kill_service()
        begin = time.monotonic()
        cluster.start_service()
        assert time.monotonic() - begin < 2, "slow to serve again"
        assert cluster.status()["counters"]["registeredExecutorsSize"] == before >= 2
    result, _, log = run_job(cluster, restart)
    no_map_ran_again(result)
    assert "FetchFailed" not in log


def service_away(cluster):
    """The reducers begin while the service is away; it is back within their retries."""
    def between():
        cluster.kill_service()
        threading.Timer(3, cluster.start_service).start()
    result, _, _ = run_job(cluster, between)
    no_map_ran_again(result)


def byte_flipped(cluster):
    """A damaged block is noticed by the reader, diagnosed as the disk's fault, and computed again."""
    def flip():
        files = [path for path in cluster.roots.rglob("shuffle_*.data") if path.stat().st_size > 100]
        path = random.Random(1).choice(sorted(files))
        data = bytearray(path.read_bytes())
        for at in range(20, len(data), 50):
            data[at] ^= 0xff
        path.write_bytes(data)
    result, _, log = run_job(cluster, flip)
    assert result["map_runs_after"] > result["map_runs_before"], "the damage was not noticed"
    assert cluster.status()["counters"]["diagnoseRequests"] > 0
    assert "DISK_ISSUE" in log or "disk issue" in log.lower(), "no diagnosis in Spark's log"


def encrypted(cluster):
    plain(cluster)
    assert cluster.status()["counters"]["authSuccesses"] > 0


def many_small_blocks(cluster):
    result, _, _ = run_job(cluster, lambda: None, maps=200, reduces=200, rows=2000)
    no_map_ran_again(result)
    assert cluster.status()["counters"]["blockTransfers"] >= 20000


SECRET = {"spark.authenticate": "true", "spark.authenticate.secret": "a secret"}
CASES = {
    "plain": (plain, {}),
    "executors-killed": (executors_killed, {}),
    "dynamic-allocation": (dynamic_allocation, {}),
    "service-killed": (service_killed, {}),
    "service-away": (service_away, {}),
    "byte-flipped": (byte_flipped, {}),
    "sasl": (encrypted, SECRET),
    "sasl-encrypted": (encrypted, {**SECRET, "spark.authenticate.enableSaslEncryption": "true"}),
    "aes": (encrypted, {**SECRET, "spark.network.crypto.enabled": "true"}),
    "aes-v2": (encrypted, {**SECRET, "spark.network.crypto.enabled": "true", "spark.network.crypto.authEngineVersion": "2"}),
    "many-small-blocks": (many_small_blocks, {}),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, type=pathlib.Path)
    parser.add_argument("--spark", action="append", required=True, type=pathlib.Path)
    parser.add_argument("--only")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    passed = failed = 0
    for home in options.spark:
        for name, (function, conf) in CASES.items():
            if options.only and name not in options.only.split(","):
                continue
            directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-shuffle-"))
            directory.chmod(0o755)
            begin = time.monotonic()
            cluster = None
            try:
                cluster = Cluster(home.resolve(), options.binary.resolve(), directory, conf)
                function(cluster)
                passed += 1
                print(f"ok      {home.name} {name} ({time.monotonic() - begin:.0f} s)", flush=True)
            except Exception:  # a case may fail in any way; the others go on
                failed += 1
                print(f"FAILED  {home.name} {name}; logs in {directory}\n{traceback.format_exc()}", flush=True)
                options_keep = True
            else:
                options_keep = options.keep
            finally:
                if cluster is not None:
                    cluster.stop()
            if not options_keep:
                shutil.rmtree(directory, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
