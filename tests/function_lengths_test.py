#!/usr/bin/env python3
"""No function of src and apps has more than 60 lines between its braces. Flat ones, a switch or a list with a line a case, may: FLAT names them. Those
that were longer when this test came are in LONG: their numbers only fall. Sees functions at a file's first column, as tools/format writes them."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST = 60
FLAT = {
    "src/base/codec.h: ToJson": 75,
    "src/endpoints/yarn/refusals.cc: ExceptionOf": 211,
    "src/model/refusal.cc: EnumName": 161,
    "src/process/rm/admin_service.cc: Do": 68,
    "src/process/rm/client_service.cc: Do": 75,
}
LONG = {
    "apps/fairlead/config.cc: AddConfig": 71,
    "src/shell/spark/worker_daemon.cc: RunSparkWorker": 65,
    "src/sim/traces/report.cc: JsonOf": 62,
}


def functions(path):
    """(name, lines) of each function of the file."""
    head = begin = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line == "}" and begin:  # a class or a table ends with };
            if not head.startswith(("class ", "struct ", "union ", "enum ", "namespace ")):
                yield head.split("(")[0].split()[-1].split("::")[-1], number - begin - 1
            head = begin = None
        elif line and not line[0].isspace() and not line.startswith(("#", "//", "}", "template")):
            head, begin = line, None
        if head and not begin and line.endswith("{"):
            begin = number


def main():
    failures, seen = [], 0
    for path in sorted(p for folder in ("src", "apps") for p in (ROOT / folder).rglob("*") if p.suffix in (".h", ".cc")):
        if path.stem.endswith(("_test", "_bench", "_fuzz")):
            continue
        for name, lines in functions(path):
            seen += 1
            key = f"{path.relative_to(ROOT)}: {name}"
            if lines > max(MOST, FLAT.get(key, 0), LONG.get(key, 0)):
                failures.append(f"{key} has {lines} lines; cut it, or say in {pathlib.Path(__file__).name} that it is flat")
    assert seen > 5000, f"only {seen} functions were found"
    print("\n".join(failures) or f"{seen} functions")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
