"""Processes of one test cluster: started with a log each, watched while something is awaited, ended together."""
import os
import pathlib
import signal
import subprocess

from waiting import until


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
        """Fails at once when a daemon ends that should not."""
        until(condition, what, seconds, pause, self.require_all)

    def require_all(self):
        for name, process in list(self.processes.items()):
            if process.poll() is not None and name not in self.may_end:
                raise AssertionError(f"{name} ended with {process.returncode}; its log: {self.directory / (name + '.log')}")

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
