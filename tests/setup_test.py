#!/usr/bin/env python3
"""Without root, or by wish, nothing is installed: ./quickstart --no-install and tools/setup say what is missing."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
ABSENT = "no-such-package-of-fairlead"


class Setup(unittest.TestCase):
    def call(self, *command, **environment):
        """With an apt-get that only tells that it was called."""
        with tempfile.TemporaryDirectory() as folder:
            called = pathlib.Path(folder, "called")
            apt = pathlib.Path(folder, "apt-get")
            apt.write_text(f"#!/bin/sh\ntouch {called}\n")
            apt.chmod(0o755)
            done = subprocess.run(list(map(str, command)), env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", **environment},
                                  capture_output=True, text=True, check=False)
            return done, called.exists()

    def test_what_is_missing_is_told_and_not_installed(self):
        with tempfile.NamedTemporaryFile("w") as packages:
            packages.write(f"# why\ndpkg\n{ABSENT}\n")
            packages.flush()
            done, installed = self.call(ROOT / "tools/setup", packages.name, FAIRLEAD_NO_INSTALL="1")
        self.assertEqual((done.returncode, installed), (1, False))
        self.assertIn(f"these packages are missing: {ABSENT}\n", done.stderr)
        self.assertIn("run as root: apt-get install", done.stderr)

    def test_what_cannot_be_fetched_is_told_and_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            wanted = pathlib.Path(folder, "arrow")
            done, _ = self.call(ROOT / "tools/setup", "--parquet", FAIRLEAD_ARROW=str(wanted), PIP_INDEX_URL="http://127.0.0.1:1/", PIP_RETRIES="0",
                                PIP_NO_CACHE_DIR="1", PIP_CONFIG_FILE="/dev/null")
            self.assertEqual((done.returncode, list(pathlib.Path(folder).iterdir())), (1, []))
            self.assertIn("setup: pip could not fetch pyarrow from PyPI", done.stderr)
            wanted.mkdir()
            done, _ = self.call(ROOT / "tools/setup", "--parquet", FAIRLEAD_ARROW=str(wanted))
            self.assertEqual((done.returncode, done.stdout), (0, f"setup: Apache Arrow is in {wanted}\n"))

    def test_the_quickstart_takes_the_wish(self):
        # dpkg knows no package of a root that is empty.
        with tempfile.TemporaryDirectory() as root:
            done, installed = self.call(ROOT / "quickstart", "--no-install", DPKG_ADMINDIR=root)
        self.assertEqual((done.returncode, installed), (1, False))
        self.assertIn("g++", done.stderr)


if __name__ == "__main__":
    unittest.main()
