"""ZooKeeper servers of Debian's package, for tests: with a short tick, so that short sessions are given."""
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

import peers

JAR = pathlib.Path("/usr/share/java/zookeeper.jar")  # names what else it needs
TICK_MS = 500


class ZooKeeper:
    def __init__(self, directory, further=(), host="127.0.0.1", within=(), **properties):
        """`further`: (key, value) pairs of its settings; `within`: what its command begins with (namespaces.py)."""
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.port, = peers.free_ports(1)
        self.host = host
        self.within = within
        self.address = f"{host}:{self.port}"
        self.process = None
        keys = {"tickTime": TICK_MS, "dataDir": self.directory / "data", "clientPort": self.port, "clientPortAddress": host,
                "admin.enableServer": "false", **dict(further)}
        (self.directory / "zoo.cfg").write_text("".join(f"{key}={value}\n" for key, value in keys.items()))
        self.properties = [f"-D{key}={value}" for key, value in properties.items()]

    def start(self):
        self.spawn()
        self.await_service()

    def spawn(self):
        with open(self.directory / "server.log", "ab") as log:
            self.process = subprocess.Popen(
                [*self.within, peers.java(), "-Xmx256m", "-XX:TieredStopAtLevel=1", *self.properties, "-cp", JAR,
                 "org.apache.zookeeper.server.quorum.QuorumPeerMain", self.directory / "zoo.cfg"],
                stdout=log, stderr=log, start_new_session=True, env={"PATH": os.environ["PATH"]})

    def await_service(self):
        deadline = time.monotonic() + 60
        while not self.serves():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"ZooKeeper does not serve; its log: {self.directory}/server.log")
            time.sleep(0.05)

    def serves(self):
        try:
            with socket.create_connection((self.host, self.port), timeout=5) as connection:
                connection.sendall(b"srvr")
                return b"Mode:" in connection.recv(4096)
        except OSError:
            return False

    def signal(self, number):
        os.kill(self.process.pid, number)

    def stop(self):
        if self.process:
            self.signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
            self.process = None


class Ensemble:
    """Three servers."""

    def __init__(self, directory):
        ports = peers.free_ports(6)
        members = [(f"server.{i + 1}", f"127.0.0.1:{ports[2 * i]}:{ports[2 * i + 1]}") for i in range(3)]
        further = [("initLimit", 10), ("syncLimit", 5), *members]
        self.servers = [ZooKeeper(pathlib.Path(directory) / f"zookeeper{i + 1}", further) for i in range(3)]
        for number, server in enumerate(self.servers, 1):
            (server.directory / "data").mkdir(exist_ok=True)
            (server.directory / "data/myid").write_text(f"{number}\n")
        self.address = ",".join(server.address for server in self.servers)

    def start(self):
        for server in self.servers:
            server.spawn()
        for server in self.servers:
            server.await_service()

    def leader(self):
        """The server that the others follow."""
        for server in self.servers:
            with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
                connection.sendall(b"srvr")
                if b"Mode: leader" in connection.recv(4096):
                    return server
        raise AssertionError("no server leads")

    def stop(self):
        for server in self.servers:
            server.stop()


class Relay:
    """Passes connections on to a server until it is cut: then nothing comes through, and nobody is told, as in a network partition."""

    def __init__(self, port):
        self.target = ("127.0.0.1", port)
        self.whole = threading.Event()
        self.whole.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:  # stopped
                return
            self.whole.wait()
            try:
                far = socket.create_connection(self.target)
            except OSError:
                near.close()
                continue
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(source, sink), daemon=True).start()

    def carry(self, source, sink):
        try:
            while data := source.recv(65536):
                self.whole.wait()
                sink.sendall(data)
        except OSError:  # one side ended
            pass
        source.close()
        sink.close()

    def cut(self):
        self.whole.clear()

    def heal(self):
        self.whole.set()

    def stop(self):
        self.listener.close()
        self.heal()
