#!/usr/bin/env python3
"""The table of tools/weaken does not grow stale: each text stands once in its file, each test exists, and docs/security.md says how many rows there are."""
import functools
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/adversary"))
from weakened import ROWS  # noqa: E402


@functools.cache
def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


@functools.cache
def sources():
    """The sources of each suite of GoogleTest."""
    found = {}
    for file in (ROOT / "src").rglob("CMakeLists.txt"):
        for name, rest in re.findall(r"^fairlead_module\(NAME (\w+)(.*?)\)", file.read_text(encoding="utf-8"), re.S | re.M):
            found[f"{name}_test"] = [file.parent / source for source in re.findall(r"[\w/]+_test\.cc", rest)]
    return found


def exists(row):
    group, test = row.test.split(".")
    if row.of_daemons:
        body = re.search(rf"^class {group}\(.*?(?=^\S|\Z)", text(f"tests/{row.suite}"), re.S | re.M)
        return body is not None and f"    def {test}(self" in body[0]
    return any(re.search(rf"^TEST(_F)?\({group}, {test}\)", text(source), re.M) for source in sources().get(row.suite, ()))


class Weakened(unittest.TestCase):
    def test_each_text_stands_once_in_its_file(self):
        for row in ROWS:
            with self.subTest(row.name):
                self.assertEqual(text(row.file).count(row.stands), 1, row.file)
                self.assertNotEqual(row.stands, row.instead)

    def test_each_test_exists(self):
        for row in ROWS:
            with self.subTest(row.name):
                self.assertTrue(exists(row), f"{row.suite} {row.test}")

    def test_names_are_names(self):
        self.assertEqual(len({row.name for row in ROWS}), len(ROWS))

    def test_the_page_says_how_many(self):
        self.assertIn(f"`tools/weaken` takes {len(ROWS)} of these bounds away", text("docs/security.md"))

    def test_a_name_that_no_row_has_is_told_with_near_ones(self):
        for names, near in ((["java: fields of a clas5"], "java: fields of a class"), (["java: depth", "no such"], None), (["widths of fields"], "java: fields of a class")):
            with self.subTest(names):
                words = [word for name in names for word in ("--only", name)]
                said = subprocess.run([sys.executable, ROOT / "tools/weaken", *words], capture_output=True, text=True, timeout=60)
                self.assertEqual((said.returncode, said.stdout), (2, ""))
                self.assertIn(f"no row has {names[-1]!r} in its name", said.stderr)
                self.assertIn(near or "", said.stderr)


if __name__ == "__main__":
    unittest.main()
