"""The real Hadoop and Spark that the cases run: where `setup` put them, and how their programs are started."""
import os
import pathlib
import random
import shutil
import socket
import subprocess
from xml.sax.saxutils import escape

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LAB = ROOT / "build/interop"
BINARY = pathlib.Path(os.environ.get("FAIRLEAD_BINARY", ROOT / "build/fairlead"))
HADOOP_VERSION = "3.3.6"
SPARK_VERSION = "3.5.5"
# What JVMs of cases are started with: they live for seconds, and half of their processor time would go into the second compiler and a
# collector of many threads. Benches, whose JVMs are measured, empty it.
JVM = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
OPENS = [f"--add-opens=java.base/{p}=ALL-UNNAMED" for p in (
    "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util", "java.util.concurrent",
    "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar")]


def java_home():
    if "JAVA_HOME" in os.environ:
        return os.environ["JAVA_HOME"]
    return str(pathlib.Path(shutil.which("java")).resolve().parent.parent)


def java_environment():
    """JAVA_HOME for containers that run Java programs; nothing where there is no Java, as C++ jobs need none."""
    return {"JAVA_HOME": java_home()} if "JAVA_HOME" in os.environ or shutil.which("java") else {}


def java():
    return java_home() + "/bin/java"


def fetch(*peers):
    """Makes `setup` bring peers such as "hadoop-3.4.3", "spark-4.3.0", "aux"; does nothing when they are there."""
    subprocess.run([HERE / "setup", *peers], check=True)


def hadoop(version=HADOOP_VERSION):
    return LAB / f"hadoop-{version}"


def spark(version=SPARK_VERSION):
    return LAB / f"spark-{version}"


def hdfs(version=HADOOP_VERSION):
    """Jars of a NameNode and a DataNode."""
    return LAB / f"hdfs-{version}"


def aux():
    """Jars of Spark's own auxiliary service for a Java NodeManager."""
    return LAB / "aux"


def examples_jar(version=HADOOP_VERSION):
    return next(hadoop(version).glob("hadoop-mapreduce-examples-*.jar"))


def compile_java(version, classes):
    """Compiles the programs of tests/interop/java/surface against a release of Hadoop."""
    subprocess.run([java() + "c", "-nowarn", "-proc:none", "-d", classes, "-cp", f"{hadoop(version)}/*", *sorted((HERE / "java/surface").glob("*.java"))],
                   check=True)


def run_java(version, work, program, *arguments):
    """Rows that one of them prints without any cluster."""
    fetch(f"hadoop-{version}")
    classes = work / f"classes-{version}"
    compile_java(version, classes)
    run = subprocess.run([java(), "-cp", f"{classes}:{hadoop(version)}/*", program, *arguments], check=True, capture_output=True, text=True)
    return [line for line in run.stdout.splitlines() if " | " in line]


def free_ports(count):
    """Ports below the range from which the kernel takes those of outgoing connections: one that is free while its daemon restarts stays so."""
    first = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    ports = []
    for port in random.sample(range(10000, first), first - 10000):
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
        ports.append(port)
        if len(ports) == count:
            return ports
    raise AssertionError(f"{count} ports are not free")


def write_site(path, properties):
    lines = [f"  <property><name>{k}</name><value>{escape(str(v))}</value></property>" for k, v in properties.items()]
    path.write_text("<configuration>\n" + "\n".join(lines) + "\n</configuration>\n")
