"""Stages whose executors have profiles of their own. Usage: profiles_job.py FILE"""
import json
import os
import pathlib
import sys

from pyspark import SparkConf, SparkContext
from pyspark.resource import ExecutorResourceRequests, ResourceProfileBuilder, TaskResourceRequests

TASKS = TaskResourceRequests().cpus(1)
PROFILES = {
    "own": (ExecutorResourceRequests().cores(2).memory("600m"), TASKS),
    "tasks only": (TaskResourceRequests().cpus(2),),  # Spark's TaskResourceProfile
    "heap only": (ExecutorResourceRequests().memory("700m"), TASKS),
}


def executor(numbers):
    """The words of the executor above this worker, which is the Java process among its ancestors."""
    pid = os.getpid()
    while pid > 1:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        if "--cores" in words:
            yield int(words[words.index("--cores") + 1]), next(word for word in words if word.startswith("-Xmx")), sum(numbers)
            return
        pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


def main():
    context = SparkContext(conf=SparkConf())
    result = {"application": context.applicationId}
    for name, requests in PROFILES.items():
        builder = ResourceProfileBuilder()
        for request in requests:
            builder.require(request)
        rows = context.parallelize(range(100), 4).withResources(builder.build).mapPartitions(executor).collect()
        result[name] = {"sum": sum(total for _, _, total in rows), "executors": sorted({(cores, heap) for cores, heap, _ in rows})}
    pathlib.Path(sys.argv[1]).write_text(json.dumps(result))
    context.stop()


if __name__ == "__main__":
    main()
