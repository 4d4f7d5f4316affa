#!/usr/bin/env python3
"""The Debian packages of tools/package, on a machine of their own: installed, used, upgraded, removed, purged. Needs root.
FAIRLEAD_BUILD is the build tree; the packages are in packages/ of it."""
import collections
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from machine import Machine, run, wait_for

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", SOURCE / "build")).resolve()
PACKAGES = sorted((BUILD / "packages").glob("*.deb"))
DAEMONS = ("rm", "nm", "shuffle", "spark-master", "spark-worker")
# `systemd-analyze security`, in tenths. What runs nobody's programs stays below 2.0; docs/install.md says what the others need.
EXPOSURE = {"rm": 20, "shuffle": 20, "spark-master": 20, "spark-worker": 30, "nm": 45}
OLD = "0.0.1"
BOOK_COPIES = 1500


def field(package, name):
    return run("dpkg-deb", "-f", package, name).strip()


def name_of(package):
    return field(package, "Package")


def outside_packages(packages):
    """What they depend on, of Debian's own; of alternatives the first."""
    words = {re.split(r"[ (|]", word.strip())[0] for package in packages for word in field(package, "Depends").split(",")}
    return {word for word in words if word and "fairlead" not in word}


def relabelled(package, version, folder):
    """The same package as another version."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        tree = pathlib.Path(scratch, "tree")
        run("dpkg-deb", "-R", package, tree)
        control = tree / "DEBIAN/control"
        control.write_text(control.read_text().replace(field(package, "Version"), version))
        target = folder / f"{name_of(package)}_{version}.deb"
        run("dpkg-deb", "-b", "-Zgzip", "-z1", tree, target)
        return target


class Contents(unittest.TestCase):
    def setUp(self):
        self.assertEqual(len(PACKAGES), 8, "tools/package has made eight packages")
        self.scratch = tempfile.TemporaryDirectory(dir=BUILD)
        self.folder = pathlib.Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    def unpacked(self):
        for package in PACKAGES:
            run("dpkg-deb", "-x", package, self.folder)
        return self.folder

    def test_units_are_valid_and_as_closed_as_promised(self):
        root = self.unpacked()
        for daemon in DAEMONS:
            unit = root / f"lib/systemd/system/fairlead-{daemon}.service"
            run("systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSURE[daemon]}", unit)
            words = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False).stderr
            # The program and the users are not of this machine.
            self.assertEqual([line for line in words.splitlines() if "fairlead-" in line and "/usr/bin/fairlead" not in line], [])

    def test_applications_do_not_run_as_who_may_kill_their_master(self):
        root = self.unpacked()
        users = [re.search("^User=(.*)$", (root / f"lib/systemd/system/fairlead-{daemon}.service").read_text(), re.M)[1] for daemon in ("spark-master", "spark-worker")]
        self.assertEqual(users, ["fairlead-spark-master", "fairlead-spark"])
        places = (root / "usr/lib/tmpfiles.d/fairlead-spark.conf").read_text()
        self.assertIn("/var/lib/fairlead/spark-master 0700 fairlead-spark-master fairlead-spark-master", places)
        self.assertIn("/var/lib/fairlead/spark-worker 0755 fairlead-spark fairlead-spark", places)

    def test_no_file_gives_rights(self):
        files = [path for path in self.unpacked().rglob("*") if path.is_file() and not path.is_symlink()]
        self.assertGreater(len(files), 100)
        self.assertEqual([path for path in files if path.stat().st_mode & 0o6022], [])
        self.assertEqual([path for path in files if os.fsencode(SOURCE) + b"/" in path.read_bytes()], [], "no path of the tree")

    def test_a_job_is_built_against_the_engine(self):
        prefix, build = self.unpacked() / "usr", self.folder / "job"
        run("cmake", "-S", SOURCE / "examples/outside", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
        run("cmake", "--build", build)
        text, output = self.folder / "text", self.folder / "output"
        text.write_text("a bb cc\n")
        self.assertEqual(run(build / "longest", "--local[2]", text, output), "2 lengths\n")

    def test_the_engine_brings_what_its_configuration_asks_for(self):
        package = next(path for path in PACKAGES if name_of(path) == "libfairlead-dev")
        depends = re.findall(r"[a-z0-9.+-]+(?= *(?:[,|(]|$))", run("dpkg-deb", "--field", package, "Depends").strip())
        asked = re.search(r"^Requires: (.*)$", next(self.unpacked().rglob("fairlead-engine.pc")).read_text(), re.M)[1].split()
        self.assertGreater(len(asked), 5)
        owners = {name: run("dpkg", "--search", f"*/pkgconfig/{name}.pc").partition(":")[0] for name in asked}
        self.assertEqual({name: owner for name, owner in owners.items() if owner not in depends}, {})
        self.assertIn("pkg-config", depends)

    def test_the_bill_of_materials_is_valid_and_names_what_is_there(self):
        bill = PACKAGES[0].parent / "fairlead.cdx.json"
        hashes = {part["name"]: part["hashes"][0]["content"] for part in json.loads(bill.read_text())["components"] if "hashes" in part}
        self.assertEqual(hashes, {name_of(package): hashlib.sha256(package.read_bytes()).hexdigest() for package in PACKAGES})
        validator = BUILD / "sbom-validator"
        if not validator.exists():
            run("/usr/bin/python3", "-m", "venv", validator)
            run(validator / "bin/pip", "install", "-q", "cyclonedx-python-lib[json-validation]==8.5.0")
        check = ("import sys; from cyclonedx.validation.json import JsonStrictValidator as V; from cyclonedx.schema import SchemaVersion as S\n"
                 "print(V(S.V1_5).validate_str(open(sys.argv[1]).read()))")
        self.assertEqual(run(validator / "bin/python", "-c", check, bill), "None\n")

    def test_every_command_has_its_page(self):
        pages = {path.name for path in (self.unpacked() / "usr/share/man/man1").iterdir()}
        for words in ("", "-rm", "-nm", "-shuffle-drain", "-spark-worker", "-submit", "-sim-faults", "-config-check"):
            self.assertIn(f"fairlead{words}.1.gz", pages)


class Life(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(dir=BUILD)
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.new = [package for package in PACKAGES if not name_of(package).startswith("lib")]
        old = [relabelled(package, OLD, cls.folder) for package in cls.new]
        cls.machine = Machine(cls.folder / "root", outside_packages(cls.new))
        for name, packages in (("old", old), ("new", cls.new)):
            place = cls.machine.root / "root" / name
            place.mkdir()
            for package in packages:
                shutil.copy(package, place)

    @classmethod
    def tearDownClass(cls):
        cls.machine.stop()
        cls.scratch.cleanup()

    def install(self, folder):
        self.machine.run("sh", "-c", f"apt-get install -y --no-install-recommends /root/{folder}/*.deb")

    def fairlead(self, *words):
        return self.machine.run("fairlead", *words)

    def state_of(self, application):
        return json.loads(self.fairlead("app", application, "--json"))["state"]

    def await_node(self):
        wait_for("the node", lambda: "RUNNING" in self.machine.call("fairlead", "nodes").stdout)

    def count_words(self):
        """A job of a user, through queue, node and shuffle service, against Python's count; its application."""
        book = self.machine.root / "usr/share/doc/fairlead-doc/docs/scheduler.md"
        report = json.loads(self.fairlead("submit", "--json", "--user", "ann", "/usr/lib/fairlead/examples/word_count",
                                          "/" + str(book.relative_to(self.machine.root)), "/tmp/words"))
        self.assertEqual(report["finalStatus"], "SUCCEEDED")
        lines = self.machine.run("sh", "-c", "cat /tmp/words/part-*").splitlines()
        expected = collections.Counter(book.read_text().split())
        self.assertEqual({word: int(count) for word, count in (line.rsplit("\t", 1) for line in lines)}, expected)
        return report["id"]

    def start_long_job(self):
        folder = self.machine.root / "srv/book"
        folder.mkdir()
        (folder / "0").write_text("some words to count over and over\n" * 200_000)
        for copy in range(1, BOOK_COPIES):
            (folder / str(copy)).symlink_to("0")
        application = self.fairlead("submit", "--detach", "--executors", "1", "/usr/lib/fairlead/examples/word_count", "/srv/book",
                                    "/tmp/long").split()[-1]
        wait_for("its executor", lambda: len(self.containers()) == 2)
        return application

    def containers(self):
        """Process ids of supervisors whose container runs; a container's process has its supervisor's name until it runs."""
        rows = [line.split() for line in self.machine.run("ps", "-eo", "pid,ppid,user:32,comm").splitlines()[1:]]
        names = {row[0]: row[3] for row in rows}
        return {int(row[1]) for row in rows if row[2] == "fairlead-job" and names.get(row[1]) == "fl-supervise"}

    def ours(self):
        return [line for line in self.machine.processes().values() if line.startswith("fairlead") or "fairlead" in line.split()[1]]

    def check_shuffle_service(self):
        (self.machine.root / "srv/spark").mkdir()
        options = self.machine.root / "etc/fairlead/shuffle.env"
        with options.open("a") as file:
            file.write('FAIRLEAD_SHUFFLE_OPTIONS="--port 7447 --web-port 7448 --local-roots /srv/spark"\n')
        self.machine.run("systemctl", "start", "fairlead-shuffle")
        wait_for("its status", lambda: self.machine.call("fairlead", "shuffle", "status", "--web", "127.0.0.1:7448").returncode == 0)
        self.machine.run("systemctl", "stop", "fairlead-shuffle")

    def check_spark_asks_for_its_place(self):
        self.machine.call("systemctl", "start", "fairlead-spark-master")
        wait_for("its refusal", lambda: self.machine.call("systemctl", "is-failed", "fairlead-spark-master").returncode == 0)
        self.assertIn("--spark-home", self.machine.run("journalctl", "-u", "fairlead-spark-master", "-o", "cat"))

    def leave_state_as_earlier_releases(self):
        """One user for Master and Worker, and a link in the way."""
        self.machine.run("sh", "-c", "cd /var/lib/fairlead/spark-master && mkdir -p fairlead && echo x > fairlead/spark-master.db && ln -s /etc/passwd fairlead/link"
                                     " && chown -hR fairlead-spark:fairlead-spark /var/lib/fairlead/spark-master")

    def check_state_is_the_masters(self):
        self.assertEqual(self.machine.run("stat", "-c", "%U %a", "/var/lib/fairlead/spark-master"), "fairlead-spark-master 700\n")
        self.assertEqual(self.machine.run("stat", "-c", "%U", "/var/lib/fairlead/spark-master/fairlead/spark-master.db", "/etc/passwd"), "fairlead-spark-master\nroot\n")

    def check_rights(self):
        lines = self.machine.processes().values()
        self.assertTrue(any(line.startswith("fairlead-rm") and "fairlead rm " in line for line in lines), lines)
        self.assertTrue(any(line.startswith("fairlead-nm") and "fairlead nm " in line for line in lines), lines)
        self.assertEqual(self.machine.run("stat", "-c", "%U %a", "/var/lib/fairlead/rm", "/var/lib/fairlead/nm/state"),
                         "fairlead-rm 700\nfairlead-nm 700\n")

    def check_callers(self):
        """Users of the machine act as themselves and nobody else."""
        self.assertEqual(self.machine.run("runuser", "-u", "nobody", "--", "fairlead", "apps", "--all", "--json").count('"ann"'), 1)
        refused = self.machine.call("runuser", "-u", "nobody", "--", "fairlead", "apps", "--user", "ann")
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertIn("this process is nobody's, and acts as nobody alone", refused.stderr)

    def test_install_use_upgrade_remove_purge(self):
        before, users = self.machine.files(), (self.machine.root / "etc/passwd").read_text()
        begin = time.monotonic()
        self.install("old")
        self.await_node()
        counted = self.count_words()
        print(f"from packages to the end of a first job: {time.monotonic() - begin:.1f} s", file=sys.stderr)
        self.check_rights()
        self.check_callers()
        self.check_shuffle_service()
        self.check_spark_asks_for_its_place()

        self.leave_state_as_earlier_releases()
        long = self.start_long_job()
        running = self.containers()
        agent = self.machine.run("systemctl", "show", "-P", "MainPID", "fairlead-nm")
        self.install("new")
        self.assertEqual(self.machine.run("dpkg-query", "-W", "-f", "${Version}", "fairlead-nm"), field(self.new[0], "Version"))
        self.check_state_is_the_masters()
        self.await_node()
        self.assertNotEqual(self.machine.run("systemctl", "show", "-P", "MainPID", "fairlead-nm"), agent, "the agent is the new one")
        self.assertEqual(self.containers(), running, "containers outlive an upgrade")
        self.assertEqual(self.state_of(counted), "FINISHED", "what the old one acknowledged is known")
        self.assertEqual(self.state_of(long), "RUNNING")

        self.machine.run("sh", "-c", "apt-get remove -y 'fairlead-*'")
        self.assertEqual(self.ours(), [], "nothing runs after a removal")
        self.assertTrue((self.machine.root / "var/lib/fairlead/rm/fairlead-rm.db").exists(), "state outlives a removal")
        self.install("new")
        self.await_node()
        self.assertEqual(self.state_of(counted), "FINISHED")

        self.machine.run("sh", "-c", "apt-get purge -y 'fairlead-*'")
        self.assertEqual(self.ours(), [])
        shutil.rmtree(self.machine.root / "srv/spark")
        shutil.rmtree(self.machine.root / "srv/book")
        self.assertEqual(self.machine.files() - before, set(), "a purge leaves nothing")
        self.assertEqual((self.machine.root / "etc/passwd").read_text(), users)


if __name__ == "__main__":
    unittest.main()
