"""The list of cases. A case is a function (cluster, work directory) that raises when the peers see anything but what they should."""
import dataclasses
import subprocess

import peers


@dataclasses.dataclass(frozen=True)
class Spec:
    """What a case runs on. Cases of equal spec share one running cluster, unless they ask for their own."""
    hadoop: str = peers.HADOOP_VERSION              # of the clients, and of Java daemons
    spark: str = peers.SPARK_VERSION
    rm: str | None = "fairlead"                     # or "java"; None starts no daemon at all
    nodes: tuple[str, ...] = ("fairlead", "fairlead")
    yarn_site: tuple[tuple[str, str], ...] = ()     # further keys of yarn-site.xml; {directory} is the cluster's own
    hdfs: bool = False                              # with a HDFS, which is the default file system then
    name_nodes: int = 1                             # of it; two: of the name service "main", the second serves
    hdfs_site: tuple[tuple[str, object], ...] = ()  # further keys of its hdfs-site.xml
    racks: tuple[str, ...] = ()                     # of the nodes; a HDFS has a DataNode on each node's address then
    history: bool = True                            # with MapReduce's job history server
    allocations: str = '<allocations><queue name="alpha"><weight>2</weight></queue><queue name="beta"/></allocations>\n'  # fair-scheduler.xml
    policy: tuple[tuple[str, str], ...] = ()        # keys of a hadoop-policy.xml, which counts then (hadoop.security.authorization)
    web_login: str = "simple"                       # hadoop.http.authentication.type of such a cluster
    kerberos: str = ""                              # hadoop.rpc.protection of a cluster with Kerberos and a KDC of its own
    ticket_life: str = "1h"                         # what its KDC gives
    https: str = ""                                 # pages by TLS (yarn.http.policy=HTTPS_ONLY): "pem", Fairlead's own keys, or "jks", Hadoop's files
    capacity: tuple[tuple[str, str], ...] = ()      # keys of a capacity-scheduler.xml below yarn.scheduler.capacity.; its scheduler runs then

    def all_java(self):
        return dataclasses.replace(self, rm="java", nodes=("java",) * len(self.nodes))

    def needs(self):
        found = {f"hadoop-{self.hadoop}", f"spark-{self.spark}"}
        return found | ({"aux"} if "java" in self.nodes else set()) | ({f"hdfs-{self.hadoop}"} if self.hdfs else set())


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    smoke: bool
    spec: Spec
    own_cluster: bool
    run: object


CASES = []


def case(kind, spec=Spec(), own_cluster=False, name=None):
    """Registers a case. `kind` is smoke (runs always) or all; a case with `own_cluster` may kill what it likes."""
    def register(function):
        CASES.append(Case(name or function.__name__.replace("_", "-"), kind == "smoke", spec, own_cluster, function))
        return function
    return register


def require_success(run: subprocess.CompletedProcess, what):
    if run.returncode != 0:
        raise AssertionError(f"{what} ended with {run.returncode}\n{run.stdout[-2000:]}\n{run.stderr[-4000:]}")
