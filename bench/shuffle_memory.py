#!/usr/bin/env python3
"""Memory of the shuffle service: fresh, with 10,000 registered executors, and with 5,000 connections that ask and do not read.

usage: bench/shuffle_memory.py BINARY    (run with an open-files limit of 20,000 or more)
"""
import os
import pathlib
import resource
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

from shuffle import free_port, place, resident_mb


def text(value):
    data = str(value).encode()
    return struct.pack(">i", len(data)) + data


def rpc(body):
    return struct.pack(">qbqi", 21 + len(body), 3, 1, len(body)) + body


def registration(app, executor, dirs):
    return rpc(b"\x02" + text(app) + text(executor) + struct.pack(">i", len(dirs)) + b"".join(map(text, dirs)) + struct.pack(">i", 64)
               + text("org.apache.spark.shuffle.sort.SortShuffleManager"))


def fetch(app, map_id, reduces):
    return rpc(b"\x09" + text(app) + text(1) + struct.pack(">iiqii", 0, 1, map_id, 1, reduces)
               + b"".join(struct.pack(">i", r) for r in range(reduces)) + b"\0")


def start(binary, root, port):
    begin = time.monotonic()
    process = subprocess.Popen([binary, "shuffle", "--port", str(port), "--local-roots", str(root), "--state", str(root) + "-state"],
                               stderr=subprocess.DEVNULL)
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process, time.monotonic() - begin
        except OSError:
            time.sleep(0.002)


def receive(connection, count):
    while count > 0:
        count -= len(connection.recv(min(count, 1 << 16)))


def main():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(20000, hard), hard))
    root = pathlib.Path(tempfile.mkdtemp(prefix="shuffle-memory-"))
    port = free_port()
    process, seconds = start(sys.argv[1], root, port)
    try:
        print(f"first answer after {seconds:.3f} s, fresh {resident_mb(process.pid):.1f} MB")
        connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(50)]
        begin = time.monotonic()
        for executor in range(200):
            for number, connection in enumerate(connections):
                base = root / f"spark-2f0e7e5c-41c2-4a0c-9d2e-{executor:06d}/executor-1e2c3d4e-0000-4a0c-{number:06d}"
                connection.sendall(registration(f"app-20260101000000-{number:04d}", executor, [base / "blockmgr-a", base / "blockmgr-b"]))
        for connection in connections:
            receive(connection, 200 * 21)
            connection.close()
        print(f"10,000 executors registered in {time.monotonic() - begin:.1f} s, {resident_mb(process.pid):.1f} MB")
        process.kill()
        process.wait()
        process, seconds = start(sys.argv[1], root, port)
        time.sleep(1)
        print(f"after kill -9: serves again in {seconds:.3f} s, {resident_mb(process.pid):.1f} MB")
        connection = socket.create_connection(("127.0.0.1", port))
        connection.sendall(registration("slow", 1, [root / "b"]))
        receive(connection, 21)
        for number, block in enumerate((4096, 1 << 20)):
            place(root / "b", f"shuffle_0_{number}_0.data").write_bytes(os.urandom(block) * 100)
            place(root / "b", f"shuffle_0_{number}_0.index").write_bytes(b"".join(struct.pack(">q", i * block) for i in range(101)))
            readers = []
            for _ in range(5000):
                reader = socket.socket()
                reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                reader.connect(("127.0.0.1", port))
                reader.sendall(fetch("slow", number, 100))
                readers.append(reader)
            for reader in readers:
                stream = reader.recv(34, socket.MSG_WAITALL)[22:30]
                reader.sendall(b"".join(struct.pack(">qb", 21, 0) + stream + struct.pack(">i", i) for i in range(100)))
            peak = 0
            for _ in range(20):
                time.sleep(0.5)
                peak = max(peak, resident_mb(process.pid))
            print(f"5,000 connections that do not read 100 blocks of {block} bytes each: peak {peak:.1f} MB")
            for reader in readers:
                reader.close()
    finally:
        process.kill()
        shutil.rmtree(root, ignore_errors=True)
        shutil.rmtree(str(root) + "-state", ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
