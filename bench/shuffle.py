#!/usr/bin/env python3
"""The shuffle service against Spark's own, a bare sendfile server and nginx: same files, same machine, turn by turn.

usage: bench/shuffle.py BUILD_DIR [--spark HOME]... [--pairs N] [--seconds S] [--blocks 4096,65536,...] [--java]
Spark homes are directories with jars/ in them; nginx takes part when it is installed. Each server is started anew for every measurement,
and they take turns; the same raw client asks all but nginx, which gets the same blocks as ranges of files, asked for by wrk (when it is
installed), a request after another on each connection as a web server's requests per second are usually counted, and, "pipelined", as
many at a time as the raw client has open; --java fetches with Spark's own client classes besides. Prints medians, and the
medians of the ratios of runs that were made one after the other, and writes the rows to BUILD_DIR/bench/shuffle.json.
"""
import argparse
import contextlib
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

import row_file

PIPELINED = "pipelined nginx"
WEB = ("nginx", PIPELINED)
NGINX_PATH = os.environ["PATH"] + ":/usr/sbin"
HERE = pathlib.Path(__file__).resolve().parent
TICKS = os.sysconf("SC_CLK_TCK")
OPENS = [f"--add-opens=java.base/{p}=ALL-UNNAMED" for p in ("java.lang", "java.nio", "sun.nio.ch", "java.util")]


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
    """Of a process and its children."""
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    children = open(f"/proc/{pid}/task/{pid}/children").read().split()
    return (int(fields[11]) + int(fields[12])) / TICKS + sum(map(cpu_seconds, children))


@contextlib.contextmanager
def on_one_core(pid):
    """The process, and what is started meanwhile, on one core: nobody waits for a sleeping core to wake up, which in a virtual machine takes
    longer than all that a server does for a block."""
    allowed = os.sched_getaffinity(0)

    def confine(cores):
        for task in [0, *map(int, os.listdir(f"/proc/{pid}/task"))]:
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(task, cores)

    confine({min(allowed)})
    try:
        yield
    finally:
        confine(allowed)


def resident_mb(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0


class Server:
    def __init__(self, name, command, port):
        self.name, self.port = name, port
        begin = time.monotonic()
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        start_new_session=True)
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit(f"{name} did not start: {' '.join(map(str, command))}")
                time.sleep(0.002)
        self.start_seconds = time.monotonic() - begin
        self.fresh_mb = resident_mb(self.process.pid)

    def stop(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def spark_command(home, root, port):
    conf = {"spark.shuffle.service.port": port, "spark.local.dir": root, "spark.shuffle.service.enabled": "true",
            "spark.shuffle.service.db.enabled": "false"}
    return ["java", "-Xmx1g", *OPENS, *[f"-D{k}={v}" for k, v in conf.items()], "-cp", f"{home}/jars/*",
            "org.apache.spark.deploy.ExternalShuffleService"]


def nginx_command(root, port):
    """Two workers, as Fairlead has on two cores; what its documentation recommends for serving files fast."""
    conf = root / "nginx.conf"
    conf.write_text(f"""daemon off; worker_processes 2; pid {root}/nginx.pid; error_log stderr crit; user root;
events {{ worker_connections 256; }}
http {{ access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; open_file_cache max=1000 inactive=60s;
  client_body_temp_path {root}/t1; proxy_temp_path {root}/t2; fastcgi_temp_path {root}/t3; uwsgi_temp_path {root}/t4; scgi_temp_path {root}/t5;
  server {{ listen 127.0.0.1:{port}; root {root}; }} }}
""")
    return [shutil.which("nginx", path=NGINX_PATH), "-c", conf]


class Bench:
    """One block size: its files, its servers, and how each is asked."""

    def __init__(self, options, root, block):
        self.options, self.root, self.block = options, root, block
        total = min(max(block * 2000, 64 << 20), 512 << 20)
        self.maps = 64 if block <= 1 << 20 else 4
        self.reduces = max(total // block // self.maps, 4)
        shutil.rmtree(root / "blockmgr", ignore_errors=True)
        make_files(root / "blockmgr", block, self.maps, self.reduces)
        for number in range(self.maps):  # by names that a web client can count
            link = root / f"map{number}"
            link.unlink(missing_ok=True)
            os.link(place(root / "blockmgr", f"shuffle_0_{number}_0.data"), link)
        binaries = options.build / "bench"
        self.servers = {
            "fairlead": lambda port: [options.build / "fairlead", "shuffle", "--port", port, "--local-roots", root,
                                      "--io-threads", options.io_threads],
            "probe": lambda port: [binaries / "bench_sendfile_probe", "--port", port, "--dirs", root / "blockmgr", "--block", block]}
        for home in options.spark:
            self.servers[home.name] = lambda port, home=home: spark_command(home, root, port)
        if block <= 1 << 20 and shutil.which("nginx", path=NGINX_PATH):
            self.servers[PIPELINED] = lambda port: nginx_command(root, port)
            if shutil.which("wrk"):
                self.servers["nginx"] = lambda port: nginx_command(root, port)

    def raw_client(self, server, seconds, *extra):
        return [self.options.build / "bench/bench_shuffle_client", "--port", server.port, "--dirs", self.root / "blockmgr", "--maps", self.maps,
                "--reduces", self.reduces, "--seconds", seconds, "--register", *extra]

    def client(self, server, seconds):
        if server.name == "nginx":
            return ["wrk", "--threads", 1, "--connections", 4, "--duration", max(round(seconds), 1), "--script", HERE / "wrk_ranges.lua",
                    f"http://127.0.0.1:{server.port}/", "--", self.maps, self.reduces, self.block]
        if server.name != PIPELINED:
            return self.raw_client(server, seconds)
        return [self.options.build / "bench/bench_http_range_client", "--port", server.port, "--files", self.maps, "--prefix", "/map",
                "--block", self.block, "--blocks", self.reduces, "--seconds", seconds, "--depth", 2 * self.maps]

    def java_client(self, server, seconds):
        home = self.options.spark[-1]
        source = HERE / "java/ShuffleFetch.java"
        return ["java", "-Xmx1g", *OPENS, "-cp", f"{home}/jars/*", source, server.port, self.root / "blockmgr", self.maps, self.reduces, seconds]

    def measure(self, server, command):
        before = cpu_seconds(server.process.pid)
        out = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=True).stdout
        result = json.loads(out.splitlines()[-1])
        cpu = cpu_seconds(server.process.pid) - before
        if result.get("bytes"):
            result["cpu_s_per_gb"] = cpu / (result["bytes"] / 1e9)
            result["cpu_us_per_block"] = cpu * 1e6 / result["blocks"]
        return result

    def run_once(self, name):
        port = free_port()
        server = Server(name, self.servers[name](port), port)
        try:
            if name.startswith("spark"):  # let the compiler work
                self.measure(server, self.raw_client(server, 3))
            result = self.measure(server, self.client(server, self.options.seconds))
            result["start_s"], result["fresh_mb"], result["rss_mb"] = server.start_seconds, server.fresh_mb, resident_mb(server.process.pid)
            if self.block == 4096 and name not in WEB:
                result["lone_p50_us"] = self.measure(server, self.raw_client(server, 1, "--lone"))["p50_us"]
                result["lone_awake_client_p50_us"] = self.measure(server, self.raw_client(server, 1, "--lone", "--awake"))["p50_us"]
                with on_one_core(server.process.pid):
                    result["lone_one_core_p50_us"] = self.measure(server, self.raw_client(server, 1, "--lone"))["p50_us"]
            if self.options.java and name not in (*WEB, "probe"):
                result["java_gb_per_s"] = self.measure(server, self.java_client(server, self.options.seconds + 2))["gb_per_s"]
            return result
        finally:
            server.stop()

    def run(self):
        """What each server gave, run by run; they take turns, so that runs of one number are neighbours in time."""
        results = {name: [] for name in self.servers}
        for _ in range(self.options.pairs):
            for name in self.servers:
                results[name].append(self.run_once(name))
        return results


def medians_of(results):
    """By server and figure."""
    return {name: {key: statistics.median(run[key] for run in runs) for key in runs[0]} for name, runs in results.items()}


# Block size -> what is compared with whom, and the goal of ours / theirs; "<=" where less is better.
GOALS = {
    16 << 20: [("gb_per_s", "spark", ">=", 0.97), ("gb_per_s", "probe", ">=", 0.90), ("cpu_s_per_gb", "probe", "<=", 1.1)],
    64 << 10: [("gb_per_s", "spark", ">=", 1.8), ("cpu_s_per_gb", "spark", "<=", 0.5)],
    16 << 10: [("gb_per_s", "probe", ">=", 0.85), ("blocks_per_s", "nginx", ">=", 3), ("blocks_per_s", PIPELINED, ">=", 3)],
    4 << 10: [("blocks_per_s", "spark", ">=", 6), ("blocks_per_s", "nginx", ">=", 5), ("blocks_per_s", PIPELINED, ">=", 5),
              ("blocks_per_s", None, ">=", 300_000), ("cpu_us_per_block", None, "<=", 5),
              ("lone_p50_us", "probe", "<=", 1.2), ("lone_p50_us", "spark", "<=", 0.7),
              ("lone_one_core_p50_us", "probe", "<=", 1.2), ("lone_one_core_p50_us", "spark", "<=", 0.7),
              ("lone_awake_client_p50_us", "probe", "<=", 1.2), ("lone_awake_client_p50_us", "spark", "<=", 0.7),
              ("start_s", None, "<=", 0.1), ("fresh_mb", None, "<=", 20)],
}


def rows_of(block, results):
    """A row for each goal. A ratio is the median of those of runs that were made one after the other, as a virtual machine changes its speed
    within minutes; of several releases of Spark that one counts beside which we look worst."""
    medians = medians_of(results)
    for key, peer, sense, goal in GOALS.get(block, []):
        better, worst = (max, min) if sense == ">=" else (min, max)
        ratios = {name: statistics.median(ours[key] / theirs[key] for ours, theirs in zip(results["fairlead"], runs))
                  for name, runs in results.items() if peer and name.startswith(peer)}
        ours = medians["fairlead"][key]
        version = worst(ratios, key=ratios.get) if ratios else None
        compared = ours if peer is None else ratios.get(version)
        met = None if compared is None else better(compared, goal) == compared
        yield {"name": f"{block} B {key}" + (f" / {peer}" if peer else ""), "ours": ours, "peer": medians[version][key] if version else None,
               "peer_version": version,
               "ratio": compared if peer else None, "goal": f"{sense} {goal}", "met": met, "checks_ok": True}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--spark", action="append", default=[], type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--blocks", default=",".join(map(str, GOALS)))
    parser.add_argument("--io-threads", default="0")
    parser.add_argument("--java", action="store_true", help="fetch with Spark's own client classes, too")
    options = parser.parse_args()
    peers = {"nginx (package nginx)": shutil.which("nginx", path=NGINX_PATH), "nginx, asked by wrk (package wrk)": shutil.which("wrk"),
             "Spark (--spark)": options.spark}
    for missing in [name for name, there in peers.items() if not there]:
        print(f"not measured, as it is not here: {missing}", flush=True)
    root = pathlib.Path(tempfile.mkdtemp(prefix="shuffle-bench-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    root.chmod(0o755)
    rows = []
    try:
        for block in map(int, options.blocks.split(",")):
            bench = Bench(options, root, block)
            results = bench.run()
            print(f"blocks of {block} bytes, 4 connections, {bench.maps} maps x {bench.reduces} reduces")
            for name, middle in medians_of(results).items():
                print(f"  {name:15} " + " ".join(f"{key}={value:.3f}" for key, value in middle.items() if key not in ("blocks", "bytes", "seconds")))
            for row in rows_of(block, results):
                rows.append(row)
                print(f"  {row['name']:34} {row['ours']:.3f} ratio {row['ratio'] if row['ratio'] is None else round(row['ratio'], 2)} "
                      f"goal {row['goal']} met {row['met']}", flush=True)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    row_file.write(options.build, "shuffle", rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
