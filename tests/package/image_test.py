#!/usr/bin/env python3
"""The OCI image of tools/image: made twice and compared, unpacked, and its program run as a container would run it, by bubblewrap: own processes, own network,
a user without rights, its files read-only. Needs root. FAIRLEAD_BUILD is the build tree; packages and image are in packages/ and image/ of it."""
import collections
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", SOURCE / "build")).resolve()
IMAGE = BUILD / "image"

# A cluster and a job on it; what the daemons say of themselves.
USE = """
cd /tmp
fairlead up --nodes 2 --memory 1024 --ready-file /tmp/ready > up.log 2>&1 &
up=$!
while [ ! -e ready ]; do kill -0 $up || { cat up.log; exit 1; }; sleep 0.1; done
export HADOOP_CONF_DIR=$(cat ready)
fairlead submit --executors 1 --executor-memory 256 /usr/lib/fairlead/examples/word_count /usr/share/common-licenses/Apache-2.0 /tmp/words >&2
fairlead apps --all >&2
cat /tmp/words/part-*
kill $up
wait $up
! grep -l fairlead /proc/[0-9]*/comm >&2
"""
DAEMONS = """
fairlead rm --config /etc/fairlead/fairlead.yaml > /tmp/rm.log 2>&1 &
rm=$!
n=0
until fairlead status > /tmp/status 2> /dev/null; do n=$((n + 1)); [ $n -lt 300 ] || { cat /tmp/rm.log; exit 1; }; sleep 0.1; done
cat /tmp/status
kill $rm
wait $rm
"""


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=3600, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(dir=BUILD)
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name)
        run("umoci", "unpack", "--image", f"{IMAGE}:latest", cls.folder / "bundle")
        cls.root = cls.folder / "bundle/rootfs"
        cls.process = json.loads((cls.folder / "bundle/config.json").read_text())["process"]

    def inside(self, script):
        user = self.process["user"]
        environment = [word for entry in self.process["env"] for word in ("--setenv", *entry.split("=", 1))]
        return run("bwrap", "--ro-bind", self.root, "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/var/lib/fairlead", "--tmpfs", "/var/log", "--unshare-all",
                   "--die-with-parent", "--uid", user["uid"], "--gid", user["gid"], "--clearenv", *environment, "sh", "-ec", script)

    def test_it_starts_the_program_as_a_user_without_rights(self):
        self.assertEqual((self.process["args"], self.process["user"]["uid"]), (["/usr/bin/fairlead", "--help"], 1000))
        self.assertIn("Start with: fairlead up", self.inside("exec " + " ".join(self.process["args"])))

    def test_a_cluster_counts_words(self):
        counted = dict(line.rsplit("\t", 1) for line in self.inside(USE).splitlines())
        expected = collections.Counter((self.root / "usr/share/common-licenses/Apache-2.0").read_text().split())
        self.assertEqual({word: int(count) for word, count in counted.items()}, expected)

    def test_the_resource_manager_starts_on_the_configuration_that_comes_along(self):
        self.assertRegex(self.inside(DAEMONS), r"(?m)^- +ACTIVE ")

    def test_another_image_of_the_same_packages_is_the_same_bit_by_bit(self):
        run(SOURCE / "tools/image", "--packages", BUILD / "packages", "--out", self.folder / "again")
        self.assertEqual(run("diff", "-r", IMAGE, self.folder / "again"), "")


if __name__ == "__main__":
    unittest.main()
