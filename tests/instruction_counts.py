#!/usr/bin/env python3
"""Counts the scheduler's instructions on fixed workloads (valgrind's callgrind, Scheduler::Step only) and compares them
with tests/instruction_counts.txt. A count that grew by more than 2 %, or a workload that decides otherwise, fails.

    instruction_counts.py BINARY            compare
    instruction_counts.py BINARY --update   write the file anew; say why in the same commit
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

BASELINE = pathlib.Path(__file__).resolve().parent / "instruction_counts.txt"
ALLOWED = 1.02
HEAD = "# workload, instructions in Scheduler::Step (g++ 12 -O2, callgrind), hash of its decisions\n"


def count(binary, name):
    """(instructions, hash) of one workload."""
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/out",
             "--toggle-collect=fairlead::scheduler::*::Step(*", binary, name],
            capture_output=True, text=True, timeout=900)
    if done.returncode != 0:
        sys.exit(f"{name}: {done.stderr[-2000:]}")
    collected = re.search(r"Collected : (\d+)", done.stderr)
    return int(collected.group(1)), done.stdout.strip()


def read():
    rows = {}
    for line in BASELINE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, instructions, decisions = line.split()
            rows[name] = (int(instructions), decisions)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    names = subprocess.run([arguments.binary], capture_output=True, text=True, check=True).stdout.split()
    counted = {name: count(arguments.binary, name) for name in names}
    if arguments.update:
        BASELINE.write_text(HEAD + "".join(f"{name} {n} {decisions}\n" for name, (n, decisions) in counted.items()),
                            encoding="utf-8")
        return 0
    known = read()
    failed = set(known) != set(names)
    if failed:
        print(f"the file has {sorted(known)}, the binary {sorted(names)}")
    for name, (instructions, decisions) in counted.items():
        before, expected = known.get(name, (instructions, decisions))
        change = 100 * (instructions / before - 1)
        print(f"{name}: {instructions} instructions, {change:+.2f} %, decisions {decisions}")
        if instructions > before * ALLOWED:
            print("  more than 2 % above the baseline: make it cheaper, or raise the baseline with the reason")
            failed = True
        if decisions != expected:
            print(f"  decisions were {expected}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
