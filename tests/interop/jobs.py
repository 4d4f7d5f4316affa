"""Jobs that run beside the case, and their processes on this machine."""
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess

import peers


def container_processes(app_id, program="java"):
    """{container id: pid} of the application's running programs of this name, found by their working directories."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            where = re.search(rf"/{app_id}/(container_\w+)$", os.readlink(entry / "cwd"))
            if where and (entry / "comm").read_text().strip() == program and " Z " not in (entry / "stat").read_text():
                found[where[1]] = int(entry.name)
        except OSError:  # it ended, or is not ours
            continue
    return found


def executors_below(directory):
    """Pids of the engine's executors whose containers lie below the directory."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if words[0].endswith(b"job") and b"--executor" in words and os.readlink(entry / "cwd").startswith(str(directory)):
                    found.append(int(entry.name))
            except OSError:  # it ended, or is not ours
                continue
    return found


def master(app_id):
    """Pid of the application's running master; StopIteration without one."""
    return next(pid for name, pid in container_processes(app_id).items() if name.endswith("_000001"))


def executors(app_id):
    """Pids of what the application runs besides its master."""
    return {pid for name, pid in container_processes(app_id).items() if not name.endswith("_000001")}


def kill(pids, by=signal.SIGKILL):
    """Who has ended meanwhile is passed over."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, by)


def stand_still(app_id):
    """Stops what the application runs besides its master until `go_on`; gives the pids."""
    pids = executors(app_id)
    kill(pids, signal.SIGSTOP)
    return pids


def go_on(app_id):
    kill(executors(app_id), signal.SIGCONT)


class Background:
    """A client process that runs while the case does other things; its output goes to WORK/NAME.log. None outlives its case."""
    started = []

    def __init__(self, work, name, command, environment):
        self.log = work / f"{name}.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, env=environment, start_new_session=True,
                                            cwd=work)
        Background.started.append(self)

    def text(self):
        return self.log.read_text(errors="replace")

    def running(self):
        if self.process.poll() is None:
            return True
        raise AssertionError(f"the client ended early with {self.process.returncode}:\n{self.text()[-4000:]}")

    def finish(self, timeout=300, code=0):
        """Waits for the client's end; its exit code must be as said, or merely not 0 for None."""
        try:
            ended = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.stop()
            raise AssertionError(f"the client still ran after {timeout} s:\n{self.text()[-4000:]}") from None
        if (ended == 0) if code is None else (ended != code):
            raise AssertionError(f"the client ended with {ended}:\n{self.text()[-4000:]}")

    def stop(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    @staticmethod
    def stop_all():
        while Background.started:
            Background.started.pop().stop()


class PausedJob(Background):
    """paused_job.py on a cluster."""

    def __init__(self, cluster, work, *options, rounds=1, tasks=2, again=False, read=None):
        self.cluster, self.work, self.tasks = cluster, work, tasks
        command, environment = cluster.spark_command(*options, peers.HERE / "paused_job.py", work, rounds, tasks, *["again"] * again,
                                                     *["read", read] * bool(read))
        super().__init__(work, "submit", command, environment)

    def await_round(self, number=1, attempt=1, seconds=180):
        """Waits until all tasks of the round stand; gives the application's id."""
        def standing():
            self.running()
            return len(list(self.work.glob(f"running-{attempt}-{number}-*"))) == self.tasks
        self.cluster.wait(standing, f"{self.tasks} tasks of round {number} of attempt {attempt}", seconds)
        return (self.work / f"app-{attempt}").read_text()

    def release(self, number=1, attempt=1):
        (self.work / f"go-{attempt}-{number}").write_text("")

    def result(self, attempt=1):
        """The job's own account after its end; every round must have been right."""
        self.finish()
        result = json.loads((self.work / "result").read_text())
        assert all(result["right"]), result
        assert result["attempt"] == attempt, result
        return result


def require_end(cluster, app_id, state="FINISHED", final="SUCCEEDED"):
    """The client is gone a moment before the resource manager has stored the end."""
    cluster.wait(lambda: cluster.app(app_id)["state"] == state, f"{app_id} to be {state}")
    app = cluster.app(app_id)
    assert app["finalStatus"] == final, app
    return app
