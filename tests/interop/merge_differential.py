#!/usr/bin/env python3
"""`fairlead shuffle` that merges held against Spark's own merging service on random exchanges (merge_scripts.py).

usage: merge_differential.py --spark HOME --fairlead BINARY [--seeds N] [--seed S] [--pairs P]
Each script runs on Spark's service and then on Fairlead's, on the same directories made anew. Compared are all answers, with the merged
bytes, their chunks and bitmaps among them, and whether connections stay open.
"""
import re
import struct
import subprocess
import sys
import time

import differential
import merge_scripts
import peers
import shuffle_scripts as frames
from differential import Intended

CHUNK_BYTES = 1000
RESOLVER = "org.apache.spark.network.shuffle.RemoteBlockPushResolver"
SETTINGS = {"spark.shuffle.push.server.mergedShuffleFileManagerImpl": RESOLVER,
            "spark.shuffle.push.server.minChunkSizeInMergedShuffleFile": f"{CHUNK_BYTES}b"}
IN_TIME, IN_TIME_COLD = 0.02, 0.5  # seconds after which bytes that nobody answers have arrived, once the service has read them; where the service has just come back, or the machine is busy


class Restartable:
    """A service that can be killed and started again over its state."""

    def __init__(self, name, command, port, log):
        self.start = lambda: differential.Service(name, command, port, log)
        self.service = self.start()

    port = property(lambda self: self.service.port)

    def restart(self):
        self.service.stop()
        self.service = self.start()

    def stop(self):
        self.service.stop()


class Play(differential.Play):
    def __init__(self, *words):
        super().__init__(*words)
        self.restarted = False

    in_time = property(lambda self: IN_TIME_COLD if self.patient or self.restarted else IN_TIME)

    def step(self, step):
        if step.then == "restart":
            for number in list(self.connections):
                self.connections.pop(number).close()
            self.service.restart()
            self.restarted = True
            return []
        connection = self.connections.get(step.connection)
        if connection is None:
            connection = self.connections[step.connection] = differential.Connection(self.service.port)
        if step.then == "close":
            self.connections.pop(step.connection).close()
            connection.taken()
            time.sleep(self.in_time)
            return []
        connection.send(step.sent)
        if step.answers == 0:
            connection.taken()
            time.sleep(self.in_time)
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

    def masked(self, data):
        """Compiled code tells the index, other code does not."""
        return re.sub(rb"(IndexOutOfBoundsException): \d+", rb"\1", super().masked(data))

    def shown(self, kind, payload, length, cut, step):
        if kind != frames.META_SUCCESS:
            return super().shown(kind, payload, length, cut, step)
        request, chunks = struct.unpack_from(">qi", payload)
        return differential.Answer("MergedBlockMetaSuccess", f"{request}, {chunks} chunks", payload[12:], cut)


INTENDED = [
    Intended("a map index below 0 is refused", r".*", r".*a map index is not negative.*", ends=True),
    Intended("a merge directory is a plain name in either release's way, as in 4.3's", r".*", r".*Invalid merge directory name.*", releases=r"3\.", ends=True),
    Intended("a block whose beginning was thrown away, as its twin was being written, is not merged when the twin fails; Spark merges the rest of it",
             r"RpcResponse\(\d+\) b?'\\x12\\x00\\x00\\x00\\x00\\x00'", r"RpcResponse\(\d+\) b?'\\x12\\x02.*", sent="the last", ends=True),
    Intended("a partition without a whole block has no files; Spark's are empty", r".*Merged shuffle index file \S+ is empty'", r".*Merged shuffle index file \S+ not found'"),
    Intended("a partition without a whole block has no files; Spark's are empty", r"ChunkFetchFailure.*IndexOutOfBoundsException.*", r".*Merged shuffle data file \S+ not found'"),
]
ANOTHER_ORDER = Intended("merge statuses in the order of partitions; Spark's are in a hash map's", "", "")
REMOVED = Intended("what is removed is gone at once; Spark's clean-up takes a while, and has forgotten after a restart which files there were", "", "", ends=True)
OPEN = Intended("of a merge that has not ended nothing is read; Spark serves chunks that are whole, and remembers later that there were so few", "", "", ends=True)
REMOVED_BEFORE = Intended("a removed merge has ended after a restart, too; Spark's clean-up deletes the row that says so when the merge had not ended before",
                          "", "", ends=True)


def removed(steps, of, earlier=False):
    """Whether one of the steps removes this merge of a shuffle, or whichever is the latest; or an earlier one."""
    shuffle, merge = of
    return any(one.does == "remove" and one.of[0] == shuffle and (one.of[1] in (merge, -1) or (earlier and one.of[1] < merge)) for one in steps)


def is_open(steps, of):
    """Whether this merge has begun and not ended."""
    state = {}  # shuffle -> (merge id, whether it has ended), as RemoteBlockPushResolver keeps it
    for one in steps:
        if one.then == "restart":
            state = {shuffle: known for shuffle, known in state.items() if known[1]}
        if one.does in ("", "read"):
            continue
        shuffle, merge = one.of
        latest, ended = state.get(shuffle, (None, False))
        if one.does in ("begin", "push") and (latest is None or merge > latest):
            state[shuffle] = (merge, False)
        elif one.does == "end" and (latest is None or (merge >= latest and not ended)):
            state[shuffle] = (merge, True)
        elif one.does == "remove" and merge == -1 and latest is not None:
            state[shuffle] = (latest, True)
        elif one.does == "remove" and merge != -1 and (latest is None or merge >= latest):
            state[shuffle] = (merge, True)
    return state.get(of[0]) == (of[1], False)


class Comparison(differential.Comparison):
    SCRIPT, PLAY, INTENDED, AT_ONCE = merge_scripts.Script, Play, INTENDED, 6

    @classmethod
    def start_spark(cls, home, root, directory, port):
        state = directory / "spark-state"
        classes = state / "classes"
        classes.mkdir(parents=True)
        subprocess.run(["javac", "-cp", f"{home}/jars/*", "-d", classes, peers.HERE / "java/MergingService.java"], check=True)
        command = [peers.java(), "-Xmx1g", "-XX:-OmitStackTraceInFastThrow", *peers.JVM, *peers.OPENS, "-cp", f"{home}/jars/*:{classes}", "MergingService", port, state]
        return Restartable("Spark", [*command, *(f"{key}={value}" for key, value in SETTINGS.items())], port, directory / "spark.log")

    @classmethod
    def start_fairlead(cls, binary, release, root, directory, port):
        state = directory / "fairlead-state"
        state.mkdir()
        command = [binary, "shuffle", "--port", port, "--local-roots", root, "--state", state, "--answer-as", release]
        return Restartable("Fairlead", [*command, *(word for key, value in SETTINGS.items() for word in ("--conf", f"{key}={value}"))], port, directory / "fairlead.log")

    def intended(self, before, step, spark, fairlead):
        if are_statuses_in_another_order(spark, fairlead):
            return ANOTHER_ORDER
        restarts = [at for at, one in enumerate(before) if one.then == "restart"]
        if step.does == "read" and fairlead is not None and "Failure" in fairlead.kind:
            if removed(before, step.of):
                return REMOVED
            if is_open(before, step.of):
                return OPEN
        if restarts and step.does in ("push", "end") and removed(before[:restarts[-1]], step.of, earlier=step.does == "end"):
            return REMOVED_BEFORE
        return super().intended(before, step, spark, fairlead)

    def count(self, answer):
        super().count(answer)
        self.counts["chunks"] += answer.kind == "ChunkFetchSuccess"
        self.counts["bytes"] += len(answer.body) if answer.kind == "ChunkFetchSuccess" else 0

    def agrees(self):
        return super().agrees() and self.counts["chunks"] > 0

    def summary(self):
        return f"{self.counts['chunks']} chunks with {self.counts['bytes']} merged bytes, {super().summary()}"

    def least(self, seed, found):
        """The steps before, as they are: a block in pieces cannot miss one."""
        return self.told(seed, range(max(0, found.at - 12), found.at), found)


def are_statuses_in_another_order(one, other):
    """Bitmaps, partitions and sizes of two MergeStatuses are the same bytes, in another order."""
    if one is None or other is None or not one.kind == other.kind == "RpcResponse":
        return False
    both = (one.body, other.body)
    return all(body[:1] == b"\x0e" for body in both) and sorted(both[0]) == sorted(both[1])


if __name__ == "__main__":
    sys.exit(differential.main(Comparison, __doc__))
