#!/usr/bin/env python3
"""Checks that no folder of src/ includes a folder it may not know (docs/ARCHITECTURE.md, "Layers").

Exit status: 0 when every include is allowed, 1 with one line per forbidden include otherwise.
"""
import argparse
import pathlib
import re
import sys

WIRES = {"wire/hadoop_rpc", "wire/yarn", "wire/spark_transport", "wire/spark_shuffle", "wire/java_stream", "wire/engine"}
CORES = {"scheduler", "rm", "nm", "tasks", "shuffle"}
ENDPOINTS = {"endpoints/yarn", "endpoints/spark", "endpoints/shuffle", "endpoints/rest"}
# What every machine may stand on: Hadoop RPC and HTTP over the env ports, and on them an application's side of YARN.
SERVERS = {"process/rpc", "process/http", "process/application"}
MACHINES = {"process/rm", "process/nm", "process/shuffle", "process/driver", "process/executor",
            "process/spark_master"}
BELOW_ENGINE = {"base", "model", "env", "config"} | WIRES | CORES | ENDPOINTS | SERVERS | MACHINES

# folder -> folders it may include besides itself
MAY_INCLUDE = {
    "base": set(),
    "model": {"base"},
    "env": {"base"},
    "config": {"base", "model"},
    "wire/hadoop_rpc": {"base"},
    "wire/yarn": {"base", "wire/hadoop_rpc"},
    "wire/spark_transport": {"base"},
    "wire/spark_shuffle": {"base", "wire/spark_transport"},
    "wire/java_stream": {"base"},
    "wire/engine": {"base"},
    **{core: {"base", "model"} for core in CORES},
    "endpoints/yarn": {"base", "model", "wire/hadoop_rpc", "wire/yarn"},
    "endpoints/spark": {"base", "model", "wire/spark_transport", "wire/java_stream"},
    "endpoints/shuffle": {"base", "model", "wire/spark_transport", "wire/spark_shuffle"},
    "endpoints/rest": {"base", "model"},
    "env_posix": {"base", "env"},
    "env_sim": {"base", "env"},
    "process/http": {"base", "env"},
    "process/rpc": {"base", "env", "wire/hadoop_rpc", "wire/yarn", "endpoints/yarn"},
    "process/application": {"base", "model", "env", "wire/hadoop_rpc", "wire/yarn", "endpoints/yarn", "process/rpc"},
    "process/rm": {"base", "model", "env", "config", "scheduler", "rm"} | WIRES | ENDPOINTS | SERVERS,
    "process/nm": {"base", "model", "env", "config", "nm"} | WIRES | ENDPOINTS | SERVERS,
    "process/shuffle": {"base", "model", "env", "config", "shuffle"} | WIRES | ENDPOINTS | SERVERS,
    "process/driver": {"base", "model", "env", "config", "tasks"} | WIRES | ENDPOINTS | SERVERS,
    "process/executor": {"base", "model", "env", "config"} | WIRES | ENDPOINTS | SERVERS,
    "process/spark_master": {"base", "model", "env", "config"} | WIRES | ENDPOINTS | SERVERS,
    "engine": BELOW_ENGINE | {"env_posix"},
    "sim": BELOW_ENGINE | {"engine", "env_sim"},
    "shell": BELOW_ENGINE | {"engine", "env_posix"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
# Words that do not belong into a pure folder: they let the world in behind the back of Step().
PURE = CORES | WIRES | {"model", "base"}
IMPURE = re.compile(r"#\s*include\s*<(thread|mutex|condition_variable|future|random|fstream|iostream|filesystem|chrono"
                    r"|sys/[a-z_]+\.h|unistd\.h|fcntl\.h)>|\brandom_device\b|::now\(")


def folder_of(path: str):
    parts = path.split("/")
    for depth in (2, 1):
        name = "/".join(parts[:depth])
        if name in MAY_INCLUDE:
            return name
    return None


def violations(root: pathlib.Path):
    src = root / "src"
    for file in sorted(src.rglob("*")):
        if file.suffix not in (".h", ".cc"):
            continue
        relative = file.relative_to(src).as_posix()
        own = folder_of(relative)
        if own is None:
            yield f"src/{relative}: folder is not in the table of tools/layers.py"
            continue
        is_test = re.search(r"_(test|bench|fuzz)\.cc$", relative)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match and not is_test:
                other = folder_of(match.group(1))
                if other and other != own and other not in MAY_INCLUDE[own]:
                    yield f"src/{relative}:{number}: {own} must not include {match.group(1)} (layer {other})"
            if own in PURE and not is_test and IMPURE.search(line):
                yield f"src/{relative}:{number}: {own} is pure: time, randomness, threads and I/O come in as arguments"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    found = list(violations(parser.parse_args().root))
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
