"""One ZooKeeper server of Debian's package, for a test: with a short tick, so that short sessions are given."""
import os
import pathlib
import signal
import socket
import subprocess
import time

import peers

JAR = pathlib.Path("/usr/share/java/zookeeper.jar")  # names what else it needs
TICK_MS = 500


class ZooKeeper:
    def __init__(self, directory, **properties):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.port, = peers.free_ports(1)
        self.address = f"127.0.0.1:{self.port}"
        self.process = None
        keys = {"tickTime": TICK_MS, "dataDir": self.directory / "data", "clientPort": self.port, "clientPortAddress": "127.0.0.1",
                "admin.enableServer": "false"}
        (self.directory / "zoo.cfg").write_text("".join(f"{key}={value}\n" for key, value in keys.items()))
        self.properties = [f"-D{key}={value}" for key, value in properties.items()]

    def start(self):
        with open(self.directory / "server.log", "ab") as log:
            self.process = subprocess.Popen(
                [peers.java(), "-Xmx256m", "-XX:TieredStopAtLevel=1", *self.properties, "-cp", JAR,
                 "org.apache.zookeeper.server.ZooKeeperServerMain", self.directory / "zoo.cfg"],
                stdout=log, stderr=log, start_new_session=True, env={"PATH": os.environ["PATH"]})
        deadline = time.monotonic() + 60
        while not self.serves():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"ZooKeeper does not serve; its log: {self.directory}/server.log")
            time.sleep(0.05)

    def serves(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
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
