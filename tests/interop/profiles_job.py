"""A stage whose executors have a profile of their own. Usage: profiles_job.py FILE"""
import json
import os
import pathlib
import sys

from pyspark import SparkConf, SparkContext
from pyspark.resource import ExecutorResourceRequests, ResourceProfileBuilder, TaskResourceRequests


def main():
    context = SparkContext(conf=SparkConf())
    profile = ResourceProfileBuilder().require(ExecutorResourceRequests().cores(2).memory("600m")).require(TaskResourceRequests().cpus(1)).build

    def cores(numbers):
        """The words of the executor above this worker, which is the Java process among its ancestors."""
        pid = os.getpid()
        while pid > 1:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
            if "--cores" in words:
                yield int(words[words.index("--cores") + 1]), sum(numbers)
                return
            pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])

    rows = context.parallelize(range(100), 4).withResources(profile).mapPartitions(cores).collect()
    result = {"application": context.applicationId, "sum": sum(total for _, total in rows), "cores": sorted({count for count, _ in rows})}
    pathlib.Path(sys.argv[1]).write_text(json.dumps(result))
    context.stop()


if __name__ == "__main__":
    main()
