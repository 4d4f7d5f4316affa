#!/usr/bin/env python3
"""Wishes of profile `fairlead` on real nodes: two agents of one machine, each in control groups of its own whose limits are its machine,
and another program in those of the first. As root, with control groups of version 1 that may be made."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
import cluster as lab  # noqa: E402
import namespaces  # noqa: E402
import peers  # noqa: E402
import registry  # noqa: E402

BUILD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build"))
peers.BINARY = BUILD / "fairlead"
CONTROLLERS = ("cpu", "cpuacct", "memory")
MACHINE_MIB = 2048
# Takes so many MiB, says so, and works until it is ended.
OTHER_PROGRAM = "import sys; kept = bytearray(b'x') * (int(sys.argv[1]) << 20); print('there', flush=True)\nwhile True: pass"


class Groups:
    """Control groups of each node, and what was put into them."""

    def __init__(self):
        self.name = f"fairlead-test-{os.getpid()}"

    def of(self, number):
        return [pathlib.Path(f"/sys/fs/cgroup/{controller}/{self.name}/node{number}") for controller in CONTROLLERS]

    def make(self, number, cores):
        for group in self.of(number):
            group.mkdir(parents=True)
        cpu, _, memory = self.of(number)
        (cpu / "cpu.cfs_quota_us").write_text(str(int(cores * 100_000)))
        (memory / "memory.limit_in_bytes").write_text(str(MACHINE_MIB << 20))

    def within(self, number, *command):
        """The words that run the command there."""
        enter = "".join(f"echo $$ > {group}/cgroup.procs; " for group in self.of(number))
        return ["sh", "-c", enter + 'exec "$@"', "sh", *map(str, command)]

    def remove(self):
        """Ends what is left in them. The agents make groups of `pids` and `blkio`, too, and remove those of their containers."""
        lab_wait(self.gone, f"the control groups {self.name} to be empty")

    def gone(self):
        roots = [pathlib.Path(f"/sys/fs/cgroup/{controller}/{self.name}") for controller in (*CONTROLLERS, "pids", "blkio")]
        for root in roots:
            for group in sorted([root, *(entry for entry in root.rglob("*") if entry.is_dir())], reverse=True) if root.exists() else []:
                for pid in (group / "cgroup.procs").read_text().split():
                    os.kill(int(pid), signal.SIGKILL)
                group.rmdir()  # busy until they have ended: the next look finds it
        return not any(root.exists() for root in roots)


def lab_wait(condition, what):
    lab.Daemons(tempfile.gettempdir()).wait(condition, what, 20)


class RealNodes(unittest.TestCase):
    nodes = 2
    cores = 1
    memory_mib = 1024  # that a node offers
    keys = {}

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root can make control groups")
        for controller in CONTROLLERS:
            if not os.access(f"/sys/fs/cgroup/{controller}/cgroup.procs", os.W_OK):
                raise unittest.SkipTest(f"there is no {controller} control group of version 1 to be made here")

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-real-nodes-"))
        self.directory.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        (self.directory / "cluster").mkdir()
        self.groups = Groups()
        self.addCleanup(self.groups.remove)
        self.cluster = lab.Cluster(self.directory / "cluster", registry.Spec(
            nodes=("fairlead",) * self.nodes, racks=("/r",) * self.nodes,
            # The containers that wait here are masters.
            allocations="<allocations><queueMaxAMShareDefault>-1.0</queueMaxAMShareDefault></allocations>\n", yarn_site=tuple({
            "fairlead.scheduler.cluster-master-share": 1000,
            "yarn.nodemanager.resource.memory-mb": self.memory_mib,
            "yarn.nodemanager.resource.cpu-vcores": 40,
            "yarn.nodemanager.container-monitor.interval-ms": 500,
            "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": 500,
            **self.keys}.items())))
        self.addCleanup(self.cluster.stop)
        self.cluster.write()
        self.cluster.start_rm()
        for number in range(1, self.nodes + 1):
            self.groups.make(number, self.cores)
            self.start_node(number)
        self.cluster.wait_for_nodes(self.nodes)
        self.names = {number: node["id"] for number in range(1, self.nodes + 1) for node in self.cluster.get("/fairlead/v1/nodes")["nodes"]
                      if node["id"].startswith(self.cluster.host_of(number) + ":")}

    def start_node(self, number):
        site = self.cluster.node_conf(number) / "yarn-site.xml"
        own = {"fairlead.nm.machine.control-groups": ",".join(map(str, self.groups.of(number))),
               "yarn.nodemanager.linux-container-executor.cgroups.hierarchy": f"/{self.groups.name}/node{number}/containers", **self.node_keys(number)}
        added = "".join(f"<property><name>{key}</name><value>{value}</value></property>" for key, value in own.items())
        site.write_text(site.read_text().replace("</configuration>", added + "</configuration>"))
        self.spawn_node(number)

    def spawn_node(self, number):
        self.cluster.spawn(f"nm{number}", self.groups.within(number, peers.BINARY, "nm", "--hadoop-conf", self.cluster.node_conf(number)),
                           env={**os.environ, **peers.java_environment()})

    def node_keys(self, number):
        return {}

    def other_program(self, number, mib):
        """On the node, beside its agent; returns when it has the memory."""
        program = subprocess.Popen(self.groups.within(number, sys.executable, "-c", OTHER_PROGRAM, mib), stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), "there\n")
        return program

    def node(self, number):
        return self.cluster.get(f"/fairlead/v1/nodes/{self.names[number]}")

    def app(self, app):
        return self.cluster.get(f"/fairlead/v1/apps/{app}")

    def post(self, path, body):
        request = urllib.request.Request(f"http://127.0.0.1:{self.cluster.web}/ws/v1/cluster/{path}?user.name=ann",
                                         json.dumps(body).encode(), {"Content-Type": "application/json", "Accept": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or b"{}")

    def submit(self, command="sleep 1000"):
        """An application of a single container."""
        app = self.post("apps/new-application", {})["application-id"]
        self.post("apps", {"application-id": app, "application-name": "waits", "resource": {"memory": 256, "vCores": 1},
                           "am-container-spec": {"commands": {"command": command}}})
        return app

    def host_of(self, app):
        """The number of the node where it has got its container."""
        hosts = []
        self.cluster.wait(lambda: hosts.extend(one["node"] for one in self.app(app)["running"]) or hosts, f"a container of {app}")
        return next(number for number, name in self.names.items() if name == hosts[0])


class MeasuredLoad(RealNodes):
    keys = {"fairlead.scheduler.wishes": "measured-load"}

    def test_new_containers_go_to_the_calm_node(self):
        # What runs is nothing of Fairlead's: by what is booked both nodes are empty.
        self.other_program(1, MACHINE_MIB * 7 // 10)
        self.cluster.wait(lambda: self.node(1)["measured"].get("memory_mib", 0) > MACHINE_MIB * 6 // 10 and self.node(1)["measured"].get("cores", 0) > 0, "the measure")
        self.assertLess(self.node(2)["measured"].get("memory_mib", 0), MACHINE_MIB * 3 // 10, "a node measures its own machine")
        self.assertEqual([self.host_of(self.submit()) for _ in range(4)], [2] * 4)


class MeasuredUse(RealNodes):
    keys = {"fairlead.scheduler.wishes": "measured-use", "fairlead.scheduler.measured-use.memory-percent": 50,
            "fairlead.scheduler.measured-use.cpu-percent": 0, "fairlead.scheduler.measured-use.disk-percent": 20}

    def setUp(self):
        super().setUp()
        self.disk = None

    def node_keys(self, number):
        if number > 1:
            return {"fairlead.nm.machine.disks": "none"}
        file = self.directory / "disk"
        with open(file, "wb") as image:
            image.truncate(64 << 20)
        made = subprocess.run(["losetup", "--find", "--show", file], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            self.skipTest("no loop device can be made: " + made.stderr)
        self.loop = made.stdout.strip()
        self.addCleanup(subprocess.run, ["losetup", "--detach", self.loop], check=False)
        return {"fairlead.nm.machine.disks": pathlib.Path(self.loop).name}

    def assert_closed_until(self, calm, amount):
        """The first node takes nothing and `why` names the amount, until `calm` is called."""
        apps = [self.submit() for _ in range(5)]
        self.assertEqual([self.host_of(app) for app in apps[:4]], [2] * 4)  # it is full
        waits = apps[4]
        self.cluster.wait(lambda: self.app(waits)["pending"], "the last to wait")
        reason = self.app(waits)["pending"][0]
        self.assertEqual(reason["reason"], "NODES_BUSY")
        self.assertIn(amount, json.dumps(reason))
        self.assertIn(self.cluster.host_of(1), json.dumps(reason))
        calm()
        self.assertEqual(self.host_of(waits), 1)

    def test_by_memory(self):
        program = self.other_program(1, MACHINE_MIB * 6 // 10)
        self.cluster.wait(lambda: self.node(1)["measured"].get("memory_mib", 0) > MACHINE_MIB // 2, "the measure")
        self.assert_closed_until(program.kill, "memory")

    def test_by_a_disk(self):
        writer = subprocess.Popen(["sh", "-c", f"while dd if=/dev/zero of={self.loop} bs=64k count=1000 oflag=direct status=none; do :; done"],
                                  start_new_session=True)
        self.addCleanup(writer.wait)
        end = lambda: os.killpg(writer.pid, signal.SIGKILL)  # noqa: E731
        self.addCleanup(lambda: writer.poll() is None and end())
        self.cluster.wait(lambda: self.node(1)["measured"].get("disk_busy_per_mille", 0) > 250, "the measure")
        self.assert_closed_until(end, "disks")


class Overcommit(RealNodes):
    nodes = 1
    cores = 64  # as many as the machine has; the job takes none, so memory alone counts
    keys = {"fairlead.scheduler.wishes": "overcommit", "fairlead.scheduler.measured-load.settle-ms": 1000,
            "fairlead.scheduler.overcommit.fill-percent": 60, "fairlead.scheduler.overcommit.reclaim-percent": 75}

    def test_what_is_above_the_capacity_goes_first_under_pressure(self):
        job = subprocess.Popen([str(word) for word in [
            peers.BINARY, "submit", "--hadoop-conf", self.cluster.conf, "--json", "--driver-memory", 256, "--executors", 7, "--executor-memory", 256,
            BUILD / "tests/engine_faults", "shrink", self.directory / "never", self.directory / "never"]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        self.cluster.wait(self.cluster.apps, "the job")
        app = self.cluster.apps()[0]["id"]
        running = lambda: {one["id"]: one for one in self.app(app)["running"]}  # noqa: E731
        self.cluster.wait(lambda: len(running()) == 8, "twice the node's memory to be booked", 120)
        before = running()
        self.assertEqual(sum(one["resources"]["memory_mib"] for one in before.values()), 2 * self.memory_mib)
        self.other_program(1, MACHINE_MIB * 8 // 10)
        self.cluster.wait(lambda: len(running()) <= 4, "those above the capacity to end", 60)
        left = set(running())
        self.assertLessEqual(set(sorted(before)[:3]), left, "what is within the capacity stays")
        self.assertEqual(self.app(app)["attempts"][-1]["state"], "RUNNING")


class DiskRates(RealNodes):
    """What a container has of a resource type is all that it gets of a disk: the kernel holds it. TDW's amounts by task type book it."""
    nodes = 1
    rate = 4  # MiB/s
    keys = {"yarn.resource-types": "disk-rate", "yarn.nodemanager.resource-type.disk-rate": 40, "fairlead.nm.disk-rate-type": "disk-rate",
            "fairlead.scheduler.profile": "tdw", "fairlead.scheduler.tdw.disk-type": "disk-rate", "fairlead.scheduler.tdw.jobtracker.disk": rate}
    write = "dd if=/dev/zero of=file bs=1M count=12 oflag=direct status=none"

    def node_keys(self, number):
        file, self.local = self.directory / "disk", self.directory / "local"
        subprocess.run(["truncate", "--size", "96M", file], check=True)
        subprocess.run(["mkfs.ext4", "-q", file], check=True)
        self.local.mkdir()
        mounted = subprocess.run(["mount", "-o", "loop", file, self.local], capture_output=True, text=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("no loop device can be mounted: " + mounted.stderr)
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.local], check=False)
        return {"yarn.nodemanager.local-dirs": self.local}

    def test_a_container_writes_at_its_rate(self):
        at_its_rate = 12 / self.rate * 0.8
        begin = time.monotonic()
        subprocess.run(self.write.split(), cwd=self.local, check=True)
        self.assertLess(time.monotonic() - begin, at_its_rate, "the disk itself is no faster")
        told, script = self.directory / "told", self.directory / "script"
        script.write_text(f"begin=$(date +%s%N)\n{self.write} || exit\n"
                          f"echo $((($(date +%s%N) - begin) / 1000000)) > {told}.part; mv {told}.part {told}\n")
        app = self.submit(f"sh {script}")
        self.cluster.wait(told.exists, f"what the container of {app} wrote", 60)
        self.assertGreater(int(told.read_text()) / 1000, at_its_rate)


# Sends so many MB to an address, waits until all have come, and writes how many milliseconds that took.
SENDER = """import os, socket, sys, time
begin = time.monotonic()
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as connection:
    connection.sendall(bytes(int(sys.argv[3]) * 1000000))
    connection.shutdown(socket.SHUT_WR)
    assert connection.recv(1) == b"."
with open(sys.argv[4] + ".part", "w") as told:
    told.write(str(int((time.monotonic() - begin) * 1000)))
os.rename(sys.argv[4] + ".part", sys.argv[4])
"""
TAKER = """import socket, sys
with socket.create_server((sys.argv[1], 0)) as server:
    print(server.getsockname()[1], flush=True)
    while True:
        connection, _ = server.accept()
        with connection:
            while connection.recv(1 << 16):
                pass
            connection.sendall(b".")
"""


class NetworkRates(RealNodes):
    """What a container has of a resource type is all that it sends through the interface, and stays so when the agent ends. The agent itself
    has given up the right to set that."""
    nodes = 1
    megabits, megabytes = 16, 6
    keys = {"yarn.resource-types": "net-rate", "yarn.nodemanager.resource-type.net-rate": 100, "fairlead.nm.network-rate-type": "net-rate", "fairlead.nm.user": "nobody",
            "fairlead.scheduler.profile": "tdw", "fairlead.scheduler.tdw.network-type": "net-rate", "fairlead.scheduler.tdw.jobtracker.network": megabits}

    def setUp(self):
        if reason := namespaces.missing():
            self.skipTest(reason)
        if not any("net_cls" in line.split()[3] for line in pathlib.Path("/proc/mounts").read_text().splitlines()):
            mount = tempfile.mkdtemp(prefix="fairlead-net-cls-")
            self.addCleanup(os.rmdir, mount)
            mounted = subprocess.run(["mount", "-t", "cgroup", "-o", "net_cls", "net_cls", mount], capture_output=True, text=True, check=False)
            if mounted.returncode != 0:
                self.skipTest("no net_cls control group can be mounted: " + mounted.stderr)
            self.addCleanup(subprocess.run, ["umount", mount], check=True)
        machines = namespaces.Machines("taker")
        self.addCleanup(machines.remove)
        self.interface, self.address = machines.tag, machines.address("taker")
        taker = subprocess.Popen([*machines.within("taker"), sys.executable, "-c", TAKER, self.address], stdout=subprocess.PIPE, text=True)
        self.addCleanup(taker.stdout.close)
        self.addCleanup(taker.wait)
        self.addCleanup(taker.kill)
        self.port = int(taker.stdout.readline())
        self.before_the_agent()
        super().setUp()
        (self.directory / "sender.py").write_text(SENDER)
        self.out = self.directory / "out"
        self.out.mkdir()
        self.out.chmod(0o777)  # the agent, and so the container, is not root

    def before_the_agent(self):
        pass

    def node_keys(self, number):
        return {"fairlead.nm.network-interface": self.interface}

    def sender(self, told):
        return ["/usr/bin/python3", self.directory / "sender.py", self.address, self.port, self.megabytes, told]

    def send(self, name):
        """A container that sends; gives the file in which it tells how long that took."""
        told = self.out / name
        self.submit(" ".join(map(str, self.sender(told))))
        return told

    def test_a_container_sends_at_its_rate(self):
        at_its_rate = 8 * self.megabytes / self.megabits * 1000 * 0.8
        alone = self.out / "alone"
        subprocess.run(list(map(str, self.sender(alone))), check=True)
        self.assertLess(int(alone.read_text()), at_its_rate, "the interface itself is no faster")
        first = self.send("first")
        self.cluster.wait(lambda: "htb" in self.classes(), "the first container's class")
        self.cluster.kill("nm1")
        self.spawn_node(1)
        second = self.send("second")
        self.cluster.wait(lambda: first.exists() and second.exists(), "what the containers sent", 60)
        self.assertGreater(int(first.read_text()), at_its_rate)
        self.assertGreater(int(second.read_text()), at_its_rate)
        self.assertEqual(self.classes().count("htb"), 2, self.classes())

    def test_a_keeper_that_does_not_answer_holds_up_nobody(self):
        keeper = self.keeper()
        os.kill(keeper, signal.SIGSTOP)
        self.addCleanup(os.kill, keeper, signal.SIGKILL)
        told = self.send("without")
        self.cluster.wait(told.exists, "what the container sent", 60)
        log = (self.cluster.directory / "nm1.log").read_text()
        self.assertRegex(log, "sends without limit: .* does not answer; restart the node agent")
        self.assertNotIn("htb", self.classes())

    def keeper(self):
        agent = self.cluster.processes["nm1"].pid
        for child in pathlib.Path(f"/proc/{agent}/task/{agent}/children").read_text().split():
            if pathlib.Path(f"/proc/{child}/comm").read_text() == "fl-network\n":
                return int(child)
        self.fail("the agent has no keeper of network rates")

    def classes(self):
        return subprocess.run(["tc", "class", "show", "dev", self.interface], capture_output=True, text=True, check=True).stdout


class NetworkNameOfAnother(NetworkRates):
    """Another user of the machine has taken the name by which keepers of an interface find each other: it is done without."""
    test_a_container_sends_at_its_rate = test_a_keeper_that_does_not_answer_holds_up_nobody = None  # of the class above

    def before_the_agent(self):
        code = ("import socket, sys\nname = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\nname.bind('\\0fairlead-network-' + sys.argv[1])\n"
                "name.listen()\nprint('taken', flush=True)\nsys.stdin.read()")
        holder = subprocess.Popen(["/usr/bin/python3", "-c", code, self.interface], user=65534, group=65534, extra_groups=[], cwd="/",
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for clean_up in (holder.stdout.close, holder.wait, holder.kill, holder.stdin.close):
            self.addCleanup(clean_up)
        self.assertEqual(holder.stdout.readline(), "taken\n")

    def test_a_container_sends_at_its_rate_nevertheless(self):
        self.send("first")
        self.cluster.wait(lambda: "htb" in self.classes(), "the container's class")



if __name__ == "__main__":
    unittest.main()
