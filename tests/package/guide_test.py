#!/usr/bin/env python3
"""docs/install.md, typed word by word into a fresh Debian: from the packages to a finished Spark job and its explanation. Needs root, and PyPI for Spark, which
the machine itself, without a network, finds in a folder. FAIRLEAD_BUILD is the build tree; the packages are in packages/ of it."""
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import documents
from machine import Machine, run
from package_test import BUILD, PACKAGES, name_of, outside_packages

GUIDE = "docs/install.md"
# What Debian's and PyPI's archives give to the machine of a reader.
FROM_DEBIAN = ("default-jre-headless", "python3-venv")
SPARK = "pyspark==3.5.5"


class Guide(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(dir=BUILD)
        cls.addClassCleanup(cls.scratch.cleanup)
        ours = [package for package in PACKAGES if name_of(package).startswith("fairlead-")]
        cls.machine = Machine(pathlib.Path(cls.scratch.name) / "root", {*outside_packages(ours), *FROM_DEBIAN})
        cls.addClassCleanup(cls.machine.stop)
        home = cls.machine.root / "root"
        (home / "build/packages").mkdir(parents=True)
        for package in ours:
            shutil.copy(package, home / "build/packages")
        wheels = BUILD / "guide-wheels"
        run("/usr/bin/python3", "-m", "pip", "-q", "--disable-pip-version-check", "download", "--no-binary", "pyspark,py4j", "-d", wheels, SPARK, "wheel", "setuptools")
        shutil.copytree(wheels, home / "wheels")
        (cls.machine.root / "etc/pip.conf").write_text("[global]\nno-index = true\nfind-links = /root/wheels\n")
        (cls.machine.root / "etc/apt/apt.conf.d/99yes").write_text('APT::Get::Assume-Yes "true";\n')  # who types says yes

    def test_from_the_packages_to_a_spark_job_and_its_explanation(self):
        shown = []
        for text in documents.runnable(GUIDE):
            if "application_ID" in text:
                text = text.replace("application_ID", self.spark_job())
            shown.append(self.machine.run("bash", "-ec", "cd /root\n" + text))
        everything = "\n".join(shown)
        for part in ("RUNNING", "Pi is roughly 3.1", "SUCCEEDED", "Attempt      appattempt_", "Ended        container_"):
            self.assertIn(part, everything)
        self.assertIn(self.spark_job(), self.machine.run("journalctl", "-u", "fairlead-rm", "-u", "fairlead-nm", "-o", "cat"))
        page = self.machine.run("python3", "-c", f"import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:8088/fairlead/v1/apps/{self.spark_job()}').read().decode())")
        self.assertIn('"final_status":"SUCCEEDED"', page.replace(" ", ""))

    def spark_job(self):
        lines = self.machine.run("fairlead", "apps", "--all").splitlines()
        return next(re.match(r"application_\d+_\d+", line).group() for line in lines if "PythonPi" in line)


if __name__ == "__main__":
    unittest.main()
