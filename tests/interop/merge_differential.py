#!/usr/bin/env python3
"""`fairlead shuffle` that merges held against Spark's own merging service on random exchanges (merge_scripts.py).

usage: merge_differential.py --spark HOME --fairlead BINARY [--seeds N] [--seed S]
Each script runs on Spark's service and then on Fairlead's, on the same directories made anew. Compared are all answers, with the merged
bytes, their chunks and bitmaps among them, and whether connections stay open.
"""
import argparse
import collections
import hashlib
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import merge_scripts
import peers
import shuffle_differential as plain
import shuffle_scripts as frames

CHUNK_BYTES = 1000
SETTINGS = {"spark.shuffle.push.server.mergedShuffleFileManagerImpl": "org.apache.spark.network.shuffle.RemoteBlockPushResolver",
            "spark.shuffle.push.server.minChunkSizeInMergedShuffleFile": f"{CHUNK_BYTES}b"}
IN_TIME = 0.02  # seconds after which bytes that nobody answers have arrived


class Restartable:
    """A service that can be killed and started again over its state."""

    def __init__(self, start):
        self.start, self.service = start, start()

    port = property(lambda self: self.service.port)

    def restart(self):
        self.service.stop()
        self.service = self.start()

    def stop(self):
        self.service.stop()


def start_spark(home, state, port, log):
    classes = state / "classes"
    subprocess.run(["javac", "-cp", f"{home}/jars/*", "-d", classes, peers.HERE / "java/MergingService.java"], check=True)
    command = [peers.java(), "-Xmx1g", "-XX:-OmitStackTraceInFastThrow", *peers.JVM, *peers.OPENS, "-cp", f"{home}/jars/*:{classes}", "MergingService", port, state]
    return Restartable(lambda: plain.Service("Spark", [*command, *(f"{key}={value}" for key, value in SETTINGS.items())], port, log))


def start_fairlead(binary, release, root, state, port, log):
    command = [binary, "shuffle", "--port", port, "--local-roots", root, "--state", state, "--answer-as", release]
    return Restartable(lambda: plain.Service("Fairlead", [*command, *(word for key, value in SETTINGS.items() for word in ("--conf", f"{key}={value}"))], port, log))


class Play(plain.Play):
    def run(self):
        self.script.tree.make()
        try:
            for step in self.steps:
                self.answers.append(self.step(step))
        finally:
            for connection in self.connections.values():
                connection.close()
            self.script.tree.remove()
        return self

    def step(self, step):
        if step.then == "restart":
            for number in list(self.connections):
                self.connections.pop(number).close()
            self.service.restart()
            return []
        connection = self.connections.get(step.connection)
        if connection is None:
            connection = self.connections[step.connection] = plain.Connection(self.service.port)
        if step.then == "close":
            self.connections.pop(step.connection).close()
            time.sleep(IN_TIME)
            return []
        connection.send(step.sent)
        if step.answers == 0:
            time.sleep(IN_TIME)
            return []
        found = [] if step.answers < 0 else self.read(connection, step, step.answers)
        if step.opens and step.opens in self.streams:
            for index in range(step.chunks):
                connection.send(frames.frame(frames.CHUNK, struct.pack(">qi", self.streams[step.opens], index)))
                found += self.read(connection, step, 1)
        found += self.fenced(connection)
        if connection.ended:
            self.connections.pop(step.connection).close()
        return found

    def shown(self, kind, payload, length, cut, step):
        if kind != frames.META_SUCCESS:
            return super().shown(kind, payload, length, cut, step)
        request, chunks = struct.unpack_from(">qi", payload)
        return plain.Answer("MergedBlockMetaSuccess", f"{request}, {chunks} chunks", payload[12:], cut)


INTENDED = [
    plain.Intended("a map index below 0 is refused", r".*", r".*a map index is not negative.*", ends=True),
    plain.Intended("a merge directory is a plain name in either release's way, as in 4.3's", r".*", r".*Invalid merge directory name.*", releases=r"3\.", ends=True),
    plain.Intended("a block whose beginning was thrown away, as its twin was being written, is not merged when the twin fails; Spark merges the rest of it",
                   r"RpcResponse\(\d+\) b?'\\x12\\x00\\x00\\x00\\x00\\x00'", r"RpcResponse\(\d+\) b?'\\x12\\x02.*", sent="the last", ends=True),
    plain.Intended("a partition without a whole block has no files; Spark's are empty", r".*Merged shuffle index file \S+ is empty'", r".*Merged shuffle index file \S+ not found'"),
    plain.Intended("a partition without a whole block has no files; Spark's are empty", r"ChunkFetchFailure.*IndexOutOfBoundsException.*", r".*Merged shuffle data file \S+ not found'"),
]


def compare(home, binary, seeds, directory, told=print):
    release = plain.spark_release(home)
    root = directory / "roots"
    root.mkdir()
    states = [directory / "spark-state", directory / "fairlead-state"]
    for state in states:
        state.mkdir()
    ports = peers.free_ports(2)
    services = []
    counts = collections.Counter()
    reasons = collections.Counter()
    try:
        services.append(start_spark(home, states[0], ports[0], directory / "spark.log"))
        services.append(start_fairlead(binary, release[:3], root, states[1], ports[1], directory / "fairlead.log"))
        for seed in seeds:
            label = "app-" + hashlib.sha256(f"{seed} {os.getpid()}".encode()).hexdigest()[:12]
            script = merge_scripts.Script(seed, label, str(root))
            spark, fairlead = (Play(service, script, script.steps).run() for service in services)
            counts["scripts"] += 1
            found = differences(release, script, spark, fairlead, counts, reasons)
            if found:
                counts["differ"] += 1
                told(f"seed {seed}:\n{found}", flush=True)
    finally:
        for service in services:
            service.stop()
    for reason, count in reasons.most_common():
        told(f"{count} times as intended: {reason}")
    told(f"Spark {release}: {counts['scripts']} scripts, {counts['answers']} answers compared, {counts['failures']} of them failures, {counts['chunks']} chunks with "
         f"{counts['bytes']} merged bytes, {counts['differ']} scripts differ")
    return counts["differ"] == 0 and counts["chunks"] > 0


def was_removed_after_a_restart(before, step):
    """The step reads of a merge that RemoveShuffleMerge named after the service came back."""
    read = re.search(r" (?:MergedBlockMetaRequest|OpenBlocks|FetchShuffleBlockChunks)\((\d+), (\d+), ", str(step))
    came_back = next((at for at, one in enumerate(before) if one.then == "restart"), len(before))
    return read is not None and any(f" RemoveShuffleMerge({read[1]}, {read[2]}," in str(one) for one in before[came_back:])


def are_statuses_in_another_order(one, other):
    """Bitmaps, partitions and sizes of two MergeStatuses are the same bytes, in another order."""
    both = (one.body, other.body)
    return one.kind == other.kind == "RpcResponse" and all(body[:1] == b"\x0e" for body in both) and sorted(both[0]) == sorted(both[1])


def differences(release, script, spark, fairlead, counts, reasons):
    for at, (theirs, ours) in enumerate(zip(spark.answers, fairlead.answers)):
        for one in theirs:
            counts["answers"] += 1
            counts["failures"] += "Failure" in one.kind
            counts["chunks"] += one.kind == "ChunkFetchSuccess"
            counts["bytes"] += len(one.body) if one.kind == "ChunkFetchSuccess" else 0
        for one, other in plain.Comparison.pairs(theirs, ours):
            if one == other:
                continue
            if are_statuses_in_another_order(one, other):
                reasons["merge statuses in the order of partitions; Spark's are in a hash map's"] += 1
                continue
            if was_removed_after_a_restart(script.steps[:at], script.steps[at]):
                reasons["what is removed after a restart is gone; Spark has forgotten which files there were"] += 1
                return None
            row = next((row for row in INTENDED if row.names(release, script.steps[:at], script.steps[at], one, other)), None)
            if not row:
                before = "".join(f"  before: {step}\n" for step in script.steps[max(0, at - 12):at])
                return f"{before}  step: {script.steps[at]}\n  Spark:    {one}\n  Fairlead: {other}"
            reasons[row.reason] += 1
            if row.ends:
                return None
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spark", required=True, type=lambda value: pathlib.Path(value).resolve(), help="a directory with jars/ in it")
    parser.add_argument("--fairlead", required=True, type=lambda value: pathlib.Path(value).resolve())
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="the first")
    arguments = parser.parse_args()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="merge-differential-"))
    try:
        return 0 if compare(arguments.spark, arguments.fairlead, range(arguments.seed, arguments.seed + arguments.seeds), directory) else 1
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
