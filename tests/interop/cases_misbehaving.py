"""Masters, clients and strangers that do not do what they should."""
import concurrent.futures
import contextlib
import dataclasses
import random
import re
import socket

import recordings
import rpc
from cases_yarn import SURFACE, rows_of
from registry import case

MASTERS = dataclasses.replace(SURFACE, yarn_site=SURFACE.yarn_site + (("yarn.am.liveness-monitor.expiry-interval-ms", "60000"),))


# Where Fairlead is meant to differ (docs/yarn-compatibility.md).
DIFFERS = {
    "ask.never-opportunistic": "1 <memory:256, vCores:1> priority=9 .*",
    "token.(garbage|empty)|nm.nm-token-garbage": r"! .*(SecretManager\$InvalidToken|SaslException): .*",
    # The bytes as they came are what the password signs; Hadoop writes them anew first.
    "token.changed-identifier": r"! javax.security.sasl.SaslException: .* Mismatched response.",
    "nm.localization": r"\{container_.*=\[\]\}",
    "nm.start-garbage-token": r"! .*SecretManager\$InvalidToken: .*",
    # Hadoop forgets how large the container was.
    "release.(not-started|running)": ".* exit=-100 diagnostics=Container released by application capability=<memory:256, vCores:1> .*",
    # Hadoop's monitor looks every three seconds and the recording's machine was too slow to fill its memory; here the kernel looks.
    "master.too-much-memory": r"FAILED FAILED .* exitCode: -104\\n.* beyond the 'PHYSICAL' memory limit\. .*",
    # An end by signal is told with the signal's name, in one line more than Hadoop's.
    "master.killed": r"FAILED FAILED .*Killed by external signal\\n\[<time>\]Exit code 137 stands for signal 9 \(SIGKILL\)\.\\nFor more detailed .*",
    "master.terminated": r"FAILED FAILED .*Killed by external signal\\n\[<time>\]Exit code 143 stands for signal 15 \(SIGTERM\)\.\\nFor more detailed .*",
    # Whether the finished attempt is forgotten yet.
    "token.after-end": "2|! .*(ApplicationAttemptNotFoundException|InvalidToken): .*",
}


def master_case(section):
    """A section of MasterSurface.java against its recording."""
    @case("all", spec=MASTERS, name=f"master-{section}")
    def run(cluster, work):
        recordings.compare(f"master-{section}", rows_of(cluster, work, "MasterSurface", section), work, DIFFERS)


for _section in ("processes", "order", "asks", "releases", "tokens", "node-calls", "unmanaged", "kept-containers", "silent"):
    master_case(_section)


LATE = dataclasses.replace(SURFACE, yarn_site=SURFACE.yarn_site + (
    ("yarn.resourcemanager.rm.container-allocation.expiry-interval-ms", "3000"),))


@case("all", spec=LATE, name="master-late")
def late(cluster, work):
    recordings.compare("master-late", rows_of(cluster, work, "MasterSurface", "late"), work, DIFFERS)


def limits_case(profile):
    """A call beyond what one application may ask for is refused whole; the next goes on with the same number."""
    spec = dataclasses.replace(MASTERS, yarn_site=MASTERS.yarn_site + (("fairlead.scheduler.profile", profile),))

    @case("all", spec=spec, name=f"master-limits-{profile}")
    def run(cluster, work):
        first, beyond, again = rows_of(cluster, work, "MasterLimits")
        assert first == "limits.first | response 1", first
        assert beyond.startswith("limits.keys | ! org.apache.hadoop.yarn.exceptions.InvalidResourceRequestException: "), beyond
        assert again == "limits.again | response 2", again


limits_case("fairlead")
limits_case("yarn-fair")


HMAC = SURFACE.yarn_site + (("hadoop.security.secret-manager.key-generator.algorithm", "HmacSHA256"),)


def hmac_case(name, **daemons):
    """Tokens under another hash, which Hadoop 3.5 can choose, between its daemons and Fairlead's."""
    @case("all", spec=dataclasses.replace(SURFACE, hadoop="3.5.0", yarn_site=HMAC, **daemons), name=name)
    def run(cluster, work):
        rows = rows_of(cluster, work, "MasterSurface", "releases")
        assert any(row.startswith("container.exit-42 | ") and " exit=42 " in row for row in rows), rows


hmac_case("hmac-sha256-java-nodes", nodes=("java",))
hmac_case("hmac-sha256-java-rm", rm="java", nodes=("fairlead",))


def bad_inputs():
    """What a stranger may send, by name."""
    hello = rpc.preamble() + rpc.context()
    good = rpc.call("getClusterMetrics")
    header = rpc.delimited(rpc.request_header(0))
    sasl = rpc.preamble(0xDF)
    return {
        "nothing": b"",
        "half a preamble": b"hrp",
        "wrong magic": rpc.preamble(magic=b"hrpx") + rpc.context() + good,
        "http": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "tls": bytes.fromhex("160301020001000102"),
        "old version": rpc.preamble(version=7) + good,
        "very old version": rpc.preamble(version=2) + good,
        "new version": rpc.preamble(version=10) + good,
        "unknown auth": rpc.preamble(auth=0x55) + good,
        "kerberos": rpc.preamble(auth=0x51) + good,
        "no context": rpc.preamble() + good,
        "context twice": hello + rpc.context(),
        "context without user": rpc.preamble() + rpc.context(user=None) + good,
        "context garbage": rpc.preamble() + rpc.frame(rpc.delimited(rpc.request_header(rpc.CONTEXT)), rpc.delimited(b"\xff\xff\xff")),
        "negative length": hello + b"\xff\xff\xff\xff" + b"x" * 20,
        "2 GiB announced": hello + b"\x7f\xff\xff\xff" + b"x" * 20,
        "2 GiB announced at once": rpc.preamble() + b"\x7f\xff\xff\xff",
        "empty frame": hello + rpc.frame(),
        "half a frame": hello + good[:20],
        "header garbage": hello + rpc.frame(rpc.delimited(b"\xff\xff\xff\xff")),
        "header without operation": hello + rpc.frame(rpc.delimited(rpc.field(1, 2) + rpc.field(3, 0) + rpc.field(4, b"c" * 16))),
        "header without kind": hello + rpc.frame(rpc.delimited(rpc.field(2, 0) + rpc.field(3, 0) + rpc.field(4, b"c" * 16))),
        "operation close": hello + rpc.frame(rpc.delimited(rpc.request_header(0, operation=2))),
        "kind writable": hello + rpc.frame(rpc.delimited(rpc.request_header(0, kind=1)), b"abc"),
        "kind builtin": hello + rpc.frame(rpc.delimited(rpc.request_header(0, kind=0)), b"abc"),
        "call id -7": hello + rpc.frame(rpc.delimited(rpc.request_header(-7)), b"abc"),
        "ping": hello + rpc.frame(rpc.delimited(rpc.request_header(rpc.PING))) + good,
        "no method header": hello + rpc.frame(header),
        "method header garbage": hello + rpc.frame(header, rpc.delimited(b"\xff\xff")),
        "method header incomplete": hello + rpc.frame(header, rpc.delimited(rpc.field(1, "getClusterMetrics"))),
        "unknown protocol": hello + rpc.call("getClusterMetrics", protocol="org.example.NoSuchProtocol"),
        "protocol of another port": hello + rpc.call("get", protocol="org.apache.hadoop.hdfs.protocol.ClientProtocol"),
        "unknown method": hello + rpc.call("noSuchMethod"),
        "protocol version 2": hello + rpc.call("getClusterMetrics", version=2),
        "request garbage": hello + rpc.call("getApplicationReport", b"\xff\xff\xff\xff\xff"),
        "request with a lie about its length": hello + rpc.call("getApplicationReport", b"\x0a\x7f\x01"),
        "request missing required fields": hello + rpc.call("moveApplicationAcrossQueues"),
        "no request": hello + rpc.frame(header, rpc.delimited(rpc.field(1, "getClusterMetrics") + rpc.field(2, rpc.CLIENT_PROTOCOL) + rpc.field(3, 1))),
        "unknown fields": hello + rpc.call("getClusterMetrics", rpc.field(77, "x") + rpc.field(78, 5)),
        "sasl unasked": hello + rpc.sasl(1),
        "sasl negotiate": sasl + rpc.sasl(1),
        "sasl negotiate twice": sasl + rpc.sasl(1) + rpc.sasl(1),
        "sasl response at once": sasl + rpc.sasl(4, b"abc"),
        "sasl success": sasl + rpc.sasl(0),
        "sasl wrap": sasl + rpc.sasl(5, b"abc"),
        "sasl unknown method": sasl + rpc.sasl(1) + rpc.sasl(2, b"", "NOSUCH"),
        "sasl token garbage": sasl + rpc.sasl(1) + rpc.sasl(2, b"garbage", "TOKEN"),
        "sasl token empty digest": sasl + rpc.sasl(1) + rpc.sasl(2, b'charset=utf-8,username="",realm="default"', "TOKEN"),
        "sasl then call": sasl + rpc.context() + good,
        "sasl garbage": sasl + rpc.frame(rpc.delimited(rpc.request_header(rpc.SASL, client=b"")), rpc.delimited(b"\xff\xff\xff")),
        "random bytes": bytes(random.Random(5).randrange(256) for _ in range(4000)),
        "random bytes after hello": hello + bytes(random.Random(6).randrange(256) for _ in range(4000)),
    }


# Hadoop closes without a word, or says nothing and waits, or has another text for the same class.
_UNREADABLE = r".* FATAL .*RpcServerException Error decoding .*InvalidProtocolBufferException: .* closed"
_DIGEST = r"-33 SUCCESS .*; -33 FATAL javax.security.sasl.SaslException DIGEST-MD5: digest response format violation\. .* closed"
SAYS_WHY = {
    r"\w+: (context|header|sasl) garbage|\w+: empty frame": _UNREADABLE,
    r"\w+: (request garbage|request with a lie.*|no request)": r"0 ERROR .*\.InvalidProtocolBufferException .* detail=1 open",
    r"\w+: (negative length|2 GiB.*|random bytes after hello)": r"-1 FATAL java.io.IOException .*data length.* detail=13 closed",
    r"\w+: (no method header|method header.*)": r"0 FATAL .*RpcServerException IPC server unable to read call parameters.* closed",
    r"\w+: context without user": r"-3 FATAL .*AccessControlException The connection context names no user detail=15 closed",
    r"\w+: sasl (response at once|wrap)": r"-33 FATAL javax.security.sasl.SaslException Client sent .* detail=15 closed",
    r"(master|node): sasl token .*": _DIGEST,
    # Without delegation tokens the port speaks SIMPLE alone.
    r"client: sasl (negotiate twice|unknown method|token .*)": r"-33 SUCCESS .*; -33 FATAL .*SASL protocol not requested by client .* closed",
}


def rpc_ports(cluster):
    """The five RPC ports by name; the node's is that of the first node."""
    nodes = cluster.get("/ws/v1/cluster/nodes")["nodes"]["node"]
    host, _, port = next(n for n in nodes if n["nodeHostName"] != "127.0.0.2")["id"].rpartition(":")
    return {"client": ("127.0.0.1", cluster.client), "master": ("127.0.0.1", cluster.scheduler), "tracker": ("127.0.0.1", cluster.tracker),
            "admin": ("127.0.0.1", cluster.admin), "node": ("127.0.0.1" if host == "localhost" else host, int(port))}


@case("all", spec=SURFACE)
def bad_bytes(cluster, work):
    """What each RPC port answers to bytes that are no proper call, and that it serves the next caller all the same."""
    def one(port, address, name, data):
        received, closed = rpc.talk(address, data)
        text = "; ".join(rpc.answers(received))
        text = re.sub(r"RPC length \d+", "RPC length <limit>", text)
        return f"{port}: {name} | {text} {'closed' if closed else 'open'}"

    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        jobs = [pool.submit(one, port, address, name, data) for port, address in rpc_ports(cluster).items()
                for name, data in bad_inputs().items()]
        rows = [job.result() for job in jobs]
    rows.append("afterwards | " + str(cluster.get("/ws/v1/cluster/metrics")["clusterMetrics"]["activeNodes"]) + " nodes")
    recordings.compare("bad-bytes", rows, work, SAYS_WHY)


@case("all", spec=SURFACE)
def silent_connections(cluster, work):
    """A thousand connections that say nothing on each port: others are served meanwhile, and little memory is kept for them."""
    def memory(name):
        with open(f"/proc/{cluster.processes[name].pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

    before = {name: memory(name) for name in ("rm", "nm1")}
    with contextlib.ExitStack() as stack:
        for port, address in rpc_ports(cluster).items():
            for at in range(1000):
                peer = stack.enter_context(socket.create_connection(address, timeout=10))
                if at % 2:
                    peer.sendall(rpc.preamble()[:5] if at % 4 == 1 else rpc.preamble() + b"\x00\x10\x00\x00")
        received, _ = rpc.talk(("127.0.0.1", cluster.client), rpc.preamble() + rpc.context() + rpc.call("getClusterMetrics"))
        assert rpc.answers(received)[0].startswith("0 SUCCESS"), rpc.answers(received)
        after = {name: memory(name) for name in before}
    grown = {name: after[name] - before[name] for name in before}
    assert all(kib < 64 * 1024 for kib in grown.values()), f"memory has grown by {grown} KiB"
