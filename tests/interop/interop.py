#!/usr/bin/env python3
"""Interop cases: real Spark, MapReduce and YARN clients and daemons against Fairlead.

usage: interop.py smoke|all [--require] [--only NAME[,NAME]] [--shard I/N] [--list] [--keep] [--record]
"""
import argparse
import dataclasses
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

import cluster as clusters
import jobs
import peers
import recordings
import registry
import spark_cluster
import standalone

for _module in sorted(peers.HERE.glob("cases_*.py")):
    __import__(_module.stem)

CLUSTERS = {registry.Spec: clusters.Cluster, standalone.Spec: standalone.Standalone,
            spark_cluster.Spec: spark_cluster.SparkCluster}


class Run:
    """Runs cases in the order of their clusters and counts."""

    def __init__(self, directory):
        self.directory = directory
        self.passed, self.failed = [], []
        self.cluster, self.spec = None, None

    def cluster_for(self, case):
        if self.cluster and (case.own_cluster or case.spec != self.spec):
            self.stop_cluster()
        if not self.cluster:
            peers.fetch(*sorted(case.spec.needs()))
            directory = self.directory / f"cluster-{case.name}"
            directory.mkdir()
            directory.chmod(0o755)
            self.cluster, self.spec = CLUSTERS[type(case.spec)](directory, case.spec), case.spec
            self.cluster.start()
        return self.cluster

    def stop_cluster(self):
        if self.cluster:
            self.cluster.stop()
        self.cluster, self.spec = None, None

    def run(self, case):
        started = time.monotonic()
        try:
            work = self.directory / case.name
            work.mkdir()
            case.run(self.cluster_for(case), work)
            self.passed.append(case.name)
            print(f"ok      {case.name} ({time.monotonic() - started:.0f} s)", flush=True)
        except Exception:  # a case may fail in any way; the others go on
            self.failed.append(case.name)
            print(f"FAILED  {case.name}\n{traceback.format_exc()}", flush=True)
            jobs.Background.stop_all()
            self.stop_cluster()
        finally:
            jobs.Background.stop_all()
        if case.own_cluster:
            self.stop_cluster()


def chosen(arguments):
    names = arguments.only.split(",") if arguments.only else None
    unknown = set(names or []) - {case.name for case in registry.CASES}
    if unknown:
        sys.exit(f"interop: no case is called {', '.join(sorted(unknown))}; --list shows all")
    cases = [c for c in registry.CASES if (c.name in names if names else c.smoke or arguments.set == "all")]
    # Cases of one cluster follow each other; those that break theirs come last.
    first = {}
    for at, case in enumerate(cases):
        first.setdefault(case.spec, at)
    cases = sorted(cases, key=lambda c: (c.own_cluster, first[c.spec]))
    part, parts = arguments.shard
    # Neighbours share a cluster: each shard is one stretch of the order.
    return cases[len(cases) * (part - 1) // parts:len(cases) * part // parts]


def shard(text):
    """'2/5' as (2, 5)."""
    part, _, parts = text.partition("/")
    if not (part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"'{text}' is not I/N with I from 1 to N, such as 2/5")
    return int(part), int(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=["smoke", "all"])
    parser.add_argument("--require", action="store_true", help="a skipped case is a failure")
    parser.add_argument("--only", help="only the cases of these names")
    parser.add_argument("--shard", type=shard, default=(1, 1), metavar="I/N", help="only the Ith of N parts of the cases")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    parser.add_argument("--keep", action="store_true", help="keep logs and work files")
    parser.add_argument("--record", action="store_true", help="run the cases of --only on Hadoop's daemons and record their answers")
    arguments = parser.parse_args()
    cases = chosen(arguments)
    if arguments.record:
        if not arguments.only:
            sys.exit("interop: --record needs --only")
        recordings.RECORD = True
        cases = [dataclasses.replace(c, spec=c.spec.all_java()) for c in cases]
    if arguments.list:
        print("\n".join(case.name for case in cases))
        return 0
    try:
        peers.fetch(*sorted(set().union(*(case.spec.needs() for case in cases))))
    except subprocess.CalledProcessError:
        print("interop: Hadoop and Spark cannot be had here")
        print(f"0 run, 0 failed, {len(cases)} skipped")
        return 1 if arguments.require else 0
    directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-interop-"))
    directory.chmod(0o755)
    run = Run(directory)
    try:
        for case in cases:
            run.run(case)
    finally:
        run.stop_cluster()
        if run.failed or arguments.keep:
            print(f"logs are in {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)
    print(f"{len(run.passed) + len(run.failed)} run, {len(run.failed)} failed, 0 skipped")
    return 1 if run.failed or not run.passed else 0


if __name__ == "__main__":
    sys.exit(main())
