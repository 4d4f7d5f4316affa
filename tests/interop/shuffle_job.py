"""Spark jobs that shuffle. Usage: shuffle_job.py DIR JOB [NUMBER...]

A job that pauses writes DIR/paused and waits for DIR/go. While its last stage runs it appends to DIR/progress, a byte for each task.
In the end it writes DIR/result: {"found": ..., "expected": ...} and what else it has to tell.
"""
import json
import pathlib
import sys
import time
import zlib

from pyspark import StorageLevel
from pyspark.sql import SparkSession


def pause(directory):
    (directory / "paused").write_text("")
    while not (directory / "go").exists():
        time.sleep(0.05)


def await_executors(session):
    """Spark settles who merges as the maps begin, by the block managers that it knows; an executor counts as there a moment before its own does."""
    executors = int(session.conf.get("spark.executor.instances", "0"))
    while session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() < executors + 1:  # and the driver
        time.sleep(0.05)


def value_of(row, size):
    """A text of `size` characters that no other row has."""
    return (f"{row} " * (size // 2 + 1))[:size]


def pairs(session, directory, maps, reduces, rows, size, task_millis, map_millis=0):
    """maps x rows pairs with values of `size` bytes, reduced twice from the same map outputs with a pause in between; a task of the
    second time takes at least task_millis, one of the maps map_millis. Each map appends a byte to DIR/mapped."""
    def write(index, _):
        with open(directory / "mapped", "a") as mapped:
            mapped.write(".")
        time.sleep(map_millis / 1000)
        for row in range(index * rows, (index + 1) * rows):
            yield row, value_of(row, size)

    def read(pairs_of_partition):
        with open(directory / "progress", "a") as progress:
            progress.write(".")
        time.sleep(task_millis / 1000)
        count = total = 0
        for row, value in pairs_of_partition:
            count += 1
            total += zlib.crc32(value.encode()) ^ row
        yield count, total

    await_executors(session)
    numbers = session.sparkContext.parallelize(range(maps), maps)
    shuffled = numbers.mapPartitionsWithIndex(write).partitionBy(reduces, lambda row: row)
    shuffled.foreachPartition(lambda part: None)
    pause(directory)
    sums = shuffled.mapPartitions(read).collect()
    expected = sum(zlib.crc32(value_of(row, size).encode()) ^ row for row in range(maps * rows))
    return {"found": [sum(count for count, _ in sums), sum(total for _, total in sums)], "expected": [maps * rows, expected]}


def long_block(session, directory, rows):
    """One block of rows x 1 MiB, read twice with a pause in between."""
    session.conf.set("spark.sql.adaptive.enabled", "false")  # so that both reads have the same shuffle
    texts = session.range(0, rows, 1, 1).selectExpr("repeat(lpad(cast(id AS string), 8, '0'), 131072) AS text").repartition(1)
    sums = texts.selectExpr("crc32(encode(text, 'utf-8')) AS crc")
    sums.collect()
    pause(directory)
    return {"found": [row[0] for row in sums.collect()], "expected": [zlib.crc32(b"%08d" % row * 131072) for row in range(rows)]}


def small_blocks(session, _, maps, reduces):
    """One row in each of maps x reduces blocks."""
    frame = session.range(0, maps * reduces, 1, maps).repartition(reduces)
    row = frame.selectExpr("count(*)", "sum(id)").collect()[0]
    count = maps * reduces
    return {"found": list(row), "expected": [count, count * (count - 1) // 2]}


def coalesced(session, _, maps, reduces):
    """An aggregation that adaptive execution reads with few tasks, each the blocks of many reduce partitions."""
    frame = session.range(0, 400_000, 1, maps).selectExpr("id % 9973 AS k", "id").groupBy("k").sum("id")
    session.conf.set("spark.sql.shuffle.partitions", reduces)
    rows = frame.collect()
    return {"found": [len(rows), sum(row[1] for row in rows)], "expected": [9973, 400_000 * 399_999 // 2]}


def cached(session, directory, partitions, rows):
    """An RDD kept on disk, read again after a pause."""
    computed = session.sparkContext.accumulator(0)

    def compute(index, _):
        computed.add(1)
        yield from range(index * rows, (index + 1) * rows)

    rdd = session.sparkContext.parallelize(range(partitions), partitions).mapPartitionsWithIndex(compute).persist(StorageLevel.DISK_ONLY)
    rdd.count()
    before = computed.value
    pause(directory)
    count = partitions * rows
    result = {"found": [rdd.count(), rdd.sum()], "expected": [count, count * (count - 1) // 2], "computed": [before, computed.value]}
    rdd.unpersist(blocking=True)
    return result


def main():
    directory = pathlib.Path(sys.argv[1])
    session = SparkSession.builder.getOrCreate()
    result = globals()[sys.argv[2]](session, directory, *map(int, sys.argv[3:]))
    session.stop()
    (directory / "result").write_text(json.dumps(result))


if __name__ == "__main__":
    main()
