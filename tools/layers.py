#!/usr/bin/env python3
"""Checks that no folder of src/ includes a folder it may not know (docs/ARCHITECTURE.md, "Layers"), that the DEPS of each
build target are the targets whose headers it includes, and that texts from outside are read within a budget.

Exit status: 0 when every include is allowed and declared and every row and dependency is used, else 1 with a line a fault.
"""
import argparse
import pathlib
import re
import sys

# folder -> the folders it may include besides itself, from the lowest layer up. A row allows what is used and no more:
# a folder that is named and not included is an error, too.
MAY_INCLUDE = {folder: set(others.split()) for folder, others in {
    "base": "",
    "model": "base",
    "env": "base",
    "wire/json": "base",
    "wire/xml": "base",
    "wire/yaml": "base",
    "config": "base model wire/json wire/xml wire/yaml",
    "wire/digest_md5": "base",
    "wire/hadoop_rpc": "base wire/digest_md5",
    "wire/yarn": "",
    "wire/spark_transport": "base wire/digest_md5",
    "wire/spark_shuffle": "base wire/spark_transport",
    "wire/java_stream": "base",
    "wire/jks": "base",
    "wire/engine": "base",
    "scheduler": "base model",
    "scheduler/shared": "base model",
    "scheduler/books": "base model scheduler scheduler/shared",
    "scheduler/fairlead": "base model scheduler scheduler/books scheduler/shared",
    "scheduler/tdw": "base model scheduler scheduler/books scheduler/shared",
    "scheduler/spark_standalone": "base model scheduler scheduler/books",
    "scheduler/hadoop": "base model scheduler/shared",
    "scheduler/yarn_fair": "base model scheduler scheduler/hadoop scheduler/shared",
    "scheduler/yarn_capacity": "base model scheduler scheduler/hadoop scheduler/shared",
    "profiles":
        "base config model scheduler scheduler/books scheduler/fairlead scheduler/spark_standalone scheduler/tdw "
        "scheduler/yarn_capacity scheduler/yarn_fair",
    "rm": "base model",
    "nm": "base model",
    "tasks": "base model",
    "shuffle": "base model wire/spark_shuffle",
    "endpoints/yarn": "base model wire/hadoop_rpc wire/yarn",
    "endpoints/spark": "base model wire/java_stream",
    "endpoints/shuffle": "base model wire/spark_shuffle wire/spark_transport",
    "endpoints/rest": "base endpoints/yarn wire/json wire/xml wire/yarn",
    "endpoints/v1": "base model",
    "env_posix": "base env model",
    "env_sim": "base env",
    "env_zookeeper": "base env",
    "env_kerberos": "base env",
    "env_openssl": "base env wire/jks",
    "process/peers": "",
    "process/http": "base env process/peers wire/json",
    "process/rpc": "base endpoints/yarn env process/peers wire/hadoop_rpc",
    "process/tls": "base env",
    "process/login": "base endpoints/yarn env process/http wire/hadoop_rpc",
    "process/application": "endpoints/yarn env model process/rpc wire/yarn",
    "report": "base endpoints/v1 model process/http",
    "process/ask": "base config endpoints/v1 model report scheduler scheduler/books",
    "process/rm":
        "base config endpoints/rest endpoints/v1 endpoints/yarn env model process/ask process/http process/login process/rpc rm "
        "scheduler scheduler/books wire/hadoop_rpc wire/yarn",
    "process/nm":
        "base endpoints/rest endpoints/v1 endpoints/yarn env model nm process/http process/login process/peers process/rpc "
        "wire/hadoop_rpc wire/yarn",
    "process/shuffle":
        "base endpoints/shuffle env model process/peers shuffle wire/json wire/spark_shuffle wire/spark_transport",
    "process/executor": "base env model tasks wire/engine wire/spark_shuffle wire/spark_transport",
    "process/driver":
        "base env model process/application process/executor process/peers process/rpc tasks wire/engine wire/spark_shuffle "
        "wire/spark_transport wire/yarn",
    "process/spark_rpc": "base endpoints/spark env process/peers wire/java_stream wire/spark_transport",
    "process/spark_master":
        "base endpoints/spark endpoints/yarn env model process/application process/http process/peers process/rpc "
        "process/spark_rpc scheduler scheduler/spark_standalone wire/json wire/yarn",
    "process/spark_worker": "base endpoints/spark env process/http process/peers process/spark_rpc",
    "engine/records": "base",
    "engine/plan": "base engine/records",
    "engine/settings": "base tasks wire/hadoop_rpc wire/json wire/spark_transport wire/xml",
    "engine/io": "base endpoints/yarn engine/plan engine/records engine/settings env env_posix process/http wire/json",
    "engine/shuffle": "base engine/io engine/plan engine/records wire/spark_shuffle",
    "engine/kernels": "engine/io engine/plan engine/records engine/shuffle",
    "engine/history": "base engine/io engine/plan engine/records env process/driver wire/json",
    "engine/driver":
        "base endpoints/yarn engine/history engine/io engine/plan engine/records engine/settings env env_openssl env_posix "
        "process/driver process/http process/tls",
    "engine/run":
        "base endpoints/yarn engine/driver engine/history engine/io engine/plan engine/records engine/settings engine/shuffle "
        "env env_posix model process/executor process/shuffle tasks wire/engine wire/hadoop_rpc "
        "wire/spark_shuffle wire/spark_transport",
    "engine/parquet": "engine/io engine/plan engine/records",
    "engine/api":
        "base engine/driver engine/io engine/kernels engine/plan engine/records engine/run engine/settings "
        "engine/shuffle",
    "fairlead": "engine/api engine/records",
    "sim/devices": "base",
    "sim/drivers": "base config process/spark_master profiles scheduler/spark_standalone",
    "sim/executors": "base scheduler/shared wire/json",
    "sim/rigid": "base",
    "sim/stages": "base tasks",
    "sim/traces":
        "base config endpoints/v1 model process/http process/rm profiles report scheduler scheduler/shared",
    "sim/cluster":
        "base endpoints/yarn env env_sim model process/driver process/executor process/nm process/rm "
        "process/rpc process/shuffle scheduler scheduler/fairlead shuffle tasks wire/engine wire/hadoop_rpc wire/spark_shuffle "
        "wire/yarn",
    "sim/standalone":
        "base endpoints/spark env env_sim process/http process/spark_master process/spark_rpc process/spark_worker "
        "sim/cluster wire/json",
    "shell/base": "base config endpoints/rest endpoints/yarn env env_posix model process/http wire/hadoop_rpc",
    "shell/kerberos": "base config endpoints/yarn env env_kerberos process/login wire/hadoop_rpc",
    "shell/callers": "base config endpoints/yarn env env_posix process/login shell/base shell/kerberos",
    "shell/tls": "base config env env_openssl process/tls shell/base",
    "shell/client":
        "base config endpoints/yarn env env_kerberos env_posix process/http process/login process/rpc process/tls "
        "shell/base shell/callers shell/kerberos shell/tls wire/hadoop_rpc wire/json wire/yarn",
    "shell/shuffle":
        "base config env env_posix process/http process/nm process/shuffle process/tls shell/base shell/tls wire/json "
        "wire/spark_shuffle wire/spark_transport",
    "shell/rm":
        "base config env env_posix env_zookeeper model process/http process/rm profiles rm shell/base shell/callers shell/kerberos "
        "shell/tls",
    "shell/nm":
        "base config env env_posix model process/http process/nm shell/base shell/callers shell/kerberos "
        "shell/shuffle shell/tls wire/java_stream wire/json",
    "shell/spark":
        "base config endpoints/spark env env_posix env_zookeeper model process/http process/spark_master process/spark_rpc "
        "process/spark_worker profiles "
        "shell/base shell/nm shell/shuffle shell/tls wire/java_stream wire/json wire/spark_transport",
}.items()}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
# Words that do not belong into a pure folder: they let the world in behind the back of Step().
PURE = {"base", "model", "rm", "nm", "tasks", "shuffle"} | {
    folder for folder in MAY_INCLUDE if folder.startswith(("wire/", "scheduler"))}
IMPURE = re.compile(r"#\s*include\s*<(thread|mutex|condition_variable|future|random|fstream|iostream|filesystem|chrono"
                    r"|sys/[a-z_]+\.h|unistd\.h|fcntl\.h)>|\brandom_device\b|::now\(")

# A user's container may exchange what lies at a path at any moment: the node agent works by descriptors (shell/nm/beneath.h).
BY_PATH = re.compile(r"<filesystem>|::(l?chown|chmod|mkdir|symlink|link|truncate|creat|opendir)\(|\bremove_all\("
                     r"|\bdisk_?\.(RemoveTree|List|OpenForReading|OpenForAppending|ReadFile|MakeDirectories|Rename)\(")
NODE_AGENT = {"shell/nm", "process/nm"}
MAY_USE_PATHS = {
    "shell/nm/beneath.cc",                  # the one place
    "shell/nm/cgroup.cc",                   # files of the kernel's
    "shell/nm/supervisor_process_tree.cc",  # /proc
    "shell/nm/settings.cc",                 # paths as text
    "shell/nm/daemon.cc",                   # the agent's own state, before anything else runs
}


# A text from outside is read within a budget (base/budget.h), by the one reader of its kind.
TEXT_READERS = {
    "src/wire/json/json.cc": re.compile(r"json::(parse|accept|sax_parse|from_(cbor|msgpack|ubjson|bson|bjdata))\b|>>\s*json\b"),
    "src/wire/xml/xml.cc": re.compile(r"\bload_(buffer\w*|file|string)\b|\bdocument\.load\b"),
    "src/wire/yaml/yaml.cc": re.compile(r"\bYAML::(Load\w*|Parser)\b"),
}
MAY_READ_TEXTS = {"src/sim/traces/json.cc"}  # knows the lines of a trace's values, with bounds of its own


def folder_of(path: str):
    parts = path.split("/")
    for depth in (2, 1):
        name = "/".join(parts[:depth])
        if name in MAY_INCLUDE:
            return name
    return None


def violations(root: pathlib.Path):
    src = root / "src"
    used = {}
    for file in sorted(src.rglob("*")):
        if file.suffix not in (".h", ".cc"):
            continue
        relative = file.relative_to(src).as_posix()
        own = folder_of(relative)
        if own is None:
            yield f"src/{relative}: folder is not in the table of tools/layers.py"
            continue
        is_test = re.search(r"_(test|bench|fuzz)\.(cc|h)$", relative)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match and not is_test:
                other = folder_of(match.group(1))
                used.setdefault(own, set()).add(other)
                if other and other != own and other not in MAY_INCLUDE[own]:
                    yield f"src/{relative}:{number}: {own} must not include {match.group(1)} (layer {other})"
            if own in PURE and not is_test and IMPURE.search(line):
                yield f"src/{relative}:{number}: {own} is pure: time, randomness, threads and I/O come in as arguments"
            if own in NODE_AGENT and relative not in MAY_USE_PATHS and not is_test and BY_PATH.search(line):
                yield f"src/{relative}:{number}: {own} works on users' files by descriptors alone: use shell/nm/beneath.h"

    rows = list(MAY_INCLUDE)
    for own, others in MAY_INCLUDE.items():
        for other in sorted(others):
            if other not in rows[:rows.index(own)]:
                yield f"tools/layers.py: {own} may include {other}, whose row is not above its own"
    for own, others in used.items():
        for other in sorted(MAY_INCLUDE[own] - others):
            yield f"tools/layers.py: {own} does not include {other}: its row must not allow it"


def unbounded(root: pathlib.Path):
    """Programs read JSON, XML and YAML with the readers that take a budget; tests may read their own."""
    for folder in ("src", "apps", "examples"):
        for file in sorted((root / folder).rglob("*")):
            relative = file.relative_to(root).as_posix()
            if file.suffix not in (".h", ".cc") or re.search(r"_(test|bench|fuzz)\.cc$", relative) or relative in MAY_READ_TEXTS:
                continue
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                for reader, call in TEXT_READERS.items():
                    if relative != reader and call.search(line.split("//")[0]):
                        yield f"{relative}:{number}: a text is read without a budget: use {reader[4:-3]}.h"


KEYWORDS = {"NAME", "SRCS", "DEPS", "LIBS", "TESTS", "TEST_DEPS", "TEST_LIBS", "BENCHES", "BENCH_DEPS", "BENCH_LIBS", "FUZZ"}


def modules_of(src: pathlib.Path):
    """name -> (folder of its CMakeLists.txt, keyword -> words) of every fairlead_module."""
    modules = {}
    for file in sorted(src.rglob("CMakeLists.txt")):
        text = re.sub(r"#.*", "", file.read_text(encoding="utf-8"))
        for body in re.findall(r"fairlead_module\((.*?)\)\s*$", text, re.S | re.M):
            words = {}
            for word in body.split():
                if word in KEYWORDS:
                    current = words.setdefault(word, [])
                else:
                    current.append(word)
            modules[words["NAME"][0]] = (file.parent, words)
    return modules


def undeclared(src: pathlib.Path):
    """A module names in DEPS every module whose headers it includes, and no other."""
    modules = modules_of(src)
    folders, of_source = {}, {}  # folder -> modules with sources or headers in it; source without its ending -> module
    for name, (base, words) in modules.items():
        sources = [base / source for source in words.get("SRCS", []) if not source.startswith("$")]
        for source in sources:
            of_source[source.with_suffix("")] = name
        for folder in {base} | {source.parent for source in sources}:
            folders.setdefault(folder, set()).add(name)

    def owners(header: pathlib.Path):
        own = of_source.get(header.with_suffix(""))
        return {own} if own else folders.get(header.parent, set())

    for name, (base, words) in sorted(modules.items()):
        files = {file for file, owner in of_source.items() if owner == name}
        files = [file.with_suffix(ending) for file in files for ending in (".h", ".cc")]
        files += [header for folder in folders if name in folders[folder] for header in folder.glob("*.h")
                  if header.with_suffix("") not in of_source and not header.stem.endswith("_test")]
        used = {}
        for file in files:
            text = file.read_text(encoding="utf-8") if file.exists() else ""
            for included in re.findall(INCLUDE.pattern, text, re.M):
                found = owners(src / included)
                if found and name not in found:
                    used.setdefault(frozenset(found), f"{file.relative_to(src)} includes {included}")
        declared = set(words.get("DEPS", []))
        for found, why in used.items():
            if not found & declared:
                yield f"{base.relative_to(src.parent)}/CMakeLists.txt: {name} needs {'|'.join(sorted(found))} in DEPS ({why})"
        if any(source.startswith("$") for source in words.get("SRCS", [])):
            continue  # what generated sources include is not seen here
        for dep in sorted(declared - set().union(*used)):
            yield f"{base.relative_to(src.parent)}/CMakeLists.txt: {name} includes nothing of {dep}, which its DEPS name"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root
    found = [*violations(root), *unbounded(root), *undeclared(root / "src")]
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
