"""A Spark job whose tasks stand still in the middle, so that whatever they run on can be killed meanwhile.

usage: paused_job.py DIR ROUNDS TASKS [again | read FILE]

Each round: every task writes DIR/running-ATTEMPT-ROUND-TASK, waits for DIR/go-ATTEMPT-ROUND, then gives its rows to a shuffle.
ATTEMPT is the application attempt in cluster mode, 1 in client mode. "again" sums up the last round's shuffle once more, after the
driver has written DIR/idle and found DIR/go-on. "read" counts the lines of a file at the end, of which there must be three. At the end DIR/result tells, for the harness to judge, whether the sums were right, how
many map tasks ran, how many of them not for the first time, and in which attempt of the application.
"""
import json
import pathlib
import sys
import time

from pyspark import SparkConf, SparkContext, TaskContext

ROWS, KEYS = 5000, 97


def main():
    directory, rounds, tasks = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    context = SparkContext(conf=SparkConf())
    given = context._jsc.sc().applicationAttemptId()
    attempt = int(given.get()) if given.isDefined() else 1
    runs, retries = context.accumulator(0), context.accumulator(0)
    (directory / f"app-{attempt}").write_text(context.applicationId)

    def rows_of(number):
        def rows(index, _):
            runs.add(1)
            retries.add(TaskContext.get().attemptNumber())
            (directory / f"running-{attempt}-{number}-{index}").write_text("")
            while not (directory / f"go-{attempt}-{number}").exists():
                time.sleep(0.05)
            for row in range(ROWS):
                yield row % KEYS, row + number
        return rows

    right = []
    for number in range(1, rounds + 1):
        sums = context.parallelize(range(tasks), tasks).mapPartitionsWithIndex(rows_of(number)).reduceByKey(lambda a, b: a + b, 3)
        expected = {key: tasks * sum(row + number for row in range(key, ROWS, KEYS)) for key in range(KEYS)}
        right.append(dict(sums.collect()) == expected)
    if sys.argv[4:] == ["again"]:
        (directory / "idle").write_text("")
        while not (directory / "go-on").exists():
            time.sleep(0.05)
        right.append(dict(sums.collect()) == expected)
    if sys.argv[4:5] == ["read"]:
        right.append(context.textFile(sys.argv[5]).count() == 3)
    # Written whole under its final name: the harness reads it as soon as it is there.
    (directory / "result.part").write_text(json.dumps({"right": right, "task_runs": runs.value, "task_retries": retries.value, "attempt": attempt}))
    (directory / "result.part").rename(directory / "result")
    context.stop()


if __name__ == "__main__":
    main()
