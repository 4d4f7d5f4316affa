"""A Spark job that shuffles twice over the same map outputs, with a pause in between. Usage: shuffle_job.py DIR MAPS REDUCES ROWS.

Writes DIR/maps-done when the map outputs are there, waits for DIR/go, reduces again, and writes DIR/result: the sums, how many
times a map task ran, and how many rows were read.
"""
import json
import os
import pathlib
import sys
import time

from pyspark import SparkConf, SparkContext


def main():
    directory, maps, reduces, rows = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:5])
    context = SparkContext(conf=SparkConf())
    map_runs = context.accumulator(0)

    def write(index, _):
        map_runs.add(1)
        for row in range(rows):
            yield (index * rows + row) % 997, 1

    shuffled = context.parallelize(range(maps), maps).mapPartitionsWithIndex(write).partitionBy(reduces)
    first = shuffled.count()
    runs_before = map_runs.value
    (directory / "maps-done").write_text(context.applicationId)
    while not (directory / "go").exists():
        time.sleep(0.1)
    sums = shuffled.reduceByKey(lambda a, b: a + b, reduces).collect()
    result = {"first": first, "total": sum(count for _, count in sums), "keys": len(sums), "map_runs_before": runs_before,
              "map_runs_after": map_runs.value, "expected_total": maps * rows, "pid": os.getpid()}
    (directory / "result").write_text(json.dumps(result))
    context.stop()


if __name__ == "__main__":
    main()
