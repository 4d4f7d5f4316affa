"""A Debian machine of its own: a root made by mmdebstrap, booted with its own systemd, without a network."""
import pathlib
import shutil
import subprocess
import time

ENVIRONMENT = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=3600, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


def wait_for(what, ask, seconds=60):
    deadline = time.monotonic() + seconds
    while not (answer := ask()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s for {what}")
        time.sleep(0.1)
    return answer


def debian_mirrors():
    """As this machine's apt has them, and its proxy."""
    files = [file for name in ("sources.list", "sources.list.d/debian.sources") if (file := pathlib.Path("/etc/apt", name)).exists()]
    proxy = run("apt-config", "shell", "proxy", "Acquire::http::Proxy").partition("=")[2].strip().strip("'")
    return [*([f'--aptopt=Acquire::http::Proxy "{proxy}"'] if proxy else []), "bookworm"], files


class Machine:
    def __init__(self, root, packages):
        """`packages`: of Debian, which must be there before, as the machine has no network."""
        self.root = pathlib.Path(root)
        words, mirrors = debian_mirrors()
        include = ",".join(sorted({*packages, "systemd-sysv", "dbus", "procps"}))
        run("mmdebstrap", "--variant=minbase", "--include=" + include, *words, root, *mirrors)
        # As Debian's installer does: a machine knows its own name.
        (self.root / "etc/hostname").write_text("machine\n")
        (self.root / "etc/hosts").write_text("127.0.0.1 localhost\n127.0.1.1 machine\n")
        self.console = self.root.with_suffix(".console")
        with self.console.open("w") as console:
            self.boot = subprocess.Popen(["systemd-nspawn", "--quiet", "-D", root, "--boot", "--private-network", "--register=no",
                                          "--hostname=machine", "--keep-unit", "--console=pipe"], stdin=subprocess.DEVNULL, stdout=console, stderr=console)
        try:
            self.init = wait_for("its first process", self.first_process)[0]
            wait_for("systemd", lambda: self.call("systemctl", "is-system-running", "--wait").stdout.strip() in ("running", "degraded"), seconds=300)
        except AssertionError as late:
            self.boot.terminate()
            self.boot.wait(timeout=30)
            raise AssertionError(f"{late}\n{self.console.read_text()[-3000:]}") from late

    def first_process(self):
        if self.boot.poll() is not None:
            raise AssertionError("systemd-nspawn has ended:\n" + self.console.read_text())
        return pathlib.Path(f"/proc/{self.boot.pid}/task/{self.boot.pid}/children").read_text().split()

    def call(self, *command):
        return subprocess.run(["nsenter", "-t", self.init, "-a", "-r", "-w", *ENVIRONMENT, *map(str, command)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=600, check=False)

    def run(self, *command):
        done = self.call(*command)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return done.stdout

    def processes(self):
        """Command lines by process id, the machine's own numbers."""
        lines = self.run("ps", "-eo", "pid,user:32,args").splitlines()[1:]
        return {int(line.split()[0]): line.split(None, 1)[1] for line in lines}

    def files(self):
        """What installing and purging must leave as it was; not what the system and its package manager note for themselves."""
        changing = ("dev", "proc", "run", "sys", "tmp", "root", "var/cache", "var/lib/apt", "var/lib/dpkg", "var/lib/systemd", "var/log/apt",
                    "var/log/dpkg.log", "var/log/journal", "var/tmp")
        found = set()
        for path in self.root.rglob("*"):
            name = str(path.relative_to(self.root))
            if not any(name == other or name.startswith(other + "/") for other in changing):
                found.add(name)
        return found

    def stop(self):
        if self.boot.poll() is None:
            self.call("systemctl", "poweroff", "--no-block")
            try:
                self.boot.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self.boot.kill()
                self.boot.wait()
        shutil.rmtree(self.root, ignore_errors=True)
