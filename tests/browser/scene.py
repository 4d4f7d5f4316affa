#!/usr/bin/env python3
"""scene.py TOOLS PICTURES: what the browser looks at, and the browser. A cluster of `fairlead up` with a job that has ended and one that runs, a job's history
with hostile words, a shuffle service, and a Standalone Master and Worker with an application of real Spark. PICTURES: where pictures go, or "". Exit status: the browser's."""
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/interop"))
import waiting  # noqa: E402
from peers import free_ports  # noqa: E402

BUILD = ROOT / "build"
FAIRLEAD = BUILD / "fairlead"
SPARK = BUILD / "interop/spark-4.3.0"
HOSTILE = "<img src=x onerror='owned=1'><script>owned=1</script>\u202e\x1b[31m"
WAIT_S = 180  # a busy machine starts a JVM in a minute

SPARK_JOB = """
import sys, time
from pyspark import SparkContext
context = SparkContext()
print(context.parallelize(range(2), 2).map(lambda n: n + 1).sum())
sys.stdin.read()
"""


def until(condition, what, process=None):
    """Ends at once when `process` does."""
    def running():
        if process and process.poll() is not None:
            raise SystemExit(f"tests/browser: {what}: its process has ended")
    return waiting.until(condition, what, WAIT_S, 0.1, running)


def read(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


class Scene:
    def __init__(self, work, stack):
        self.work, self.stack = pathlib.Path(work), stack

    def start(self, name, *words, **options):
        """A process that ends with the scene; its words are in NAME.log."""
        log = self.stack.enter_context(open(self.work / f"{name}.log", "w"))
        process = subprocess.Popen([str(word) for word in words], stdout=log, stderr=log, **options)
        self.stack.callback(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def fairlead(self, name, *words, **options):
        return self.start(name, FAIRLEAD, *words, **options)

    def log(self, name):
        return (self.work / f"{name}.log").read_text()

    def cluster(self):
        """Its address, an application that has ended, one that runs while the scene does, and one that waits for more than there is."""
        ready = self.work / "ready"
        up = self.fairlead("up", "up", "--nodes", 2, "--memory", 2048, "--queue", "small=1", "--queue", "large=1", "--directory", self.work / "cluster", "--ready-file", ready)
        until(ready.exists, "the cluster", up)
        url = re.search(r"page +(http://[^/]*)/", self.log("up")).group(1)
        conf = ("--hadoop-conf", ready.read_text().strip())
        (self.work / "text").write_text("a b a\n")
        ended = subprocess.run([FAIRLEAD, "submit", *conf, "--json", "--queue", "small", "--executors", "1", BUILD / "examples/word_count", self.work / "text", self.work / "out"],
                               check=True, capture_output=True, text=True)

        def meeting(queue, executors, tasks, *sizes):  # tasks that wait for each other, more of them than slots
            (marks := self.work / f"marks-{queue}").mkdir()
            words = [FAIRLEAD, "submit", *conf, "--detach", "--queue", queue, "--executors", executors, *sizes, BUILD / "tests/engine_faults", "meet", marks, tasks]
            return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()

        running = meeting("small", "1", "2")
        return {"url": url, "app": json.loads(ended.stdout)["id"], "running": running, "waits": meeting("large", "5", "9", "--executor-memory", "1g")}

    def hostile_history(self):
        """A log in which every text that a job or a stranger chooses is hostile."""
        launch = {"at_ms": 5, "task": 0, "stage": 0, "stage_attempt": 0, "partition": 0, "attempt": 0, "executor": HOSTILE, "level": HOSTILE, "speculative": False, "wanted": HOSTILE, "why": HOSTILE}
        events = [{"application_started": {"at_ms": 1, "version": 1, "id": HOSTILE, "program": HOSTILE, "locality_waits": HOSTILE}},
                  {"executor_joined": {"at_ms": 2, "executor": HOSTILE, "host": HOSTILE, "slots": 1, "serves_own_files": True}},
                  {"job_started": {"at_ms": 3, "job": 0, "description": HOSTILE, "pool": HOSTILE}},
                  {"stage_started": {"at_ms": 4, "stage": 0, "attempt": 0, "job": 0, "name": HOSTILE, "tasks": 1, "shuffle": False, "parents": []}},
                  {"task_finished": {"launch": launch, "at_ms": 6, "end": HOSTILE, "reason": HOSTILE, "metrics": {}}},
                  {"stage_finished": {"at_ms": 7, "stage": 0, "attempt": 0, "failure": HOSTILE}},
                  {"job_finished": {"at_ms": 8, "job": 0, "error": HOSTILE}},
                  {"executor_left": {"at_ms": 9, "executor": HOSTILE, "reason": HOSTILE}},
                  {"application_ended": {"at_ms": 10, "error": HOSTILE, "killed": False}}]
        (self.work / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
        server = subprocess.Popen([FAIRLEAD, "history", "--serve", "127.0.0.1:0", self.work / "events.jsonl"], stdout=subprocess.PIPE, text=True)
        self.stack.callback(self.end, server)
        return server.stdout.readline().split()[0].rstrip("/")

    def shuffle(self):
        port, web = free_ports(2)
        (self.work / "local").mkdir()
        service = self.fairlead("shuffle", "shuffle", "--port", port, "--web-port", web, "--local-roots", self.work / "local", "--state", self.work / "shuffle")
        url = f"http://127.0.0.1:{web}"
        until(lambda: read(url + "/readyz"), "the shuffle service", service)
        return url

    def standalone(self):
        """Master and Worker with an application of Spark's whose name is hostile, and whose executor has printed something."""
        master, web, worker_web = free_ports(3)
        java = pathlib.Path("/usr/bin/java").resolve().parents[1]
        environment = {**os.environ, "SPARK_HOME": str(SPARK), "JAVA_HOME": str(java), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        spark = f"spark://127.0.0.1:{master}"
        properties = self.work / "spark.properties"
        properties.write_text("spark.master.rest.enabled false\n")  # its port is a fixed one
        daemon = self.fairlead("master", "spark-master", "--host", "127.0.0.1", "--port", master, "--webui-port", web, "--state", self.work / "master",
                               "--properties-file", properties, env=environment)
        until(lambda: read(f"http://127.0.0.1:{web}/readyz"), "the Master", daemon)
        self.fairlead("worker", "spark-worker", "--cores", 1, "--memory", "1g", "--work-dir", self.work / "work", "--webui-port", worker_web, spark, env=environment)
        (self.work / "job.py").write_text(SPARK_JOB)
        self.start("job", SPARK / "bin/spark-submit", "--master", spark, "--name", HOSTILE, "--executor-memory", "512m", "--conf", "spark.ui.enabled=false", self.work / "job.py",
                   env=environment, stdin=subprocess.PIPE)
        until(lambda: "\n3\n" in "\n" + self.log("job"), "Spark's job")
        return {"master": f"http://127.0.0.1:{web}", "worker": f"http://127.0.0.1:{worker_web}"}


def main():
    tools, pictures = sys.argv[1:]
    with tempfile.TemporaryDirectory() as work, contextlib.ExitStack() as stack:
        scene = Scene(work, stack)
        seen = {"pictures": pictures, **scene.cluster(), "hostile": scene.hostile_history(), "shuffle": scene.shuffle(), **scene.standalone()}
        return subprocess.run(["node", f"{tools}/pages.mjs", json.dumps(seen)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
