"""A cluster of `fairlead up` for the tests of one class."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "interop"))
from waiting import until  # noqa: E402


def start(case, fairlead, *words):
    """Starts two nodes and waits until they are ready; gives a directory for the tests and the path of the configuration. Both end with the class."""
    work = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-up-"))
    case.addClassCleanup(shutil.rmtree, work, ignore_errors=True)
    ready, log = work / "ready", work / "up.log"
    with log.open("w") as output:
        process = subprocess.Popen([fairlead, "up", "--nodes", "2", "--memory", "2048", "--ready-file", ready, *words], stdout=output, stderr=subprocess.STDOUT)

    def end():
        process.terminate()
        process.wait(timeout=60)
    case.addClassCleanup(end)

    def running():
        if process.poll() is not None:
            raise AssertionError("the cluster did not come up:\n" + log.read_text())
    until(ready.exists, "the cluster", watch=running)
    return work, ready.read_text().strip()
