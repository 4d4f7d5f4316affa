#!/usr/bin/python3
"""tools/tidy sees what changed: a finding planted in an included header is reported, and a source that includes nothing changed is left out."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOUND = "#pragma once\n#include <string>\ninline int Length(std::string text) {\n  std::string moved = std::move(text);\n  return int(text.size() + moved.size());\n}\n"
CLEAN = "#pragma once\n#include <string>\ninline int Length(const std::string& text) { return int(text.size()); }\n"
SOURCES = {
    "src/a/length.h": CLEAN,
    "src/a/uses.cc": '#include "a/length.h"\nint Used() { return Length("a"); }\n',
    "src/a/CMakeLists.txt": "",
    "src/b/alone.cc": "int Alone() { return 1; }\n",
    "src/b/not_built.cc": "#include <a_library_that_is_not_there.h>\n",
    "src/b/alone_test.cc": "int Tested() { return 1; }\n",
}
NINJA = """rule cxx
  command = g++ -std=c++20 -I{root}/src -MD -MF $out.d -o $out -c $in
  depfile = $out.d
  deps = gcc
build uses.o: cxx {root}/src/a/uses.cc
build alone.o: cxx {root}/src/b/alone.cc
"""


class Tidy(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="tidy-"))
        self.addCleanup(shutil.rmtree, self.root)
        for name, text in SOURCES.items():
            self.write(name, text)
        for name in ("tools/changes.py", "tools/packages.txt", "tools/tidy", ".clang-tidy"):
            (self.root / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        self.write(".gitignore", "build/\n")
        self.call("git", "init", "-q")
        self.landed = self.commit()
        self.build()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def call(self, *words):
        return subprocess.run(words, cwd=self.root, check=True, capture_output=True, text=True).stdout

    def commit(self):
        self.call("git", "add", "-A")
        self.call("git", "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "t")
        return self.call("git", "rev-parse", "HEAD").strip()

    def build(self):
        self.write("build/build.ninja", NINJA.format(root=self.root))
        self.call("ninja", "-C", "build")
        self.write("build/compile_commands.json", self.call("ninja", "-C", "build", "-t", "compdb", "cxx"))

    def tidy(self, *words):
        cache = {**os.environ, "XDG_CACHE_HOME": str(self.root / "build" / "cache")}
        done = subprocess.run([sys.executable, "tools/tidy", *words], cwd=self.root, env=cache, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_a_finding_in_an_included_header_is_reported(self):
        self.write(".ci/landed", self.landed + "\n")
        self.write("src/a/length.h", FOUND)
        self.commit()
        self.build()
        code, words = self.tidy()
        self.assertEqual(code, 1, words)
        self.assertIn("1 of 2 sources may differ", words)
        self.assertIn("length.h:5:14: error: 'text' used after it was moved", words)

    def test_only_what_changed_is_taken(self):
        self.write("src/b/alone.cc", "int Alone() { return 2; }\n")
        self.assertIn("1 of 2 sources may differ", self.tidy("--since", self.landed)[1])
        self.write("src/a/length.h", "// What it does.\n" + CLEAN)
        self.assertIn("1 of 2 sources may differ", self.tidy("--since", self.landed)[1], "comments have no findings")
        self.write("src/a/CMakeLists.txt", "# other flags\n")
        self.assertIn("2 of 2 sources may differ", self.tidy("--since", self.landed)[1])

    def test_turns_take_every_source_in_the_end(self):
        self.write(".ci/landed", self.landed + "\n")
        taken = set()
        for _ in range(200):
            self.commit()
            words = self.tidy()[1]
            self.assertIn("0 of 2 sources may differ", words)
            taken.add(words.split("files are clean")[0].split()[-1])
            if len(taken) > 1:
                return
        self.fail("no commit chose any source")

    def test_all_are_taken_when_it_is_not_known_what_landed(self):
        for landed in (None, "", "0123456789012345678901234567890123456789\n"):
            if landed is not None:
                self.write(".ci/landed", landed)
            code, words = self.tidy()
            self.assertEqual(code, 0, words)
            self.assertIn("all 2 sources, for it is not known what landed last", words)

    def test_what_was_clean_is_read_again_only_when_something_changed(self):
        self.assertIn("0 of them are known", self.tidy("--all")[1])
        self.assertIn("2 of them are known", self.tidy("--all")[1])
        self.write("src/a/length.h", FOUND)
        code, words = self.tidy("--all")
        self.assertEqual(code, 1, words)
        self.assertIn("1 of them are known", words)
        self.assertEqual(self.tidy("--all")[0], 1, "what has findings is never known")

    def test_a_run_that_is_bounded_says_what_is_left(self):
        code, words = self.tidy("--all", "--seconds", "0")
        self.assertEqual(code, 0, words)
        self.assertIn("no time for 2 of them", words)
        self.assertIn("0 files are clean", words)
        self.assertIn("0 of them are known", self.tidy("--all")[1], "what was left is not known to be clean")

    def test_a_change_of_the_checks_takes_all(self):
        self.write(".clang-tidy", (ROOT / ".clang-tidy").read_text() + "# another\n")
        self.assertIn("2 of 2 sources may differ", self.tidy("--since", self.landed)[1])


if __name__ == "__main__":
    unittest.main()
