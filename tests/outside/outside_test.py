#!/usr/bin/env python3
"""A job in a repository of its own (examples/outside): against an installed prefix that was moved afterwards, by CMake and
by pkg-config, and with Fairlead as a folder of the job's project. FAIRLEAD_BUILD is the build tree."""
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["FAIRLEAD_BUILD"]).resolve()
EXAMPLE = SOURCE / "examples" / "outside"
TEXT = "a bb cc ddd\nbb a\n"
ANSWER = "1\t2\n2\t3\n3\t1\n"


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=900, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


class Outside(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(dir=BUILD)
        cls.folder = pathlib.Path(cls.temporary.name)
        run("cmake", "--install", BUILD, "--component", "engine", "--prefix", cls.folder / "first")
        cls.prefix = cls.folder / "moved to another place"
        (cls.folder / "first").rename(cls.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def check_job(self, program):
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            text, output = pathlib.Path(scratch, "text"), pathlib.Path(scratch, "output")
            text.write_text(TEXT)
            self.assertEqual(run(program, "--local[2]", text, output), "3 lengths\n")
            self.assertEqual("".join(part.read_text() for part in sorted(output.glob("part-*"))), ANSWER)

    def test_no_path_of_the_tree_stands_in_the_prefix(self):
        files = [file for file in self.prefix.rglob("*") if file.is_file()]
        self.assertGreater(len(files), 30)
        for file in files:
            content = file.read_bytes()
            for path in (SOURCE, BUILD, self.folder):
                self.assertFalse(os.fsencode(path) + b"/" in content, f"{path} stands in {file}")

    def build_job(self, name, *more_of_cmake):
        """The example as a project of its own, configured and built. Gives its build folder and the CPU seconds of the build."""
        job, build = self.folder / name, self.folder / f"{name}-build"
        shutil.copytree(EXAMPLE, job)
        with open(job / "CMakeLists.txt", "a", encoding="utf-8") as lists:
            lists.writelines(f"{line}\n" for line in more_of_cmake)
        run("cmake", "-G", "Ninja", "-S", job, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        return job, build, self.cpu_seconds("ninja", "-C", build)

    def cpu_seconds(self, *command):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(*command)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def test_find_package(self):
        _, build, used = self.build_job("job")
        print(f"a job is compiled and linked in {used:.1f} s of CPU time", file=sys.stderr)
        self.check_job(build / "longest")

    def test_the_page_as_printed(self):
        """docs/engine.md, step 4, in a copy of the example."""
        words = " ".join((SOURCE / "docs/engine.md").read_text().split())
        first, second = re.search(r"4\. Try it in one process with two threads: `([^`]+)`, then `([^`]+)`", words).groups()
        job, build, _ = self.build_job("printed")
        build.rename(job / "build")  # where somebody has it who stands in the copy
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            printed = [command.replace("/tmp/", f"'{scratch}'/") for command in (first, second)]
            self.assertRegex(run("bash", "-ec", "\n".join(printed), cwd=job), r"^\d+ lengths\n1\t\d+\n2\t\d+\n")

    def test_precompiled_header(self):
        # docs/engine.md: the line that a project of several jobs adds.
        job, build, first = self.build_job("jobs", "target_precompile_headers(longest PRIVATE <fairlead/engine.h>)")
        with open(job / "longest.cc", "a", encoding="utf-8") as source:
            source.write("// edited\n")
        used = self.cpu_seconds("ninja", "-C", build)
        self.assertLess(used, first)
        print(f"with a precompiled header {first:.1f} s at first and {used:.1f} s after an edit", file=sys.stderr)
        self.check_job(build / "longest")

    def test_pkg_config(self):
        # A path with spaces is more than pkg-config's words take.
        plain = self.folder / "plain"
        plain.symlink_to(self.prefix)
        environment = dict(os.environ, PKG_CONFIG_PATH=str(next(plain.glob("lib*/**/pkgconfig"))))
        flags = run("pkg-config", "--cflags", "--libs", "fairlead-engine", env=environment).split()
        program = self.folder / "by-pkg-config"
        run("g++", "-O2", EXAMPLE / "longest.cc", "-o", program, *flags)
        self.check_job(program)

    def test_add_subdirectory(self):
        project, build = self.folder / "whole", self.folder / "whole-build"
        shutil.copytree(EXAMPLE, project)
        lists = project / "CMakeLists.txt"
        text = lists.read_text()
        found = "find_package(Fairlead REQUIRED)"
        self.assertIn(found, text)
        lists.write_text(text.replace(found, f'add_subdirectory("{SOURCE}" fairlead EXCLUDE_FROM_ALL)'))
        run("cmake", "-G", "Ninja", "-S", project, "-B", build, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
        commands = json.loads((build / "compile_commands.json").read_text())
        mine = next(entry["command"] for entry in commands if entry["file"].endswith("longest.cc"))
        self.assertNotIn("-Wshadow", mine, "the warnings of Fairlead's own sources are not its users'")
        self.assertFalse([entry["file"] for entry in commands if "/apps/" in entry["file"] or "_test.cc" in entry["file"]])
        # The job's own source under the job's own warnings. Its library is the one that this tree has built.
        run(*shlex.split(mine), "-fsyntax-only", cwd=build)


if __name__ == "__main__":
    unittest.main()
