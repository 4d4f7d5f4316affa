"""A HDFS of one NameNode and one or more DataNodes on this machine, Hadoop's own."""
import json
import shutil
import subprocess
import urllib.request

import kdc
import peers


class Hdfs:
    """Starts with its cluster, as daemons of it, and is its default file system."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.rpc, self.http = peers.free_ports(2)
        self.data_nodes = len(cluster.spec.racks) or 1
        self.uri = f"hdfs://127.0.0.1:{self.rpc}"
        self.web = f"webhdfs://127.0.0.1:{self.http}"

    def site(self, node=1):
        """hdfs-site.xml of a DataNode, the first for all other programs. A DataNode's host is that of the YARN node of its number; the bytes go
        over 127.0.0.1, which is where the NameNode sees all of them."""
        data, data_http, data_ipc = peers.free_ports(3)
        return {
            "dfs.datanode.hostname": self.cluster.host_of(node),
            "dfs.namenode.http-address": f"127.0.0.1:{self.http}",
            "dfs.namenode.name.dir": self.cluster.directory / "hdfs-names",
            "dfs.datanode.data.dir": self.cluster.directory / f"hdfs-blocks-{node}",
            "dfs.datanode.address": f"127.0.0.1:{data}",
            "dfs.datanode.http.address": f"{self.cluster.host_of(node)}:{data_http}",
            "dfs.datanode.ipc.address": f"127.0.0.1:{data_ipc}",
            "dfs.replication": 1,
            "dfs.blocksize": 1 << 20,
            **self.secured(),
            **dict(self.cluster.spec.hdfs_site),
        }

    def secured(self):
        """Of daemons with tickets. A DataNode asks for ports below 1024 then, unless it is told that this is a test."""
        keys = self.cluster.kdc
        if keys is None:
            return {}
        out = {"dfs.block.access.token.enable": "true", "ignore.secure.ports.for.testing": "true", "dfs.permissions.enabled": "false",
               "dfs.web.authentication.kerberos.principal": f"HTTP/_HOST@{kdc.REALM}",
               "dfs.web.authentication.kerberos.keytab": keys.keytab("HTTP/localhost")}
        for daemon in ("namenode", "datanode"):
            out[f"dfs.{daemon}.kerberos.principal"] = f"hdfs/{'_HOST' if daemon == 'namenode' else 'localhost'}@{kdc.REALM}"  # its own host is a number
            out[f"dfs.{daemon}.keytab.file"] = keys.keytab("hdfs/localhost")
        return out

    def start(self):
        cluster = self.cluster
        nodes = {f"datanode{number}": cluster.directory / f"dn{number}" for number in range(1, self.data_nodes + 1)}
        for conf in (cluster.conf, *nodes.values()):
            for pages in ("hdfs", "datanode"):  # Hadoop's archive brings them beside the jars; what they show is not needed
                (conf / "webapps" / pages).mkdir(parents=True)
        for number, conf in enumerate(nodes.values(), 1):
            shutil.copy(cluster.conf / "core-site.xml", conf)
            peers.write_site(conf / "hdfs-site.xml", self.site(number))
        if cluster.spec.racks:
            subprocess.run([peers.java() + "c", "-nowarn", "-proc:none", "-d", cluster.conf, "-cp", f"{cluster.hadoop}/*", peers.HERE / "java/HostNameTable.java"],
                           check=True)
        run = cluster.java("org.apache.hadoop.hdfs.server.namenode.NameNode", "-format", "-nonInteractive")
        if run.returncode != 0:
            raise AssertionError(f"namenode -format ended with {run.returncode}\n{run.stderr[-2000:]}")
        jars = peers.hdfs(cluster.spec.hadoop)
        cluster.spawn_java("namenode", 256, cluster.conf, "org.apache.hadoop.hdfs.server.namenode.NameNode", jars=jars)
        for name, conf in nodes.items():
            cluster.spawn_java(name, 256, conf, "org.apache.hadoop.hdfs.server.datanode.DataNode", jars=jars)
        cluster.wait(self.ready, "HDFS to take files", 120)

    def ready(self):
        cluster = self.cluster
        login = {"Cookie": cluster.cookie(cluster.user, kind="kerberos")} if cluster.login() else {}
        asked = urllib.request.Request(f"http://127.0.0.1:{self.http}/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState", headers=login)
        with urllib.request.urlopen(asked, timeout=10) as answer:
            beans = json.load(answer)["beans"]
        return any(state["NumLiveDataNodes"] == self.data_nodes and state["FSState"] == "Operational" for state in beans)

    def shell(self, *arguments):
        """`hdfs dfs`."""
        run = self.cluster.java("org.apache.hadoop.fs.FsShell", *arguments)
        if run.returncode != 0:
            raise subprocess.CalledProcessError(run.returncode, arguments, run.stdout, run.stderr)
        return run.stdout
