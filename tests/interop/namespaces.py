"""Machines of their own on this one: network namespaces on one switch (Linux, root). What two of them send each other can be lost, and
nobody is told, as in a partition of a network."""
import fcntl
import os
import pathlib
import subprocess

NOBODY = "02:00:00:00:00:01"  # a network card that no machine has


def missing():
    """Why there can be none here; nothing where they can be."""
    if os.geteuid() != 0:
        return "only root makes network namespaces"
    for words in (["ip", "link", "add", "fl-probe", "type", "bridge"], ["ip", "link", "del", "fl-probe"], ["nsenter", "--version"]):
        try:
            subprocess.run(words, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            return f"this machine makes no network namespaces on a switch: {error}"
    return None


def ip(*words):
    subprocess.run(["ip", *map(str, words)], check=True)


class Machines:
    def __init__(self, *names):
        self.number, self.lock = self.claim()
        self.tag = f"fl{self.number}"
        self.here = f"10.213.{self.number}.254"  # the switch's own address
        self.numbers = {name: number for number, name in enumerate(names, 1)}
        self.remove_what_is_left()
        ip("link", "add", self.tag, "type", "bridge")
        ip("addr", "add", f"{self.here}/24", "dev", self.tag)
        ip("link", "set", self.tag, "up")
        for name, number in self.numbers.items():
            space = self.space(name)
            ip("netns", "add", space)
            ip("link", "add", f"{self.tag}.{number}", "type", "veth", "peer", "name", "eth0", "netns", space)
            ip("link", "set", f"{self.tag}.{number}", "master", self.tag, "up")
            ip("-n", space, "addr", "add", f"{self.address(name)}/24", "dev", "eth0")
            for link in ("lo", "eth0"):
                ip("-n", space, "link", "set", link, "up")

    @staticmethod
    def claim():
        """A network that no other live process has; the kernel gives it back with the file, however this process ends."""
        for number in range(77, 177):
            lock = open(f"/run/lock/fairlead-network-{number}", "w")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return number, lock
            except BlockingIOError:
                lock.close()
        raise RuntimeError("a hundred networks of tests are in use")

    def remove_what_is_left(self):
        """Of a run that was killed: a second switch with this one's address would take its answers."""
        for space in pathlib.Path("/run/netns").glob(f"{self.tag}-*"):
            ip("netns", "del", space.name)
        for link in sorted(pathlib.Path("/sys/class/net").glob(f"{self.tag}*"), reverse=True):
            if link.name == self.tag or link.name.startswith(self.tag + "."):
                subprocess.run(["ip", "link", "del", link.name], capture_output=True)  # a space may have taken it along

    def space(self, name):
        return f"{self.tag}-{name}"

    def address(self, name):
        return f"10.213.{self.number}.{self.numbers[name]}"

    def within(self, name):
        """What a command begins with that runs there."""
        return ["nsenter", f"--net=/run/netns/{self.space(name)}"]

    def cut(self, one, *others):
        """What `one` and each of the others send each other is lost."""
        for other in others:
            for near, far in ((one, other), (other, one)):
                ip("-n", self.space(near), "neigh", "replace", self.address(far), "lladdr", NOBODY, "dev", "eth0", "nud", "permanent")

    def heal(self, one, *others):
        for other in others:
            for near, far in ((one, other), (other, one)):
                ip("-n", self.space(near), "neigh", "del", self.address(far), "dev", "eth0")

    def remove(self):
        for name, number in self.numbers.items():
            ip("link", "del", f"{self.tag}.{number}")  # the space itself stays for as long as a process is in it
            ip("netns", "del", self.space(name))
        ip("link", "del", self.tag)
        self.lock.close()
