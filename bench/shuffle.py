#!/usr/bin/env python3
"""The shuffle service against Spark's own and against a bare sendfile server: same files, same client, same run.

usage: bench/shuffle.py BUILD_DIR [--spark HOME]... [--pairs N] [--seconds S] [--blocks 4096,65536,...]
Spark homes are directories with jars/ in them. Prints one line a measurement and the medians with their ratios.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TICKS = os.sysconf("SC_CLK_TCK")


def java_hash(text):
    value = 0
    for char in text:
        value = (31 * value + ord(char)) & 0xffffffff
    value = value - (1 << 32) if value >= 1 << 31 else value
    return 0 if value == -(1 << 31) else abs(value)


def place(root, name):
    path = root / f"{java_hash(name) % 64:02x}" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def make_files(root, block, maps, reduces):
    data = os.urandom(1 << 20)
    for number in range(maps):
        with open(place(root, f"shuffle_0_{number}_0.data"), "wb") as out:
            left = block * reduces
            while left > 0:
                out.write(data[:min(left, len(data))])
                left -= len(data)
        place(root, f"shuffle_0_{number}_0.index").write_bytes(b"".join(struct.pack(">q", i * block) for i in range(reduces + 1)))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def cpu_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_mb(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0


class Server:
    def __init__(self, name, command, port, env=None):
        self.name, self.port = name, port
        begin = time.monotonic()
        self.process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit(f"{name} did not start: {' '.join(map(str, command))}")
                time.sleep(0.002)
        self.start_seconds = time.monotonic() - begin

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def spark_command(home, root, port):
    jars = pathlib.Path(home) / "jars"
    conf = {"spark.shuffle.service.port": port, "spark.local.dir": root, "spark.shuffle.service.enabled": "true",
            "spark.shuffle.service.db.enabled": "false"}
    opens = [f"--add-opens=java.base/{p}=ALL-UNNAMED" for p in ("java.lang", "java.nio", "sun.nio.ch", "java.util")]
    return ["java", "-Xmx1g", *opens, *[f"-D{k}={v}" for k, v in conf.items()], "-cp", f"{jars}/*",
            "org.apache.spark.deploy.ExternalShuffleService"]


def measure(build, server, root, maps, reduces, seconds, *extra):
    client = [build / "bench/bench_shuffle_client", "--port", server.port, "--dirs", root / "blockmgr", "--maps", maps,
              "--reduces", reduces, "--seconds", seconds, "--register", *extra]
    before = cpu_seconds(server.process.pid)
    out = subprocess.run([str(word) for word in client], capture_output=True, text=True, check=True).stdout
    result = json.loads(out)
    result["server_cpu_s"] = cpu_seconds(server.process.pid) - before
    result["rss_mb"] = resident_mb(server.process.pid)
    if result.get("bytes"):
        result["cpu_s_per_gb"] = result["server_cpu_s"] / (result["bytes"] / 1e9)
        result["cpu_us_per_block"] = result["server_cpu_s"] * 1e6 / result["blocks"]
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--spark", action="append", default=[])
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--blocks", default="4096,16384,65536,16777216")
    parser.add_argument("--io-threads", default="0")
    options = parser.parse_args()
    options.build = options.build.resolve()
    root = pathlib.Path(tempfile.mkdtemp(prefix="shuffle-bench-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    fairlead = next(p for p in (options.build / "fairlead", options.build / "fairlead-shuffle") if p.exists())
    try:
        for block in map(int, options.blocks.split(",")):
            run_block(options, root, fairlead, block)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def run_block(options, root, fairlead, block):
    total = min(max(block * 2000, 64 << 20), 512 << 20)
    maps = 64 if block <= 1 << 20 else 4
    reduces = max(total // block // maps, 4)
    shutil.rmtree(root / "blockmgr", ignore_errors=True)
    make_files(root / "blockmgr", block, maps, reduces)
    commands = {"fairlead": lambda p: [fairlead, "shuffle", "--port", p, "--local-roots", root, "--io-threads", options.io_threads],
                "probe": lambda p: [options.build / "bench/bench_sendfile_probe", "--port", p, "--dirs", root / "blockmgr", "--block", block]}
    for home in options.spark:
        commands[pathlib.Path(home).name] = lambda p, home=home: spark_command(home, root, p)
    results = {name: [] for name in commands}
    lone = {}
    for pair in range(options.pairs):
        for name, command in commands.items():
            port = free_port()
            server = Server(name, [str(word) for word in command(port)], port)
            try:
                if name not in ("fairlead", "probe"):  # let the compiler work
                    measure(options.build, server, root, maps, reduces, 3)
                results[name].append(measure(options.build, server, root, maps, reduces, options.seconds))
                if pair == 0 and block == 4096:
                    lone[name] = measure(options.build, server, root, maps, reduces, 1, "--lone")
            finally:
                server.stop()
    print(f"blocks of {block} bytes, 4 connections, {maps} maps x {reduces} reduces")
    mine = statistics.median(r["gb_per_s"] for r in results["fairlead"])
    for name, runs in results.items():
        middle = {key: statistics.median(r[key] for r in runs) for key in ("gb_per_s", "blocks_per_s", "cpu_s_per_gb", "cpu_us_per_block", "rss_mb")}
        text = " ".join(f"{key}={value:.3f}" for key, value in middle.items())
        extra = f" lone p50={lone[name]['p50_us']} us p99={lone[name]['p99_us']} us" if name in lone else ""
        print(f"  {name:10} {text} fairlead/this={mine / max(middle['gb_per_s'], 1e-9):.2f}{extra}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
