#!/usr/bin/env python3
"""corpus.py DIRECTORY: makes seed corpora for the fuzz targets out of the recordings of real peers under tests/.

DIRECTORY/TARGET/N holds the Nth input of TARGET. What is small and needs no making lies in tests/corpus/TARGET itself.
"""
import gzip
import json
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent / "tests"
RPC_REQUEST = 3
FRAME_HEAD = 8 + 1          # length, type
RPC_HEAD = FRAME_HEAD + 8 + 4  # request id, body size
OBJECT_STREAM = b"\xac\xed\x00\x05"


def shuffle_streams():
    """What each client of the shuffle service sent on each connection, with its recording's mode."""
    for path in sorted((TESTS / "oracles/shuffle").glob("*.json.gz")):
        recording = json.loads(gzip.decompress(path.read_bytes()))
        for exchange in recording["exchanges"]:
            streams = {}
            for step in exchange.get("wire", []):
                if step.get("dir") == "c2s" and "hex" in step:
                    streams.setdefault(step["conn"], bytearray()).extend(bytes.fromhex(step["hex"]))
            for stream in streams.values():
                yield recording["mode"], bytes(stream)


def rpc_bodies(stream):
    at = 0
    while at + RPC_HEAD <= len(stream):
        length = int.from_bytes(stream[at:at + 8], "big")
        if length < FRAME_HEAD or at + length > len(stream):
            return
        if stream[at + 8] == RPC_REQUEST:
            yield stream[at + RPC_HEAD:at + length]
        at += length


def spark_frames():
    """The transport frames between Spark's drivers, workers and its master, and the object stream in each."""
    for path in sorted((TESTS / "oracles/spark-rpc").glob("*-frames.jsonl.gz")):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            frame = bytes.fromhex(json.loads(line)["hex"])
            yield frame, frame[frame.index(OBJECT_STREAM):]


def frame_body(frame):
    return frame[RPC_HEAD if frame[8] == RPC_REQUEST else FRAME_HEAD + 4:]


def corpora():
    for frame, stream in spark_frames():
        yield "wire_java_stream_reader_fuzz", stream
        yield "endpoints_spark_driver_messages_fuzz", frame_body(frame)
        if b"DeployMessages$" in stream[:200]:
            yield "sim_standalone_worker_fuzz", b"\0" + stream  # as its master's
    for mode, stream in shuffle_streams():
        yield "wire_spark_transport_frames_fuzz", b"\x05" + stream
        flags = (0 if mode == "plain" else 2) | (4 if mode.startswith("crypto") else 0)
        for release in (0, 1):
            yield "endpoints_shuffle_session_fuzz", bytes([flags | release, 255]) + stream
        for body in rpc_bodies(stream):
            yield ("wire_spark_shuffle_messages_fuzz" if mode == "plain" else "wire_spark_transport_auth_fuzz"), body
    for path in sorted((TESTS / "golden/yarn/ipc").iterdir()):
        yield "wire_hadoop_rpc_frames_fuzz", b"\x40" + path.read_bytes()
    names = gzip.decompress((TESTS / "oracles/shuffle/file-paths.tsv.gz").read_bytes()).decode().splitlines()
    for line in names[1:50]:
        yield "wire_spark_shuffle_layout_fuzz", line.split("\t")[2].encode()


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    counts = {}
    for target, data in corpora():
        directory = pathlib.Path(sys.argv[1]) / target
        directory.mkdir(parents=True, exist_ok=True)
        counts[target] = counts.get(target, 0) + 1
        (directory / str(counts[target])).write_bytes(data)
    for target, count in sorted(counts.items()):
        print(f"{target}: {count} inputs")


if __name__ == "__main__":
    main()
