"""A YARN cluster on this machine for real clients: a resource manager and nodes, each Fairlead's or Hadoop's own, started with nothing
but Hadoop's configuration files."""
import base64
import contextlib
import getpass
import hashlib
import hmac
import json
import os
import shutil
import subprocess
import time
import urllib.request

import kdc
import peers
import tls
from daemons import Daemons
from hdfs import Hdfs
from registry import Spec

LOG4J = """log4j.rootLogger=INFO,out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
"""


class Cluster(Daemons):
    def __init__(self, directory, spec=Spec()):
        super().__init__(directory)
        self.spec = spec
        self.hadoop = peers.hadoop(spec.hadoop)
        self.conf = self.directory / "conf"
        self.java_ports = {}
        self.hdfs = Hdfs(self) if spec.hdfs else None
        self.kdc = None
        self.tls = None
        self.user = getpass.getuser()  # whose ticket clients have: staging directories belong to him
        self.ticket, self.tokens = self.user, None
        (self.scheduler, self.tracker, self.client, self.admin, self.web, self.shuffle, self.history,
         self.history_web, self.history_admin) = peers.free_ports(9)

    def host_of(self, number):
        """The address that is a node's name; 127.0.0.1 has another name, localhost, which is no place of data."""
        return f"127.0.0.{number + bool(self.spec.racks)}"

    def node_conf(self, number):
        return self.directory / f"nm{number}"

    def secure(self, core, yarn, mapred):
        """Kerberos as docs/kerberos.md sets it up; every node of this machine has the name localhost."""
        if self.kdc is None:
            self.kdc = kdc.Kdc(self.directory / "kdc", ["rm/localhost", "nm/localhost", "jhs/localhost", "hdfs/localhost", "HTTP/localhost", "livy", "alice", "bob", "games", self.user],
                               life=self.spec.ticket_life)
            (self.directory / "http-secret").write_bytes(os.urandom(32).hex().encode())  # Hadoop reads text
            (self.directory / "http-secret").chmod(0o600)
        core.update({"hadoop.security.authentication": "kerberos", "hadoop.rpc.protection": self.spec.kerberos,
                     "hadoop.security.auth_to_local": "RULE:[2:$1](rm|nm)s/.*/yarn/\nDEFAULT", "hadoop.http.authentication.type": self.spec.web_login})
        if self.spec.web_login == "kerberos":
            core.update({"hadoop.http.authentication.kerberos.principal": f"HTTP/_HOST@{kdc.REALM}",
                         "hadoop.http.authentication.kerberos.keytab": self.kdc.keytab("HTTP/localhost"),
                         "hadoop.http.authentication.signature.secret.file": self.directory / "http-secret"})
        for daemon, name in (("resourcemanager", "rm"), ("nodemanager", "nm")):
            yarn.update({f"yarn.{daemon}.principal": f"{name}/_HOST@{kdc.REALM}", f"yarn.{daemon}.keytab": self.kdc.keytab(f"{name}/localhost")})

        mapred.update({"mapreduce.jobhistory.principal": f"jhs/_HOST@{kdc.REALM}", "mapreduce.jobhistory.keytab": self.kdc.keytab("jhs/localhost")})
        words = " ".join(self.jvm())
        mapred.update({"yarn.app.mapreduce.am.command-opts": "-Xmx512m " + words, "mapred.child.java.opts": "-Xmx300m " + words})

    def encrypt_pages(self, yarn):
        """HTTPS as docs/tls.md sets it up."""
        if self.tls is None:
            self.tls = tls.Certificates(self.directory)
        yarn.update({"yarn.http.policy": "HTTPS_ONLY", "yarn.resourcemanager.webapp.https.address": f"127.0.0.1:{self.web}",
                     "ssl.server.stores.reload.interval": 200})
        if self.spec.https == "pem":
            yarn.update({"fairlead.tls.certificate": self.tls.certificate, "fairlead.tls.key": self.tls.key})
        else:
            self.tls.make_stores()

    def page(self, path=""):
        """The address of a page of the resource manager."""
        return f"{'https' if self.spec.https else 'http'}://127.0.0.1:{self.web}{path}"

    def jvm(self):
        return [*peers.JVM, *peers.OPENS, *self.jvm_kerberos()]

    def jvm_kerberos(self):
        """What a JVM needs to be told of the KDC."""
        if not self.kdc:
            return []
        return [f"-Djava.security.krb5.conf={self.kdc.directory}/krb5.conf", "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED"]

    def daemon_environment(self):
        return {**os.environ, **({"KRB5_CONFIG": self.kdc.environment["KRB5_CONFIG"], "KRB5RCACHEDIR": str(self.kdc.directory)} if self.kdc else {})}

    def write(self):
        words = " ".join(self.jvm())
        core = {"fs.defaultFS": self.hdfs.uri if self.hdfs else "file:///", "hadoop.tmp.dir": self.directory / "tmp", "ipc.client.connect.max.retries": 3}
        yarn = {
            "yarn.resourcemanager.hostname": "127.0.0.1",
            "yarn.resourcemanager.scheduler.address": f"127.0.0.1:{self.scheduler}",
            "yarn.resourcemanager.resource-tracker.address": f"127.0.0.1:{self.tracker}",
            "yarn.resourcemanager.address": f"127.0.0.1:{self.client}",
            "yarn.resourcemanager.admin.address": f"127.0.0.1:{self.admin}",
            "yarn.resourcemanager.webapp.address": f"127.0.0.1:{self.web}",
            "yarn.resourcemanager.scheduler.class": "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler",
            "yarn.scheduler.fair.allocation.file": self.conf / "fair-scheduler.xml",
            "yarn.scheduler.minimum-allocation-mb": 256,
            "yarn.scheduler.increment-allocation-mb": 256,
            "yarn.scheduler.maximum-allocation-mb": 4096,
            "yarn.resourcemanager.connect.retry-interval.ms": 1000,  # masters and nodes come back soon after a restart
            "yarn.client.nodemanager-connect.retry-interval-ms": 1000,
            "yarn.nodemanager.resource.memory-mb": 6144,
            "yarn.nodemanager.resource.cpu-vcores": 6,
            "yarn.nodemanager.aux-services": "mapreduce_shuffle,spark_shuffle",
            "yarn.nodemanager.vmem-check-enabled": "false",
            "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": 99.5,
            "spark.shuffle.service.port": self.shuffle,
            "yarn.application.classpath": f"{self.hadoop}/*",
        }
        mapred = {
            "mapreduce.framework.name": "yarn",
            "mapreduce.job.queuename": "root.alpha",
            "mapreduce.application.classpath": f"{self.hadoop}/*",
            "mapreduce.shuffle.port": 0,  # every node finds a free one
            "mapreduce.jobhistory.address": f"127.0.0.1:{self.history}",
            "mapreduce.jobhistory.webapp.address": f"127.0.0.1:{self.history_web}",
            "mapreduce.jobhistory.admin.address": f"127.0.0.1:{self.history_admin}",
            "yarn.app.mapreduce.am.staging-dir": self.directory / "staging",
            "yarn.app.mapreduce.am.resource.mb": 768,
            "yarn.app.mapreduce.am.command-opts": "-Xmx512m " + words,
            "mapreduce.map.memory.mb": 512,
            "mapreduce.reduce.memory.mb": 512,
            "mapred.child.java.opts": "-Xmx300m " + words,
        }
        if self.spec.racks:
            core.update({"net.topology.node.switch.mapping.impl": "HostNameTable", "net.topology.table.file.name": self.directory / "racks"})
            (self.directory / "racks").write_text("".join(f"{self.host_of(node)} {rack}\n" for node, rack in enumerate(self.spec.racks, 1)))
        if self.spec.rm == "java":
            store = "org.apache.hadoop.yarn.server.resourcemanager.recovery.FileSystemRMStateStore"
            yarn.update({"yarn.resourcemanager.recovery.enabled": "true", "yarn.resourcemanager.store.class": store,
                         "yarn.resourcemanager.fs.state-store.uri": f"file://{self.directory}/rm-state",
                         "yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms": 1000})
        if self.spec.capacity:
            yarn["yarn.resourcemanager.scheduler.class"] = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler"
            self.write_capacity(self.spec.capacity)
        if self.spec.kerberos:
            self.secure(core, yarn, mapred)
        if self.spec.https:
            self.encrypt_pages(yarn)
            mapred["mapreduce.application.classpath"] += f",{self.conf}"  # tasks read ssl-client.xml
        if self.spec.policy:
            core["hadoop.security.authorization"] = "true"
        yarn.update({key: str(value).replace("{directory}", str(self.directory)) for key, value in self.spec.yarn_site})
        for number in range(len(self.spec.nodes) + 1):
            directory = self.conf if number == 0 else self.node_conf(number)
            directory.mkdir(parents=True, exist_ok=True)
            own = dict(yarn)
            if number:
                host = self.host_of(number)
                own.update({
                    "yarn.nodemanager.hostname": host,
                    "yarn.nodemanager.address": f"{host}:0",
                    "yarn.nodemanager.webapp.address": f"{host}:0",
                    "yarn.nodemanager.webapp.https.address": f"{host}:0",
                    "yarn.nodemanager.local-dirs": self.directory / f"nm{number}-local",
                    "yarn.nodemanager.log-dirs": self.directory / f"nm{number}-logs",
                })
                if self.spec.nodes[number - 1] == "java":
                    own.update(self.java_node_keys(number))
                if "java" in self.spec.nodes:
                    own.update(self.one_shuffle_port(number))
            peers.write_site(directory / "core-site.xml", core)
            peers.write_site(directory / "hdfs-site.xml", self.hdfs.site() if self.hdfs else {})
            peers.write_site(directory / "yarn-site.xml", own)
            peers.write_site(directory / "mapred-site.xml", mapred)
            if self.spec.https == "jks":
                self.tls.write_sites(directory)
            if self.spec.policy:
                peers.write_site(directory / "hadoop-policy.xml", dict(self.spec.policy))
        (self.conf / "fair-scheduler.xml").write_text(self.spec.allocations)
        (self.directory / "log4j-daemon.properties").write_text(LOG4J)

    def write_capacity(self, keys):
        """A capacity-scheduler.xml of these keys below yarn.scheduler.capacity."""
        self.conf.mkdir(parents=True, exist_ok=True)
        peers.write_site(self.conf / "capacity-scheduler.xml", {f"yarn.scheduler.capacity.{key}": value for key, value in keys})

    def one_shuffle_port(self, number):
        """Executors take one port for all nodes, and a Java node's service binds it on every address: the first node serves all."""
        if number > 1:
            return {"spark.shuffle.service.port": peers.free_ports(1)[0]}
        return {"fairlead.shuffle.extra-local-roots": self.directory}  # a key of Fairlead's nodes; it opens all addresses too

    def java_node_keys(self, number):
        """What a Java NodeManager needs to be told besides: its auxiliary services' classes, and a port that outlives a restart."""
        aux = "yarn.nodemanager.aux-services"
        # A node's tickets are of its machine's name, wherever it listens.
        own = {"yarn.nodemanager.principal": f"nm/localhost@{kdc.REALM}"} if self.kdc else {}
        return {
            **own,
            f"{aux}.mapreduce_shuffle.class": "org.apache.hadoop.mapred.ShuffleHandler",
            f"{aux}.spark_shuffle.class": "org.apache.spark.network.yarn.YarnShuffleService",
            f"{aux}.spark_shuffle.classpath": f"{peers.aux()}/*",
            "spark.yarn.shuffle.stopOnFailure": "false",
            "yarn.nodemanager.recovery.enabled": "true",
            "yarn.nodemanager.recovery.dir": self.directory / f"nm{number}-state",
            "yarn.nodemanager.recovery.supervised": "true",
            "yarn.nodemanager.address": f"{self.host_of(number)}:{self.java_ports.setdefault(number, peers.free_ports(1)[0])}",
            "yarn.nodemanager.localizer.address": f"{self.host_of(number)}:0",
            "yarn.nodemanager.env-whitelist": "JAVA_HOME,HADOOP_COMMON_HOME,HADOOP_HDFS_HOME,HADOOP_CONF_DIR,HADOOP_YARN_HOME",
        }

    def spawn_java(self, name, heap, conf, main, jars=None):
        """`jars`: a directory of other ones than the spec's release of Hadoop."""
        environment = {**os.environ, "HADOOP_CONF_DIR": str(conf), "JAVA_HOME": peers.java_home(), **{
            f"HADOOP_{part}_HOME": str(self.directory) for part in ("COMMON", "YARN", "HDFS")}}
        log4j = f"-Dlog4j.configuration=file:{self.directory}/log4j-daemon.properties"
        before = f"{self.secure_io()}:" if self.kdc else ""
        self.spawn(name, [peers.java(), f"-Xmx{heap}m", *self.jvm(), log4j, "-cp", f"{before}{conf}:{jars or self.hadoop}/*", main],
                   env=environment, cwd=self.directory)

    def secure_io(self):
        """The compiled class of tests/interop/java/secure_io."""
        classes = self.directory / "secure-io"
        if not classes.exists():
            subprocess.run([peers.java() + "c", "-nowarn", "-proc:none", "-d", classes, "-cp", f"{self.hadoop}/*",
                            peers.HERE / "java/secure_io/SecureIOUtils.java"], check=True)
        return classes

    def start_rm(self, heap=512):
        """`heap`: of a Java resource manager, in MiB."""
        if self.spec.rm == "java":
            self.spawn_java("rm", heap, self.conf, "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager")
        else:
            self.spawn("rm", [peers.BINARY, "rm", "--hadoop-conf", self.conf], env=self.daemon_environment())

    def start_nm(self, number):
        conf = self.node_conf(number)
        if self.spec.nodes[number - 1] == "java":
            self.spawn_java(f"nm{number}", 384, conf, "org.apache.hadoop.yarn.server.nodemanager.NodeManager")
        else:
            self.spawn(f"nm{number}", [peers.BINARY, "nm", "--hadoop-conf", conf], env={**self.daemon_environment(), **peers.java_environment()})

    def start_history(self):
        self.spawn_java("history", 256, self.conf, "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer")

    def start(self):
        self.write()
        if self.spec.rm is None:
            return
        if self.hdfs:
            self.hdfs.start()
        self.start_rm()
        for number in range(1, len(self.spec.nodes) + 1):
            self.start_nm(number)
        if self.spec.history:
            self.start_history()
        self.wait_for_nodes(len(self.spec.nodes))

    def wait_for_nodes(self, count):
        self.wait(lambda: self.get("/ws/v1/cluster/metrics")["clusterMetrics"]["activeNodes"] == count, f"{count} active nodes", 120)

    def stop(self):
        super().stop()
        if self.kdc:
            self.kdc.stop()

    def restart(self, *names):
        """kill -9 of each daemon, then each again; returns when all nodes are active."""
        for name in names:
            self.kill(name)
        for name in names:
            if name == "rm":
                self.start_rm()
            else:
                self.start_nm(int(name.removeprefix("nm")))
        self.wait_for_nodes(len(self.spec.nodes))

    def cookie(self, user, kind="kerberos-dt", lives=60, secret=None):
        """What Hadoop's Signer makes of a login: whoever has the daemons' secret can."""
        text = f"u={user}&p={user}@{kdc.REALM}&t={kind}&e={int((time.time() + lives) * 1000)}"
        signature = hmac.new(secret or (self.directory / "http-secret").read_bytes(), text.encode(), hashlib.sha256).digest()
        return f'hadoop.auth="{text}&s={base64.b64encode(signature).decode()}"'

    def login(self):
        """The headers of whoever asks the pages."""
        return {"Cookie": self.cookie(self.user)} if self.kdc and self.spec.web_login == "kerberos" else {}

    def get(self, path):
        request = urllib.request.Request(self.page(path), headers={"Accept": "application/json", **self.login()})
        with urllib.request.urlopen(request, timeout=10, context=self.tls and self.tls.trusting()) as answer:
            return json.load(answer)

    def send(self, method, path, body=None):
        request = urllib.request.Request(self.page(f"{path}?user.name=root"), data=json.dumps(body).encode() if body is not None else b"", method=method,
                                         headers={"Content-Type": "application/json", "Accept": "application/json", **self.login()})
        with urllib.request.urlopen(request, timeout=30, context=self.tls and self.tls.trusting()) as answer:
            return json.loads(answer.read() or b"null")

    def new_application(self):
        return self.send("POST", "/ws/v1/cluster/apps/new-application")["application-id"]

    def submit_sleeper(self, seconds=300, app_id=None, queue="root.alpha"):
        """An application of one container that sleeps; acknowledged when this returns. Whoever got no answer submits `app_id` again, as YarnClient does."""
        app_id = app_id or self.new_application()
        self.send("POST", "/ws/v1/cluster/apps", {
            "application-id": app_id, "application-name": "sleeper", "queue": queue, "max-app-attempts": 1,
            "am-container-spec": {"commands": {"command": f"sleep {seconds}"}}, "resource": {"memory": 256, "vCores": 1}})
        return app_id

    def end_app(self, app_id):
        self.send("PUT", f"/ws/v1/cluster/apps/{app_id}/state", {"state": "KILLED"})

    def has_container(self, app_id):
        """Its container was started: it outlives the manager from now on."""
        app = self.app(app_id)
        return app["runningContainers"] == 1 and "AM container is launched" in app["diagnostics"]

    def app(self, app_id):
        return self.get("/ws/v1/cluster/apps/" + app_id)["app"]

    def apps(self):
        """All applications that the resource manager knows, oldest first."""
        apps = (self.get("/ws/v1/cluster/apps")["apps"] or {}).get("app", [])
        return sorted(apps, key=lambda app: app["startedTime"])

    @contextlib.contextmanager
    def logins(self, ticket=None, tokens=None):
        """Clients that start meanwhile have this principal's ticket, if any, and the tokens of this file."""
        self.ticket, self.tokens = ticket, tokens
        try:
            yield
        finally:
            self.ticket, self.tokens = self.user, None

    def client_environment(self):
        own = os.environ
        if self.kdc:
            own = self.kdc.cache(self.ticket) if self.ticket else self.kdc.without_ticket("nobody")
        if self.tokens:
            own = {**own, "HADOOP_TOKEN_FILE_LOCATION": str(self.tokens)}
        return {**own, "HADOOP_CONF_DIR": str(self.conf), "YARN_CONF_DIR": str(self.conf), "JAVA_HOME": peers.java_home()}

    def java_command(self, main, *arguments):
        """The words that run a main class, or a single source file, with Hadoop's client classes and this cluster's configuration."""
        command = [peers.java(), "-Xmx512m", *self.jvm(), "-cp", f"{self.conf}:{self.hadoop}/*", main, *arguments]
        return [str(word) for word in command]

    def java(self, main, *arguments, **kwargs):
        return subprocess.run(self.java_command(main, *arguments), capture_output=True, text=True, env=self.client_environment(), **kwargs)

    def example_command(self, *arguments):
        """As java_command, for one of MapReduce's examples."""
        return self.java_command("org.apache.hadoop.util.RunJar", peers.examples_jar(self.spec.hadoop), *arguments)

    def java_classes(self):
        """The compiled programs of tests/interop/java/surface."""
        classes = self.directory / "classes"
        if not classes.exists():
            peers.compile_java(self.spec.hadoop, classes)
        return classes

    def program_command(self, main, *arguments):
        """The words that run one of them against this cluster."""
        return [str(c) for c in (peers.java(), "-Xmx512m", *self.jvm(), "-cp",
                                 f"{self.java_classes()}:{self.conf}:{self.hadoop}/*", main, *arguments)]

    def example(self, *arguments, timeout=300, **kwargs):
        """Runs one of MapReduce's examples."""
        return subprocess.run(self.example_command(*arguments), capture_output=True, text=True, env=self.client_environment(), timeout=timeout,
                              **kwargs)

    def spark_command(self, *arguments):
        """The words of a spark-submit of the spec's release on this cluster, and its environment."""
        home = peers.spark(self.spec.spark)
        python = shutil.which("python3")
        work = self.directory / "spark"
        work.mkdir(exist_ok=True)
        words = [*peers.JVM, *self.jvm_kerberos()]
        command = [home / "bin/spark-submit", "--master", "yarn"]
        for key, value in {
                "spark.yarn.jars": f"local:{home}/jars/*", "spark.pyspark.python": python, "spark.pyspark.driver.python": python,
                "spark.driver.memory": "512m", "spark.executor.memory": "512m", "spark.executor.cores": 1, "spark.yarn.am.memory": "512m",
                "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": 4,
                **dict.fromkeys(("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions", "spark.yarn.am.extraJavaOptions"), " ".join(words)),
                "spark.yarn.queue": "root.alpha", "spark.shuffle.service.port": self.shuffle, "spark.hadoop.fs.defaultFS": "file:///",
                "spark.yarn.stagingDir": f"file://{work}/staging"}.items():
            command += ["--conf", f"{key}={value}"]
        environment = {**self.client_environment(), "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(work / "local"),
                       "SPARK_LAUNCHER_OPTS": " ".join(peers.JVM), "SPARK_SUBMIT_OPTS": " ".join(self.jvm_kerberos())}
        return [str(c) for c in command + list(arguments)], environment

    def spark_submit(self, *arguments, **kwargs):
        command, environment = self.spark_command(*arguments)
        return subprocess.run(command, capture_output=True, text=True, env=environment, **kwargs)
