"""A HDFS of one NameNode or two and one or more DataNodes on this machine, Hadoop's own."""
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
        self.rpc, self.http, *self.second = peers.free_ports(2 * cluster.spec.name_nodes)
        self.data_nodes = len(cluster.spec.racks) or 1
        self.uri = "hdfs://main" if self.second else f"hdfs://127.0.0.1:{self.rpc}"
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
            **self.available(),
            **self.secured(),
            **dict(self.cluster.spec.hdfs_site),
        }

    def available(self):
        """Of two NameNodes, which share their journal in a directory and change roles when they are told."""
        if not self.second:
            return {}
        out = {"dfs.nameservices": "main", "dfs.ha.namenodes.main": "nn1,nn2", "dfs.ha.namenode.id": "nn1",  # both have one address
               "dfs.namenode.shared.edits.dir": f"file://{self.cluster.directory}/hdfs-edits", "dfs.ha.tail-edits.period": 1,
               "dfs.client.failover.proxy.provider.main": "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider"}
        for name, (rpc, web) in (("nn1", (self.rpc, self.http)), ("nn2", self.second)):
            out[f"dfs.namenode.rpc-address.main.{name}"] = f"127.0.0.1:{rpc}"
            out[f"dfs.namenode.http-address.main.{name}"] = f"127.0.0.1:{web}"
        return out

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
        if self.second:
            self.start_second(jars)
        for name, conf in nodes.items():
            cluster.spawn_java(name, 256, conf, "org.apache.hadoop.hdfs.server.datanode.DataNode", jars=jars)
        cluster.wait(self.ready, "HDFS to take files", 120)

    def start_second(self, jars):
        cluster = self.cluster
        conf = cluster.directory / "nn2"
        shutil.copytree(cluster.conf, conf)
        shutil.copytree(cluster.directory / "hdfs-names", cluster.directory / "hdfs-names-2", ignore=shutil.ignore_patterns("in_use.lock"))
        peers.write_site(conf / "hdfs-site.xml", self.site() | {"dfs.namenode.name.dir": cluster.directory / "hdfs-names-2", "dfs.ha.namenode.id": "nn2"})
        cluster.spawn_java("namenode2", 256, conf, "org.apache.hadoop.hdfs.server.namenode.NameNode", jars=jars)
        cluster.wait(lambda: self.serve("nn2"), "the second NameNode to serve", 120)

    def serve(self, name):
        """This NameNode of two becomes the active one, the other its standby; True when it is."""
        other = "nn1" if name == "nn2" else "nn2"
        for order in (("-transitionToStandby", other), ("-transitionToActive", name)):
            run = self.cluster.java("org.apache.hadoop.hdfs.tools.DFSHAAdmin", "-ns", "main", *order)
            if run.returncode != 0:
                return False
        return True

    def ready(self):
        cluster = self.cluster
        login = {"Cookie": cluster.cookie(cluster.user, kind="kerberos")} if cluster.login() else {}
        asked = urllib.request.Request(f"http://127.0.0.1:{self.second[1] if self.second else self.http}/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState", headers=login)
        with urllib.request.urlopen(asked, timeout=10) as answer:
            beans = json.load(answer)["beans"]
        return any(state["NumLiveDataNodes"] == self.data_nodes and state["FSState"] == "Operational" for state in beans)

    def shell(self, *arguments):
        """`hdfs dfs`."""
        run = self.cluster.java("org.apache.hadoop.fs.FsShell", *arguments)
        if run.returncode != 0:
            raise subprocess.CalledProcessError(run.returncode, arguments, run.stdout, run.stderr)
        return run.stdout
