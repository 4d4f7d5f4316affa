"""A HDFS of one NameNode and one DataNode on this machine, Hadoop's own."""
import json
import subprocess
import urllib.request

import peers


class Hdfs:
    """Starts with its cluster, as daemons of it, and is its default file system."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.rpc, self.http, self.data, self.data_http, self.data_ipc = peers.free_ports(5)
        self.uri = f"hdfs://127.0.0.1:{self.rpc}"
        self.web = f"webhdfs://127.0.0.1:{self.http}"

    def site(self):
        """hdfs-site.xml."""
        return {
            "dfs.namenode.http-address": f"127.0.0.1:{self.http}",
            "dfs.namenode.name.dir": self.cluster.directory / "hdfs-names",
            "dfs.datanode.data.dir": self.cluster.directory / "hdfs-blocks",
            "dfs.datanode.address": f"127.0.0.1:{self.data}",
            "dfs.datanode.http.address": f"127.0.0.1:{self.data_http}",
            "dfs.datanode.ipc.address": f"127.0.0.1:{self.data_ipc}",
            "dfs.replication": 1,
            "dfs.blocksize": 1 << 20,
        }

    def start(self):
        cluster = self.cluster
        for pages in ("hdfs", "datanode"):  # Hadoop's archive brings them beside the jars; what they show is not needed
            (cluster.conf / "webapps" / pages).mkdir(parents=True)
        run = cluster.java("org.apache.hadoop.hdfs.server.namenode.NameNode", "-format", "-nonInteractive")
        if run.returncode != 0:
            raise AssertionError(f"namenode -format ended with {run.returncode}\n{run.stderr[-2000:]}")
        for name, main in (("namenode", "namenode.NameNode"), ("datanode", "datanode.DataNode")):
            cluster.spawn_java(name, 256, cluster.conf, f"org.apache.hadoop.hdfs.server.{main}", jars=peers.hdfs(cluster.spec.hadoop))
        cluster.wait(self.ready, "HDFS to take files", 120)

    def ready(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState", timeout=10) as answer:
            beans = json.load(answer)["beans"]
        return any(state["NumLiveDataNodes"] == 1 and state["FSState"] == "Operational" for state in beans)

    def shell(self, *arguments):
        """`hdfs dfs`."""
        run = self.cluster.java("org.apache.hadoop.fs.FsShell", *arguments)
        if run.returncode != 0:
            raise subprocess.CalledProcessError(run.returncode, arguments, run.stdout, run.stderr)
        return run.stdout
