#!/usr/bin/env python3
"""Messages of drivers and workers to a Standalone Master and its answers, made at random and written by Spark's own serializer, against Fairlead's.

usage: spark_messages.py SPARK_HOME [--seed S] [--count N] [--keep FILE]
Compiles scala/SparkMessages.scala with the compiler among Spark's jars and lets the build's oracle_spark_messages judge what it prints.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import peers


def scala(home, work, *words, **kwargs):
    """Runs the program that `make` has compiled."""
    return subprocess.run([peers.java(), "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", *peers.OPENS, "-cp", f"{work / 'classes'}:{home}/jars/*",
                           "org.apache.spark.deploy.SparkMessages", *map(str, words)], env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}, **kwargs)


def make(home, seed, count, file, work):
    """Writes `count` messages to `file`."""
    classes = work / "classes"
    classes.mkdir(exist_ok=True)
    subprocess.run([peers.java(), "-cp", f"{home}/jars/*", "scala.tools.nsc.Main", "-nowarn", "-d", classes, "-usejavacp", peers.HERE / "scala/SparkMessages.scala"], check=True)
    with open(file, "w", encoding="utf-8") as out:
        scala(home, work, seed, count, check=True, stdout=out)


def compare(home, seed, count, work):
    """Whether all are understood and written as Spark does, or so that Spark reads the same; differences are printed."""
    file, again = work / "messages.jsonl", work / "again"
    make(home, seed, count, file, work)
    judged = subprocess.run([peers.BINARY.parent / "tests/oracle/oracle_spark_messages", home, file, again])
    return judged.returncode == 0 and scala(home, work, "verify", again).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=pathlib.Path, metavar="SPARK_HOME")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--keep", type=pathlib.Path, metavar="FILE", help="only write them to a file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        if options.keep:
            make(options.home, options.seed, options.count, options.keep, pathlib.Path(work))
            return 0
        return 0 if compare(options.home, options.seed, options.count, pathlib.Path(work)) else 1


if __name__ == "__main__":
    sys.exit(main())
