"""What one message of a stranger's may cost a daemon, and how it is measured. With FAIRLEAD_QUIET=1, on a machine that has nothing else to do, the bounds are
those of docs/security.md (single messages); else wider, as other work beside them takes its part. What was the dearest of each test is printed."""
import contextlib
import http.client
import os
import pathlib
import sys
import threading
import time

from strangers_test import ask

QUIET = os.environ.get("FAIRLEAD_QUIET") == "1"
LOOP_MS = 50 if QUIET else 250  # of a processor, for the message and its answer
HEALTH_S = 1 if QUIET else 5
MEMORY_KIB = 16 << 10  # that it may take besides


def processor_ms(pid):
    """Of all of the daemon's threads; one of them turns the loop."""
    return sum(int((task / "schedstat").read_text().split()[0]) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()) / 1e6


def memory_kib(pid, what):
    """VmRSS, or VmHWM: the most since forget_peak()."""
    return int(pathlib.Path(f"/proc/{pid}/status").read_text().split(f"{what}:")[1].split()[0])


def forget_peak(pid):
    pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")


class Dearest:
    """Of the messages of one test: the most processor time and the most memory that one of them took."""

    def __init__(self, test):
        self.most = {"ms": (0.0, ""), "KiB": (0, "")}
        self.count = 0
        test.addCleanup(lambda: print(f"{test.id()}: {self}", file=sys.stderr))

    def __str__(self):
        return f"{self.count} messages, at most " + ", ".join(f"{value:.0f} {unit} more ({what})" for unit, (value, what) in self.most.items())

    @contextlib.contextmanager
    def message(self, test, pid, what, memory=MEMORY_KIB, loop=LOOP_MS):
        """What is done within costs the daemon no more than that; it still runs."""
        forget_peak(pid)
        before, start = memory_kib(pid, "VmRSS"), processor_ms(pid)
        yield
        test.assertTrue(pathlib.Path(f"/proc/{pid}/task").exists(), f"it ended the daemon: {what}")
        took, more = processor_ms(pid) - start, memory_kib(pid, "VmHWM") - before
        self.count += 1
        for unit, value in (("ms", took), ("KiB", more)):
            self.most[unit] = max(self.most[unit], (value, str(what)[:80]))
        test.assertLessEqual(more, memory, f"KiB more, {took:.0f} ms: {what}")
        test.assertLessEqual(took, loop, f"ms of the loop, {more} KiB: {what}")


@contextlib.contextmanager
def healthy(test, port):
    """Asks for /healthz all the while; each answer comes in time."""
    over, late = threading.Event(), []

    def watch():
        while not over.wait(0.1):  # an answer costs the daemon a quarter of a millisecond, and counts as the message's
            begin = time.monotonic()
            try:
                status = ask(port, "/healthz")[0]
            except (OSError, http.client.HTTPException) as error:
                status = error
            took = time.monotonic() - begin
            if status != 200 or took > HEALTH_S:
                late.append((status, took))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
    test.assertEqual(late, [], "answers of /healthz and their seconds")
