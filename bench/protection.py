#!/usr/bin/env python3
"""What Kerberos and hadoop.rpc.protection cost a resource manager, ours and Hadoop's: microseconds of its processor time a call.

usage: protection.py BUILD [--calls N] [--applications N] [--hadoop VERSION]
Each kind of resource manager starts without Kerberos, with authentication alone and with privacy; Hadoop's client calls it on one connection.
"small" calls have an answer of some 100 bytes, "large" ones list N applications. What privacy adds to a call of ours is set beside what the cipher takes
by itself for the same bytes.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
import cluster as clusters  # noqa: E402
import kdc  # noqa: E402
import peers  # noqa: E402
import registry  # noqa: E402
import row_file  # noqa: E402
from yarn import listens  # noqa: E402  (it also lets Java's daemons start as they do by themselves)

PROTECTIONS = ("", "authentication", "privacy")
GOALS = {"authentication": 1.05, "privacy": 1.0}  # beside none, ours; beside Hadoop's
CIPHER_GOAL = 1.2  # what privacy adds, beside the cipher alone


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def received_and_sent(port):
    """Bytes of all connections at that port, of its side."""
    told = subprocess.run(["ss", "-tinH", "sport", "=", f":{port}"], capture_output=True, text=True, check=True).stdout
    return [sum(int(number) for number in re.findall(rf"\b{what}:(\d+)", told)) for what in ("bytes_received", "bytes_acked")]


def cipher_cost(build, cluster, calls, received, sent):
    """Microseconds of the cipher for that many bytes, of which a call's header counts too."""
    principal, keytab = f"rm/localhost@{kdc.REALM}", cluster.kdc.keytab("rm/localhost")
    command = [build / "bench/bench_cipher_cost", principal, keytab, received // calls, sent // calls, calls]
    return float(subprocess.run([*map(str, command)], env=cluster.client_environment(), capture_output=True, text=True, check=True).stdout)


def cost(kind, protection, arguments):
    """{name of the call: microseconds}, and the cipher's of the bytes of each with privacy of ours."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-bench-"))
    cluster = clusters.Cluster(directory, registry.Spec(hadoop=arguments.hadoop, rm=kind, nodes=(), kerberos=protection))
    found, cipher, moved = {}, {}, {}
    try:
        cluster.write()
        cluster.start_rm(heap=1000)
        cluster.wait(lambda: listens(cluster.client), "the resource manager's port")
        pid = cluster.processes["rm"].pid
        command = cluster.java_command(ROOT / "bench/java/CallCost.java", arguments.calls, arguments.calls, arguments.applications)
        program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=cluster.client_environment())
        for line in program.stdout:
            edge, _, name = line.strip().partition(" ")
            calls = arguments.calls // (10 if name == "large" else 1)
            if edge == "begin":
                found[name], moved[name] = processor_seconds(pid), received_and_sent(cluster.client)
            elif edge == "end":
                found[name] = (processor_seconds(pid) - found[name]) / calls * 1e6
                if (kind, protection) == ("fairlead", "privacy"):
                    cipher[name] = cipher_cost(arguments.build, cluster, calls, *(b - a for a, b in zip(moved[name], received_and_sent(cluster.client))))
            program.stdin.write("\n")
            program.stdin.flush()
        if program.wait() != 0:
            raise AssertionError(f"CallCost ended with {program.returncode}")
    finally:
        cluster.stop()
        shutil.rmtree(directory, ignore_errors=True)
    return found, cipher


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--calls", type=int, default=20000)
    parser.add_argument("--applications", type=int, default=100)
    parser.add_argument("--hadoop", default="3.4.3")
    arguments = parser.parse_args()
    peers.fetch(f"hadoop-{arguments.hadoop}")
    costs = {(kind, protection): cost(kind, protection, arguments) for protection in PROTECTIONS for kind in ("fairlead", "java")}
    rows = []
    for name in ("small", "large"):
        plain = costs["fairlead", ""][0][name]
        for protection in PROTECTIONS:
            ours, theirs = (costs[kind, protection][0][name] for kind in ("fairlead", "java"))
            judged = ours / theirs if protection == "privacy" else ours / plain
            goal = GOALS.get(protection)
            print(f"{name} {protection or 'no Kerberos'}: ours {ours:.1f} us ({ours / plain:.2f} x without), Hadoop's {theirs:.1f} us")
            rows.append({"name": f"{name}-{protection or 'plain'}", "ours": ours, "peer": theirs, "peer_version": f"Hadoop {arguments.hadoop}",
                         "ratio": judged, "goal": goal, "met": goal is None or judged <= goal, "checks_ok": True})
        added, cipher = costs["fairlead", "privacy"][0][name] - plain, costs["fairlead", "privacy"][1][name]
        print(f"{name}: privacy adds {added:.1f} us, the cipher alone takes {cipher:.1f} us ({added / cipher:.2f} x)")
        rows.append({"name": f"{name}-cipher", "ours": added, "peer": cipher, "peer_version": "libgssapi_krb5", "ratio": added / cipher, "goal": CIPHER_GOAL,
                     "met": added / cipher <= CIPHER_GOAL, "checks_ok": True})
    row_file.write(arguments.build, "protection", rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
