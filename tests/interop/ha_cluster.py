"""A cluster with two resource managers of Fairlead's and one ZooKeeper, and what is asked of it while they change over."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import time
import urllib.error
import urllib.request

import peers
import rpc
from cluster import Cluster
from zookeeper import ZooKeeper

HA_PROTOCOL = "org.apache.hadoop.ha.HAServiceProtocol"
PORTS = {"address": "client", "scheduler.address": "scheduler", "resource-tracker.address": "tracker", "admin.address": "admin",
         "webapp.address": "web"}
ACTIVE, STANDBY = 1, 2
FORCED = rpc.field(1, rpc.field(1, 1))


class HaCluster(Cluster):
    """`rm1` and `rm2`; `rm` is no name of a daemon here."""

    def __init__(self, directory, spec, auth="digest:fairlead:secret", zookeeper=None):
        super().__init__(directory, spec)
        self.zookeeper = zookeeper or ZooKeeper(self.directory / "zookeeper")
        self.auth = auth
        ports = iter(peers.free_ports(2 * len(PORTS)))
        self.ports = {rm: {name: next(ports) for name in PORTS.values()} for rm in ("rm1", "rm2")}
        self.hosts = dict.fromkeys(self.ports, "127.0.0.1")

    def write(self):
        keys = {"yarn.resourcemanager.ha.enabled": "true", "yarn.resourcemanager.ha.rm-ids": "rm1,rm2",
                "yarn.resourcemanager.cluster-id": "test", "hadoop.zk.address": self.zookeeper.address,
                "fairlead.rm.state-dir": self.directory / "rm-state"}
        if self.auth:
            keys["hadoop.zk.auth"] = self.auth
        if self.spec.rm == "java":
            keys["yarn.resourcemanager.store.class"] = "org.apache.hadoop.yarn.server.resourcemanager.recovery.ZKRMStateStore"
            keys["yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms"] = "10000"  # Hadoop's default again
        for rm, ports in self.ports.items():
            for key, name in PORTS.items():
                keys[f"yarn.resourcemanager.{key}.{rm}"] = f"{self.hosts[rm]}:{ports[name]}"
        self.spec = self.spec.__class__(**{**self.spec.__dict__, "yarn_site": (*keys.items(), *self.spec.yarn_site)})
        super().write()

    def start(self):
        self.zookeeper.start()
        self.write()
        for rm in self.ports:
            self.start_manager(rm)
        for number in range(1, len(self.spec.nodes) + 1):
            self.start_nm(number)
        self.wait_for_nodes(len(self.spec.nodes))

    def start_manager(self, rm, *options):
        if self.spec.rm == "java":
            conf = self.directory / f"conf-{rm}"
            shutil.copytree(self.conf, conf, dirs_exist_ok=True)
            site = (conf / "yarn-site.xml").read_text()
            own = f"<property><name>yarn.resourcemanager.ha.id</name><value>{rm}</value></property></configuration>"
            (conf / "yarn-site.xml").write_text(site.replace("</configuration>", own))
            self.spawn_java(rm, 512, conf, "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager")
            return
        self.spawn(rm, [peers.BINARY, "rm", "--hadoop-conf", self.conf, "--set", f"yarn.resourcemanager.ha.id={rm}", *options], env=self.daemon_environment())

    def stop(self):
        for process in self.processes.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGCONT)
        super().stop()
        self.zookeeper.stop()

    def signal(self, rm, number):
        os.kill(self.processes[rm].pid, number)

    def address(self, rm, port):
        return self.hosts[rm], self.ports[rm][port]

    def url(self, rm):
        return f"http://{self.hosts[rm]}:{self.ports[rm]['web']}"

    def ha_call(self, rm, method, body=b"", seconds=15):
        """(class of the exception or None, body of the answer)."""
        data = rpc.preamble() + rpc.context(protocol=HA_PROTOCOL) + rpc.call(method, body, protocol=HA_PROTOCOL)
        return rpc.ask(self.address(rm, "admin"), data, seconds)

    def state(self, rm):
        try:
            if self.kdc:  # the admin port asks for a ticket
                return {"ACTIVE": ACTIVE, "STANDBY": STANDBY}[self.get_of(rm, "/ws/v1/cluster/info")["clusterInfo"]["haState"]]
            _, body = self.ha_call(rm, "getServiceStatus", seconds=2)
            return rpc.fields(body).get(1)
        except OSError:
            return None

    def active(self):
        """The name of the manager that leads, or None."""
        leaders = [rm for rm in self.ports if rm in self.processes and self.state(rm) == ACTIVE]
        assert len(leaders) < 2, "both managers say that they lead"
        return leaders[0] if leaders else None

    def await_active(self, other_than=None, seconds=30):
        found = []
        self.wait(lambda: found.append(self.active()) or found[-1] not in (None, other_than), "a manager that leads", seconds)
        return found[-1]

    def get(self, path):
        """From whichever manager is active: the others send there."""
        for rm in self.ports:
            try:
                return self.get_of(rm, path)
            except OSError:
                continue
        raise OSError("no manager answers")

    def get_of(self, rm, path):
        """From one of the managers; a standby sends to the other."""
        request = urllib.request.Request(self.url(rm) + path, headers={"Accept": "application/json", **self.login()})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def send(self, method, path, body=None):
        """To the active manager; 307 is not followed by itself for what changes something."""
        data = json.dumps(body).encode() if body is not None else b""
        for rm in self.ports:
            request = urllib.request.Request(f"{self.url(rm)}{path}?user.name=root", data=data, method=method,
                                             headers={"Content-Type": "application/json", "Accept": "application/json", **self.login()})
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return json.loads(answer.read() or b"null")
            except urllib.error.HTTPError as error:
                if error.code not in (307, 503):
                    raise AssertionError(error.read().decode()) from error
            except OSError:
                continue
        raise OSError("no manager takes it")

    def live_containers(self):
        """Ids of the containers that have a process on this machine."""
        found = set()
        for entry in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError):  # it ended
                if entry.name.isdigit() and " Z " not in (entry / "stat").read_text():
                    where = os.readlink(entry / "cwd")
                    if where.startswith(f"{self.directory}/") and "/container_" in where:
                        found.add(where.split("/")[-1])
        return found

    def await_sums(self, count=None, seconds=60):
        """Applications, nodes, metrics and processes count the same containers: none was lost, none is there twice, none is nobody's."""
        seen = []

        def equal():
            apps = (self.get("/ws/v1/cluster/apps")["apps"] or {}).get("app", [])
            nodes = (self.get("/ws/v1/cluster/nodes")["nodes"] or {}).get("node", [])
            metrics = self.get("/ws/v1/cluster/metrics")["clusterMetrics"]
            seen[:] = [len(self.live_containers()), metrics["containersAllocated"], sum(max(0, app["runningContainers"]) for app in apps),
                       sum(node["numContainers"] for node in nodes)]
            used = [metrics["allocatedMB"], sum(max(0, app["allocatedMB"]) for app in apps), sum(node["usedMemoryMB"] for node in nodes)]
            return len(set(seen)) == 1 and len(set(used)) == 1 and len(nodes) == len(self.spec.nodes) and count in (None, seen[0])
        try:
            self.wait(equal, f"equal sums of {count or 'all'} containers", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}: processes, metrics, applications, nodes say {seen}") from None

    def time_to_grant(self, seconds=60):
        """Seconds until an application that is submitted now, as soon as somebody takes it, has its container."""
        begin = time.monotonic()
        deadline = begin + seconds
        app_id = None
        while True:
            try:
                app_id = app_id or self.new_application()
                self.submit_sleeper(app_id=app_id)
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
        self.wait(lambda: self.has_container(app_id), "a container", seconds, 0.02)
        return app_id, time.monotonic() - begin
