#!/usr/bin/env python3
"""Programs that must not compile, and what the compiler must say about them.

    compile_fail.py --compiler CXX --include DIRECTORY... [NAME...]

Each NAME.cc beside this file is compiled twice: as it is, where it must fail and its first error must have the words of
its `// expect:` line, and with -DRIGHT, where it must compile, so that nothing but the marked mistake is refused.
`// only: clang` leaves other compilers out; `// flags:` adds flags.
"""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent


def word(text, name):
    found = re.search(rf"^// {name}: (.*)$", text, re.MULTILINE)
    return found.group(1) if found else ""


def compiled(options, source, *flags):
    command = [options.compiler, "-std=c++20", "-fsyntax-only", "-fno-diagnostics-color", *flags,
               *(f"-I{folder}" for folder in options.include), str(source)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def fault_of(options, source):
    """What is wrong with the compiler's answer to one program; None: nothing, or it is not for this compiler."""
    text = source.read_text()
    if word(text, "only") not in options.compiler:
        return None
    flags, expected = word(text, "flags").split(), word(text, "expect")
    right = compiled(options, source, "-DRIGHT", *flags)
    if right.returncode != 0:
        return f"the right program does not compile:\n{right.stderr[:3000]}"
    wrong = compiled(options, source, *flags)
    if wrong.returncode == 0:
        return "it compiles"
    first = next((line for line in wrong.stderr.splitlines() if "error: " in line), "")
    if not expected or expected not in first:
        return f"the first error has not the words\n  {expected}\nbut is\n  {first}\n{wrong.stderr[:3000]}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    sources = [FOLDER / f"{name}.cc" for name in options.names] or sorted(FOLDER.glob("*.cc"))
    assert sources
    failed = False
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for source, fault in zip(sources, pool.map(lambda source: fault_of(options, source), sources)):
            if fault:
                failed = True
                print(f"{source.name}: {fault}")
    sys.exit(1 if failed else 0)


main()
