"""A directory that looks like SPARK_HOME to the Standalone Master and Worker: two jars of class files that say how Spark 4.3 numbers its
messages (recorded in tests/oracles/spark-rpc), and nothing that could run."""
import gzip
import json
import pathlib
import re
import struct
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RELEASE = "4.3.0"
SCALA = "2.13"
PUBLIC, PRIVATE, STATIC, FINAL = 1, 2, 8, 16
WRITES_ITSELF = 1  # of a recorded class' flags


def _utf8(text):
    data = text.encode()
    return b"\x01" + struct.pack(">H", len(data)) + data


class _Constants:
    """A class file's pool: each constant once, by its number."""

    def __init__(self):
        self.data = b""
        self.numbers = {}
        self.next = 1

    def _add(self, constant, slots=1):
        if constant not in self.numbers:
            self.numbers[constant] = self.next
            self.data += constant
            self.next += slots
        return struct.pack(">H", self.numbers[constant])

    def text(self, text):
        return self._add(_utf8(text))

    def long(self, number):
        return self._add(b"\x05" + struct.pack(">q", number), 2)

    def type(self, name):
        return self._add(b"\x07" + self.text(name.replace(".", "/")))


def class_file(name, suid, fields=(), parent=None, writes_itself=False):
    """The bytes of a serializable class (Java Virtual Machine Specification, 4.1)."""
    pool = _Constants()
    flags = lambda value: struct.pack(">H", value)  # noqa: E731
    body = flags(PUBLIC) + pool.type(name) + pool.type(parent or "java.lang.Object")
    body += flags(1) + pool.type("java.io.Serializable")
    body += flags(len(fields) + 1)
    body += flags(PUBLIC | STATIC | FINAL) + pool.text("serialVersionUID") + pool.text("J") + flags(1)
    body += pool.text("ConstantValue") + struct.pack(">I", 2) + pool.long(suid)
    for field in fields:
        body += flags(PRIVATE) + pool.text(field["name"]) + pool.text(field["type"]) + flags(0)
    body += flags(int(writes_itself))
    if writes_itself:
        body += flags(PRIVATE) + pool.text("writeObject") + pool.text("(Ljava/io/ObjectOutputStream;)V") + flags(0)
    body += flags(0)
    return b"\xca\xfe\xba\xbe" + struct.pack(">HHH", 0, 52, pool.next) + pool.data + body


def make(directory):
    """Makes one there and gives its path. Classes that no recording has get a shape of nothing."""
    recorded = json.loads(gzip.decompress((ROOT / f"tests/oracles/spark-rpc/{RELEASE}-classes.json.gz").read_bytes()))
    files = {one["class"]: class_file(one["class"], one["suid"], one["fields"], one.get("parent"), bool(one.get("flags", 2) & WRITES_ITSELF))
             for one in recorded}
    source = (ROOT / "src/endpoints/spark/spark_build.cc").read_text(encoding="utf-8")
    messages = re.search(r"kMessages\[\] = \{(.*?)\};", source, re.S).group(1)
    names = [f"org.apache.spark.deploy.DeployMessages${name}" for name in re.findall(r'"([\w$]+)"', messages)]
    names += re.findall(r'"((?:org\.apache\.spark|scala)\.[\w$.]+)"', source)
    for name in names:
        files.setdefault(name, class_file(name, 1))
    jars = pathlib.Path(directory) / "spark/jars"
    jars.mkdir(parents=True)
    for jar in (f"spark-core_{SCALA}-{RELEASE}.jar", f"scala-library-{SCALA}.18.jar"):
        with zipfile.ZipFile(jars / jar, "w") as archive:
            for name, data in files.items():
                if name.startswith("scala.") == jar.startswith("scala"):
                    archive.writestr(name.replace(".", "/") + ".class", data)
    return jars.parent
