#!/usr/bin/env python3
"""The layer check passes on the tree and fails on a forbidden include, an unused row, a clock in a pure folder and a wrong DEPS."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def check(root):
    return subprocess.run([sys.executable, ROOT / "tools/layers.py", "--root", root], capture_output=True, text=True)


def main():
    tree = check(ROOT)
    assert tree.returncode == 0, tree.stderr
    for path, line, expected in [
        ("src/rm/a.cc", '#include "scheduler/scheduler.h"', "rm must not include scheduler/scheduler.h"),
        ("src/scheduler/a.h", '#include "env/net.h"', "scheduler must not include env/net.h"),
        ("src/tasks/a.cc", "#include <thread>", "tasks is pure"),
        ("src/shell/nm/a.cc", "  ::chown(path.c_str(), 1, 1);", "works on users' files by descriptors alone"),
        ("src/process/nm/a.cc", "  disk_.List(path);", "works on users' files by descriptors alone"),
        ("src/nowhere/a.cc", "", "folder is not in the table"),
        ("src/process/http/a.cc", "  auto a = nlohmann::json::parse(body);", "read without a budget: use wire/json/json.h"),
        ("apps/fairlead/a.cc", "  const auto a = ordered_json::parse(body);", "read without a budget: use wire/json/json.h"),
        ("src/config/a.cc", "  document.load_buffer(a, n);", "read without a budget: use wire/xml/xml.h"),
        ("src/config/a.cc", "  document.load_file(path);", "read without a budget: use wire/xml/xml.h"),
        ("src/shell/rm/a.cc", "  YAML::LoadFile(path);", "read without a budget: use wire/yaml/yaml.h"),
        ("src/rm/a.cc", '#include "base/ids.h"', "rm does not include model: its row must not allow it"),
    ]:
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / path
            file.parent.mkdir(parents=True)
            file.write_text(line + "\n")
            found = check(directory)
            assert found.returncode == 1 and expected in found.stderr, (path, found.stderr)
    with tempfile.TemporaryDirectory() as directory:
        src = pathlib.Path(directory) / "src"
        for folder, source, modules in [
            ("base", "", "NAME base SRCS a.cc"),
            ("model", '#include "base/a.h"', "NAME model SRCS a.cc DEPS"),
            ("rm", "", "NAME rm SRCS a.cc DEPS base"),
        ]:
            (src / folder).mkdir(parents=True)
            (src / folder / "a.cc").write_text(source + "\n")
            (src / folder / "CMakeLists.txt").write_text(f"fairlead_module({modules})\n")
        found = check(directory)
        assert "model needs base in DEPS" in found.stderr, found.stderr
        assert "rm includes nothing of base, which its DEPS name" in found.stderr, found.stderr
    print("14 passed, 0 failed")


if __name__ == "__main__":
    main()
