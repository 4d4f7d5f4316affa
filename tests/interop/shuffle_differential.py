#!/usr/bin/env python3
"""`fairlead shuffle` held against Spark's own external shuffle service on random exchanges (shuffle_scripts.py).

usage: shuffle_differential.py --spark HOME --fairlead BINARY [--seeds N] [--seed S] [--pairs P]
Each script runs on Spark's service and then on Fairlead's, which is told to answer as the same release, on the same files at the same path,
made anew. Compared are all answers, whether connections stay open, and the files that are left. Fails on a difference that INTENDED does not
name, after it has left out the steps that the difference does not need.
"""
import sys

import differential
import peers
import shuffle_scripts as scripts
from differential import Intended


class Play(differential.Play):
    def step(self, step):
        connection = self.connections.get(step.connection)
        if connection is None:
            connection = self.connections[step.connection] = differential.Connection(self.service.port)
        data = b"".join(one.data(self.streams) for one in step.frames)
        count, end = scripts.prospects(data)
        ends = step.shut or end != "open"
        connection.send(data, step.shut or end == "inside", step.pieces)
        if count == 0 and not ends:
            found = self.fenced(connection)
        else:
            found = self.read(connection, step, None if ends else count)
        if ends or connection.ended:
            self.lost(step.connection)
        return found

    def lost(self, number):
        """The next step on this connection opens another; its streams are gone, though not everywhere at once."""
        self.connections.pop(number).close()
        for request in [request for request, at in self.of.items() if at == number]:
            del self.streams[request], self.of[request]


INTENDED = [
    Intended("digits of other scripts are no digits in ids", r".*", r".*NumberFormatException: For input string: .*", sent="[٠-٩０-９]|xd9.xa3|xef.xbc.x9[0-9]", ends=True),
    Intended("a chunk too long for its frame is refused; Spark sends a frame that no client takes", r"ChunkFetchSuccess.*, length \d{10,}\) .*",
             r"ChunkFetchFailure.*Too large frame: \d+; ask for it as a stream .*", ends=True),
    Intended("of a map output whose index was removed nothing is served; Spark goes on with the index it has in memory", r".*",
             r".*Failed to open file: \S+/(?P<file>shuffle_\S+\.index)'", after=r"RemoveBlocks\(.*'{file}'", ends=True),
    Intended("the end of what a client sends is the end of its connection; Spark's, too, but it has answered by then what waits for a disk here",
             r"RpcResponse.*|RpcFailure.*", r"closed\(\) ''", sent="(RegisterExecutor|DiagnoseCorruption).*, and no more is sent", ends=True),
    Intended("RemoveBlocks takes names of files: nothing with a slash, and no directory", r"RpcResponse\(\S+\) b?'\\x08.*'", r"RpcResponse\(\S+\) b?'\\x08.*'",
             sent=r"RemoveBlocks\(.*\[.*('[^']*/[^']*'|''|'\.\.?')", releases=r"3\.", ends=True),
    Intended("an address in the JVM's memory", r"RpcFailure.*ShuffleServiceHeartbeat@[0-9a-f]+'", r"RpcFailure.*ShuffleServiceHeartbeat@0'", releases=r"3\."),
    Intended("bitmaps that a service does not get are not decoded", r".*Exception while decoding bitmap'|.*BufferUnderflowException'", r".*Unexpected message: MergeStatuses\[.*"),
    Intended("Java has a text of its own for a path with a NUL", r".*InvalidPathException: Nul character not allowed.*", r".*Failed to open file: .*\\x00.*", releases=r"3\."),
    Intended("4.3 resolves a path before it opens it, and says so where a name cannot be", r".*Failed to resolve block file: .*(x{100}|\\x00).*",
             r".*Failure\(.*|RpcResponse\(\S+\) b?'\\x11\\x02'", releases=r"4\."),
    Intended("3.5 makes an array of the announced length; whether it has the memory depends on its heap", r"RpcFailure.* exceeds writerIndex.*|closed.*",
             r"RpcFailure.* exceeds writerIndex.*|closed.*", sent="mutated", releases=r"3\.", ends=True),
]


class Comparison(differential.Comparison):
    SCRIPT, PLAY, INTENDED = scripts.Script, Play, INTENDED

    @classmethod
    def start_spark(cls, home, root, directory, port):
        conf = {"spark.shuffle.service.port": port, "spark.local.dir": root, "spark.shuffle.service.enabled": "true", "spark.shuffle.service.db.enabled": "false"}
        # Compiled code says less, or other texts, in some exceptions than interpreted code; these options take that away.
        words = [peers.java(), "-Xmx1g", "-XX:-OmitStackTraceInFastThrow", "-XX:-TieredCompilation"]
        return differential.Service("Spark", [*words, *peers.OPENS, *[f"-D{key}={value}" for key, value in conf.items()], "-cp", f"{home}/jars/*",
                                              "org.apache.spark.deploy.ExternalShuffleService"], port, directory / "spark.log")

    @classmethod
    def start_fairlead(cls, binary, release, root, directory, port):
        return differential.Service("Fairlead", [binary, "shuffle", "--port", port, "--local-roots", root, "--answer-as", release], port, directory / "fairlead.log")


if __name__ == "__main__":
    sys.exit(differential.main(Comparison, __doc__))
