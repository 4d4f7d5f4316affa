"""Java object streams and frames of Spark's RPC, made by hand: also such as no program writes. A value that stands at several places of a
message is one object, as in Java."""
import gzip
import json
import pathlib
import struct

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DEPLOY = "org.apache.spark.deploy."
MESSAGES = DEPLOY + "DeployMessages$"
OBJECT = "Ljava/lang/Object;"
WRITES, SERIALIZABLE = 1, 2


def recorded_numbers():
    """serialVersionUID by class, of Spark 4.3."""
    data = (ROOT / "tests/oracles/spark-rpc/4.3.0-classes.json.gz").read_bytes()
    return {one["class"]: one["suid"] for one in json.loads(gzip.decompress(data))}


SUIDS = recorded_numbers()


class Text:
    def __init__(self, text):
        self.data = text if isinstance(text, bytes) else text.encode()


class Array:
    def __init__(self, items, kind="[Ljava.lang.Object;"):
        self.items, self.kind = items, kind


class Object:
    """Fields by name: an int is one of 32 bits, True or False a boolean, (letter, number) another number, else a value. `written`: what its
    class' writeObject wrote, values and bytes. `shape`: fields of the class beyond those, of type B, that come first."""

    def __init__(self, kind, fields=None, written=None, suid=None, wide=0):
        self.kind, self.fields, self.written, self.wide = kind, dict(fields or {}), written, wide
        self.suid = SUIDS.get(kind, 1) if suid is None else suid


class Writer:
    def __init__(self):
        self.out = bytearray(b"\xac\xed\0\5")
        self.handles = {}  # by identity, or by what a class looks like
        self.kept = []     # so that no identity comes twice
        self.signature = Text(OBJECT)

    def number(self, code, value):
        self.out += struct.pack(code, value)

    def name(self, text):
        self.number(">H", len(text))
        self.out += text.encode()

    def take(self, key):
        self.handles[key] = 0x7E0000 + len(self.handles)

    def known(self, key):
        if key not in self.handles:
            return False
        self.out += b"\x71"
        self.number(">I", self.handles[key])
        return True

    def kind(self, name, suid, flags, fields):
        key = (name, suid, flags, tuple(fields))
        if self.known(key):
            return
        self.out += b"\x72"
        self.name(name)
        self.number(">q", suid)
        self.take(key)
        self.out += bytes([flags])
        self.number(">H", len(fields))
        for letter, field in fields:
            self.out += letter.encode()
            self.name(field)
            if letter == "L":
                self.value(self.signature)
        self.out += b"\x78\x70"

    def value(self, value):
        if value is None:
            self.out += b"\x70"
        elif isinstance(value, str):
            self.value(Text(value))
        elif self.known(id(value)):
            pass
        elif isinstance(value, Text):
            self.text(value)
        elif isinstance(value, Array):
            self.out += b"\x75"
            self.kind(value.kind, 1, SERIALIZABLE, [])
            self.mark(value)
            self.number(">i", len(value.items))
            for item in value.items:
                self.value(item)
        else:
            self.object(value)

    def mark(self, value):
        self.kept.append(value)
        self.take(id(value))

    def text(self, value):
        long = len(value.data) > 0xFFFF
        self.out += b"\x7c" if long else b"\x74"
        self.number(">Q" if long else ">H", len(value.data))
        self.out += value.data
        self.mark(value)

    def object(self, value):
        fields = [("B", "")] * value.wide
        for name, held in value.fields.items():
            letter = "Z" if isinstance(held, bool) else "I" if isinstance(held, int) else held[0] if isinstance(held, tuple) else "L"
            fields.append((letter, name))
        self.out += b"\x73"
        self.kind(value.kind, value.suid, SERIALIZABLE | (WRITES if value.written is not None else 0), fields)
        self.mark(value)
        self.out += bytes(value.wide)
        codes = {"Z": ">?", "I": ">i", "J": ">q", "D": ">d"}
        for (letter, _), held in zip(fields[value.wide:], value.fields.values()):
            if letter == "L":
                self.value(held)
            else:
                self.number(codes[letter], held[1] if isinstance(held, tuple) else held)
        if value.written is None:
            return
        for item in value.written:
            if isinstance(item, bytes):
                self.out += b"\x77" + bytes([len(item)]) + item
            else:
                self.value(item)
        self.out += b"\x78"


def stream(value):
    writer = Writer()
    writer.value(value)
    return bytes(writer.out)


# ---- values of Scala and Spark -----------------------------------------------------------------------------------------------------------


def seq(*items):
    """A List, as Scala 2.12 writes it, which is read of every build."""
    return Object("scala.collection.immutable.List$SerializationProxy", written=list(items))


def mapping(*entries):
    """A mutable.HashMap of pairs."""
    return Object("scala.collection.mutable.HashMap", written=[half for pair in entries for half in pair])


def nothing():
    return Object("scala.None$")


def boxed(number):
    return Object("java.lang.Integer", {"value": number})


def address(host="127.0.0.1", port=1):
    return Object("org.apache.spark.rpc.RpcAddress", {"port": port, "host": host})


def endpoint(name, port=1):
    return Object("org.apache.spark.rpc.netty.NettyRpcEndpointRef", {
        "endpointAddress": Object("org.apache.spark.rpc.RpcEndpointAddress", {"rpcAddress": address(port=port), "name": name})})


def command(**fields):
    return Object(DEPLOY + "Command", {"mainClass": "Job", "arguments": seq(), "environment": mapping(), "classPathEntries": seq(),
                                       "libraryPathEntries": seq(), "javaOpts": seq(), **fields})


def profile(resources=None, wide=0, number=0):
    memory = Object("org.apache.spark.resource.ExecutorResourceRequest", {"amount": ("J", 64), "resourceName": "memory", "discoveryScript": "", "vendor": ""})
    held = mapping(("memory", memory)) if resources is None else resources
    return Object("org.apache.spark.resource.ResourceProfile", {"_id": number, "executorResources": held, "taskResources": mapping()}, wide=wide)


def application(**fields):
    return Object(DEPLOY + "ApplicationDescription", {
        "name": "job", "user": "eve", "appUiUrl": "http://127.0.0.1:1", "maxCores": nothing(), "initialExecutorLimit": nothing(),
        "command": command(), "defaultProfile": profile(), **fields})


def driver(**fields):
    return Object(DEPLOY + "DriverDescription", {"cores": 1, "mem": 64, "supervise": False, "jarUrl": "file:/job.jar", "command": command(),
                                                 "resourceReqs": seq(), **fields})


def message(name, **fields):
    return Object(MESSAGES + name, fields)


def registration(description=None, **before):
    return message("RegisterApplication", **before, appDescription=description or application(), driver=endpoint("AppClient"))


def worker(name="worker-1", port=9, **fields):
    return message("RegisterWorker", **{"cores": 2, "memory": 512, "port": port, "id": name, "host": "127.0.0.1", "worker": endpoint("Worker", port),
                                        "workerWebUiUrl": "http://127.0.0.1:9", "masterAddress": address(port=7077), "resources": mapping(), **fields})


def check_existence(name):
    return Object("org.apache.spark.rpc.netty.RpcEndpointVerifier$CheckExistence", {"name": name})


# ---- frames (org.apache.spark.network.protocol) ------------------------------------------------------------------------------------------


def body(value, to="Master"):
    here = b"\1" + struct.pack(">H", 9) + b"127.0.0.1" + struct.pack(">i", 1)
    return here + here + struct.pack(">H", len(to)) + to.encode() + (value if isinstance(value, bytes) else stream(value))


def one_way(value, to="Master"):
    data = body(value, to)
    return struct.pack(">qBi", 13 + len(data), 9, len(data)) + data


def ask(value, to="Master", number=1):
    data = body(value, to)
    return struct.pack(">qBqi", 21 + len(data), 3, number, len(data)) + data
