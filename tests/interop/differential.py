"""Two shuffle services held against each other on random exchanges: what scripts of frames are answered by each, and which differences are
meant. shuffle_differential.py and merge_differential.py say which scripts, and how they are played."""
import argparse
import collections
import concurrent.futures
import dataclasses
import hashlib
import itertools
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import peers
import shuffle_scripts as frames

PATIENCE = 30  # seconds in which an answer must come
PROGRESS = 60  # seconds between two lines that say how far a comparison is
NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, ESTABLISHED, CLOSE_WAIT = 4, 20, 1, 8  # of the kernel, sock_diag(7)
FENCE = 0x7e57_0000_0000_0000  # request ids of fences begin here


# ---- services --------------------------------------------------------------------------------------------------------

class Service:
    """A running service; it keeps nothing but its log."""

    def __init__(self, name, command, port, log):
        self.name, self.port, self.log = name, port, log
        with open(log, "ab") as out:
            self.process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=out, start_new_session=True, cwd=log.parent, env={**os.environ, "LC_ALL": "C.UTF-8"})
        deadline = time.monotonic() + 60
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), 1).close()
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.stop()
                    raise AssertionError(f"{name} did not start; its log: {log}")
                time.sleep(0.05)

    def stop(self):
        self.process.kill()
        self.process.wait()


def spark_release(home):
    """"3.5.5", from the name of a jar."""
    return next(re.fullmatch(r"spark-core_\S+?-(\d\S*)\.jar", jar.name)[1] for jar in home.glob("jars/spark-core_*.jar"))


# ---- one script on one service ---------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Answer:
    """What can be compared of an answering frame; `body` has stream numbers replaced. `cut`: the connection ended before its end."""
    kind: str
    about: str
    body: bytes
    cut: bool = False

    def __str__(self):
        return f"{self.kind}({self.about}) {frames.printable(self.body)}" + (", and then the connection ended" if self.cut else "")


NAMES = ["ChunkFetchRequest", "ChunkFetchSuccess", "ChunkFetchFailure", "RpcRequest", "RpcResponse", "RpcFailure", "StreamRequest", "StreamResponse", "StreamFailure",
         "OneWayMessage", "UploadStream", "MergedBlockMetaRequest", "MergedBlockMetaSuccess"]
CLOSED = Answer("closed", "", b"")
SILENT = Answer("silent", f"for {PATIENCE} s", b"")


class Connection:
    def __init__(self, port):
        self.peer = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port, self.own = port, self.peer.getsockname()[1]
        self.received = b""
        self.ended = False
        self.silent = False  # neither answered nor closed in time

    def send(self, data, shut=False, pieces=1):
        size = len(data) // pieces + 1
        try:
            for at in range(0, len(data), size):
                self.peer.sendall(data[at:at + size])
            if shut:
                self.peer.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has been closed; what came before is still to be read

    def need(self, count):
        """Whether so many bytes are there before the connection ends."""
        while len(self.received) < count and not self.ended:
            try:
                part = self.peer.recv(1 << 20)
            except TimeoutError:
                self.silent = True
                part = b""
            except OSError:  # reset
                part = b""
            self.ended = not part
            self.received += part
        return len(self.received) >= count

    def taken(self):
        """Returns when the service has read all that was sent, or has closed, at the latest when patience ends."""
        deadline = time.monotonic() + PATIENCE
        while self.unread() > 0 and time.monotonic() < deadline:
            time.sleep(0.001)

    def unread(self):
        """Bytes that wait for the service in the kernel, an end of the connection counted as one; 0 where the service has closed."""
        kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_SOCK_DIAG)
        with kernel:
            there = socket.inet_aton("127.0.0.1") + bytes(12)
            asked = struct.pack("=BBBBI", socket.AF_INET, socket.IPPROTO_TCP, 0, 0, 0xffffffff) + struct.pack(">HH", self.port, self.own) + there + there + bytes(4) + b"\xff" * 8
            kernel.send(struct.pack("=IHHII", 16 + len(asked), SOCK_DIAG_BY_FAMILY, 1, 0, 0) + asked)
            answer = kernel.recv(4096)
        if struct.unpack_from("=H", answer, 4)[0] != SOCK_DIAG_BY_FAMILY:
            return 0  # there is no such connection
        state, (unread,) = answer[17], struct.unpack_from("=I", answer, 72)
        return unread + (state == CLOSE_WAIT) if state in (ESTABLISHED, CLOSE_WAIT) else 0

    def take(self, count):
        data, self.received = self.received[:count], self.received[count:]
        return data

    def close(self):
        self.peer.close()


class Play:
    """A script on a service: `answers` holds a list for each step, `files` what is left in the end, where that is compared. Its kinds say how a step() is played."""

    def __init__(self, service, script, steps):
        self.service, self.script, self.steps = service, script, steps
        self.streams = {}   # request id -> stream id
        self.of = {}        # request id -> connection on which it was opened
        self.connections = {}
        self.fences = 0
        self.patient = False  # waits so long for what nobody answers that a busy machine makes no difference
        self.answers = []
        self.files = None

    def run(self):
        self.script.tree.make()
        try:
            for step in self.steps:
                self.answers.append(self.step(step))
            for number in sorted(self.connections):
                self.answers.append(self.fenced(self.connections[number]))
        finally:
            for connection in self.connections.values():
                connection.close()
        self.files = self.script.tree.remaining()
        self.script.tree.remove()
        return self

    def fenced(self, connection):
        """What comes before the answer to a message of an unknown type."""
        self.fences += 1
        number = FENCE + self.fences
        connection.send(frames.rpc(number, b"\x63"))
        found = []
        while not connection.ended:
            answer = self.one(connection, None)
            if answer and answer.about == str(number):
                return found
            found.append(answer or (SILENT if connection.silent else CLOSED))
        return found

    def read(self, connection, step, count):
        """As many answers, or all until the connection ends."""
        found = []
        while count is None or len(found) < count:
            answer = self.one(connection, step)
            if answer is None:
                return found + [SILENT if connection.silent else CLOSED]
            found.append(answer)
            if answer.cut:
                break
        return found

    def one(self, connection, step):
        """The next answer; None when there is none."""
        if not connection.need(9):
            return Answer("bytes", "", connection.received, True) if connection.received and connection.take(9) else None
        (length,) = struct.unpack_from(">q", connection.received)
        kind = connection.received[8]
        if kind >= len(NAMES) or not 8 < length:
            return Answer("not a frame", "", connection.take(1 << 30))
        whole = connection.need(length)
        payload = connection.take(length)[9:]
        if kind == frames.STREAM_RESPONSE and whole:
            return self.stream_response(connection, payload)
        return self.shown(kind, payload, length, not whole, step)

    def shown(self, kind, payload, length, cut, step):
        name = NAMES[kind]
        if kind in (frames.CHUNK_SUCCESS, frames.CHUNK_FAILURE):
            stream, index = struct.unpack_from(">qi", payload)
            about = f"{self.masked(str(stream).encode()).decode()}, {index}" + (f", length {length}" if cut else "")
            return Answer(name, about, payload[12:] if kind == frames.CHUNK_SUCCESS else self.first_line(payload[16:]), cut)
        if kind == frames.STREAM_FAILURE:
            (size,) = struct.unpack_from(">i", payload)
            return Answer(name, frames.printable(self.masked(payload[4:4 + size])), self.first_line(payload[8 + size:]), cut)
        (request,) = struct.unpack_from(">q", payload)
        body = self.first_line(payload[12:]) if kind == frames.RPC_FAILURE else payload[12:]
        if kind == frames.RPC_RESPONSE and body[:1] == b"\3" and len(body) == 13 and step:
            (self.streams[request],) = struct.unpack_from(">q", body, 1)
            self.of[request] = step.connection
            body = b"StreamHandle of %d" % struct.unpack_from(">i", body, 9)
        return Answer(name, str(request), body, cut)

    def stream_response(self, connection, payload):
        (size,) = struct.unpack_from(">i", payload)
        (count,) = struct.unpack_from(">q", payload, 4 + size)
        about = frames.printable(self.masked(payload[4:4 + size]))
        cut = not connection.need(count)
        return Answer("StreamResponse", about + (f", length {count}" if cut else ""), connection.take(count), cut)

    def first_line(self, data):
        return self.masked(data.split(b"\n")[0])

    def masked(self, data):
        """The text with streams named by the request that opened them, and without the class of Netty's buffer, which depends on how the
        bytes arrived."""
        data = re.sub(rb"Unpooled(UnsafeDirect|Heap)ByteBuf", b"ByteBuf", data)
        for request, stream in self.streams.items():
            data = re.sub(rb"(?<!\d)(0*)%d(?!\d)" % stream, rb"\1<stream of %d>" % request, data)
        return data


# ---- what is meant to differ -----------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Intended:
    """A difference that is meant: `sent` is searched in the step, `spark` and `fairlead` match the whole of the answers, and `after`, with
    the groups of `fairlead` put in, is searched in the steps before. `ends`: what follows in the script is not comparable, as the services
    are in different states."""
    reason: str
    spark: str
    fairlead: str
    sent: str = ""
    releases: str = r".*"
    after: str = ""
    ends: bool = False

    def names(self, release, steps, step, spark, fairlead):
        ours = re.fullmatch(self.fairlead, str(fairlead), re.S)
        if not ours or not re.fullmatch(self.spark, str(spark), re.S) or not re.match(self.releases, release) or not re.search(self.sent, str(step)):
            return False
        before = self.after.format_map({name: re.escape(value) for name, value in ours.groupdict().items()}) if self.after else ""
        return not before or any(re.search(before, str(one)) for one in steps)


@dataclasses.dataclass(frozen=True)
class Difference:
    at: int  # index of a step; beyond them: the connections' last fences, and the files
    step: object
    spark: object
    fairlead: object

    def __str__(self):
        return f"  step: {self.step}\n  Spark:    {self.spark}\n  Fairlead: {self.fairlead}"


class Comparison:
    """Scripts on both services, and what was found. A kind says how services are started, which scripts there are and how each is played, and what
    is meant to differ."""

    SCRIPT = PLAY = None
    INTENDED = ()
    AT_ONCE = 1  # scripts on the services at a time, but for those that stop a service

    def __init__(self, release, services, root):
        self.release, self.services, self.root = release, services, root
        self.counts = collections.Counter()
        self.reasons = collections.Counter()
        self.runs = 0
        self.ending = False  # no further script is to be begun
        self.lock = threading.Lock()

    @classmethod
    def start_spark(cls, home, root, directory, port):
        raise NotImplementedError

    @classmethod
    def start_fairlead(cls, binary, release, root, directory, port):
        raise NotImplementedError

    def intended(self, before, step, spark, fairlead):
        """The row that says why these answers to a step differ; None where no difference is meant."""
        return next((row for row in self.INTENDED if row.names(self.release, before, step, spark, fairlead)), None)

    def count(self, answer):
        """Of one of Spark's."""
        self.counts["answers"] += 1
        self.counts["failures"] += "Failure" in answer.kind

    def agrees(self):
        """All of them, and something was compared."""
        return self.counts["differ"] == self.counts["ended"] == 0 and self.counts["answers"] > 0

    def summary(self):
        return (f"{self.counts['scripts']} scripts, {self.counts['answers']} answers compared, {self.counts['failures']} of them failures, "
                f"{self.counts['unsteady']} differences that did not come again, {self.counts['ended']} scripts not played to their end, "
                f"{self.counts['differ']} scripts differ")

    def script(self, seed):
        """With a label that was never used: 12 characters, no two of them alike but for a bit."""
        with self.lock:
            self.runs += 1
            label = "app-" + hashlib.sha256(f"{self.runs} {os.getpid()}".encode()).hexdigest()[:12]
        return self.SCRIPT(seed, label, str(self.root))

    def play(self, seed, kept=None, counted=False, patient=False):
        """The first difference that is not intended, or None; `kept`: indices of the only steps to take."""
        script = self.script(seed)
        steps = [step for at, step in enumerate(script.steps) if kept is None or at in kept]
        plays = [self.PLAY(service, script, steps) for service in self.services]
        for play in plays:
            play.patient = patient
        spark, fairlead = (play.run() for play in plays)
        with self.lock:
            self.counts["scripts"] += counted
            return self.compare(steps, spark, fairlead, counted)

    def compare(self, steps, spark, fairlead, counted):
        for at, (theirs, ours) in enumerate(zip(spark.answers, fairlead.answers)):
            step = steps[at] if at < len(steps) else "the connection's end"
            for answer in theirs if counted else ():
                self.count(answer)
            for one, other in self.pairs(theirs, ours):
                if one == other:
                    continue
                intended = self.intended(steps[:at], step, one, other)
                if not intended:
                    return Difference(at, step, one, other)
                self.reasons[intended.reason] += counted
                if intended.ends:
                    return None
        if len(spark.answers) != len(fairlead.answers):
            return Difference(len(steps), "open connections", len(spark.answers), len(fairlead.answers))
        if spark.files != fairlead.files:
            return Difference(len(steps), "the files that are left", sorted(set(spark.files) - set(fairlead.files)), sorted(set(fairlead.files) - set(spark.files)))
        return None

    @staticmethod
    def pairs(theirs, ours):
        longest = max(len(theirs), len(ours))
        return zip(theirs + [None] * (longest - len(theirs)), ours + [None] * (longest - len(ours)))

    def check(self, seeds):
        """Plays all; those that differ once more, alone on their services. A script that cannot be played to its end ends no other."""
        stopping = [seed for seed in seeds if self.script(seed).stops]
        together = sorted(set(seeds) - set(stopping))
        with concurrent.futures.ThreadPoolExecutor(self.AT_ONCE) as pool:
            found = list(zip(together, pool.map(self.first, together)))
        for seed, difference in itertools.chain(found, ((seed, self.first(seed)) for seed in stopping)):
            if difference:
                self.whole(seed, lambda: self.check_again(seed, difference))

    def first(self, seed):
        return self.whole(seed, lambda: self.play(seed, counted=True))

    def whole(self, seed, action):
        """What it gives; None, told and counted, where the script was not played to its end."""
        try:
            if not self.ending:
                return action()
        except Exception as error:
            print(f"seed {seed} was not played to its end: {error!r}", flush=True)
        with self.lock:
            self.counts["ended"] += 1
        return None

    def add(self, other):
        """Counts of another comparison with the same release."""
        self.counts.update(other.counts)
        self.reasons.update(other.reasons)

    def check_again(self, seed, found):
        """A difference that does not come again is told and counted, and no failure. One in the order of arrival does not: it is awaited for longer."""
        if not self.play(seed, patient=True):
            self.counts["unsteady"] += 1
            print(f"seed {seed}: a difference that did not come again\n{found}", flush=True)
            return
        self.counts["differ"] += 1
        print(f"seed {seed}:\n" + self.least(seed, found), flush=True)

    def least(self, seed, found):
        """The steps without which the difference is another, or none."""
        kept = list(range(min(found.at + 1, len(self.script(seed).steps))))
        for at in kept[::-1]:
            if at == found.at:
                continue
            fewer = [one for one in kept if one != at]
            other = self.play(seed, set(fewer), patient=True)
            if other and str(other.step)[:20] == str(found.step)[:20] and self.kind(other) == self.kind(found):
                kept, found = fewer, dataclasses.replace(other, at=found.at)
        return self.told(seed, kept, found)

    def told(self, seed, kept, found):
        script = self.script(seed)
        return "".join(f"  before: {script.steps[at]}\n" for at in kept if at != found.at) + str(found)

    @staticmethod
    def kind(difference):
        return [re.sub(r"\d+", "N", str(side))[:60] for side in (difference.spark, difference.fairlead)]


class Pair:
    """Spark's service and Fairlead's over the same directories, and the comparison of scripts on them."""

    def __init__(self, comparison, home, binary, directory):
        root = directory / "roots"
        root.mkdir(parents=True)
        release = spark_release(home)
        ports = peers.free_ports(2)
        self.services = []
        try:
            self.services.append(comparison.start_spark(home, root, directory, ports[0]))
            self.services.append(comparison.start_fairlead(binary, release[:3], root, directory, ports[1]))
        except BaseException:
            self.stop()
            raise
        self.run = comparison(release, self.services, root)

    def stop(self):
        for service in self.services:
            service.stop()


def compare(comparison, home, binary, seeds, directory, pairs=1):
    """Whether all of these seeds agree; the last line printed counts. `comparison`: a kind of Comparison; `pairs` of services share the seeds."""
    total = comparison(spark_release(home), [], directory)
    running = []
    try:
        for number in range(pairs):
            running.append(Pair(comparison, home, binary, directory / str(number)))
        with concurrent.futures.ThreadPoolExecutor(pairs) as pool:
            playing = [pool.submit(pair.run.check, seeds[number::pairs]) for number, pair in enumerate(running)]
            try:
                while concurrent.futures.wait(playing, PROGRESS).not_done:
                    print(f"{sum(pair.run.counts['scripts'] for pair in running)} of {len(seeds)} scripts, {sum(pair.run.counts['differ'] for pair in running)} differ", flush=True)
            except KeyboardInterrupt:
                for pair in running:
                    pair.run.ending = True
        for done in playing:
            done.result()
    finally:
        for pair in running:
            total.add(pair.run)
            pair.stop()
        for reason, count in total.reasons.most_common():
            print(f"{count} times as intended: {reason}")
        print(f"Spark {total.release}: {total.summary()}", flush=True)
    return total.agrees()


def main(comparison, description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spark", required=True, type=lambda text: pathlib.Path(text).resolve(), help="a directory with jars/ in it")
    parser.add_argument("--fairlead", required=True, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="the first")
    parser.add_argument("--pairs", type=int, default=1, help="services of each kind that share the seeds (1)")
    arguments = parser.parse_args()
    # In memory where that is possible: scripts make thousands of directories.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="differential-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    try:
        return 0 if compare(comparison, arguments.spark, arguments.fairlead, range(arguments.seed, arguments.seed + arguments.seeds), directory, arguments.pairs) else 1
    finally:
        shutil.rmtree(directory, ignore_errors=True)
