"""Processes of one test cluster: started with a log each, watched while something is awaited, ended together."""
import os
import pathlib
import signal
import subprocess
import time

# How many times as long as usual a case waits: more where the machine has much else to do.
PATIENCE = float(os.environ.get("FAIRLEAD_INTEROP_PATIENCE", "1"))


class Daemons:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.processes = {}
        self.may_end = set()  # daemons that a case sends away

    def spawn(self, name, command, **kwargs):
        with open(self.directory / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen([str(c) for c in command], stdout=log, stderr=log, start_new_session=True, **kwargs)

    def kill(self, name):
        """kill -9; `wait` no longer misses it."""
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def wait(self, condition, what, seconds=60, pause=0.1):
        deadline = time.monotonic() + seconds * PATIENCE
        while time.monotonic() < deadline:
            for name, process in list(self.processes.items()):
                if process.poll() is not None and name not in self.may_end:
                    raise AssertionError(f"{name} ended with {process.returncode}; its log: {self.directory / (name + '.log')}")
            try:
                if condition():
                    return
            except (OSError, KeyError, ValueError):
                pass
            time.sleep(pause)
        raise AssertionError(f"waited {seconds} s for {what}")

    def stop(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.terminate()
        for process in self.processes.values():
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
