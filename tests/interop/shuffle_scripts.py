"""Random conversations with a shuffle service: a tree of shuffle files, and frames that ask for them, well and badly.

Everything comes from a seed and a label; the label names the application and the directory, so that a script may be run again without
meeting what a service remembers of it.
"""
import dataclasses
import pathlib
import random
import shutil
import struct
import zlib

CHUNK, CHUNK_SUCCESS, CHUNK_FAILURE, RPC, RPC_RESPONSE, RPC_FAILURE, STREAM, STREAM_RESPONSE, STREAM_FAILURE, ONE_WAY, UPLOAD, META, META_SUCCESS = range(13)
SORT = "org.apache.spark.shuffle.sort.SortShuffleManager"
INT_MAX, INT_MIN, LONG_MAX, LONG_MIN = (1 << 31) - 1, -(1 << 31), (1 << 63) - 1, -(1 << 63)
ALGORITHMS = ("ADLER32", "CRC32", "CRC32C")
UNKNOWN_STREAM = 77777  # no service draws so small a number


# ---- bytes -----------------------------------------------------------------------------------------------------------

def text(value):
    """A string of the protocol; bytes are taken as they are."""
    value = value if isinstance(value, bytes) else value.encode()
    return struct.pack(">i", len(value)) + value


def texts(values):
    return struct.pack(">i", len(values)) + b"".join(map(text, values))


def numbers(code, values):
    return struct.pack(f">i{len(values)}{code}", len(values), *values)


def lists(values):
    return struct.pack(">i", len(values)) + b"".join(numbers("i", one) for one in values)


def frame(kind, rest):
    return struct.pack(">qb", len(rest) + 9, kind) + rest


def rpc(request, body):
    return frame(RPC, struct.pack(">qi", request, len(body)) + body)


def crc32c_of_byte(value):
    for _ in range(8):
        value = value >> 1 ^ (0x82f63b78 if value & 1 else 0)
    return value


CRC32C = [crc32c_of_byte(value) for value in range(256)]


def crc32c(data):
    """Castagnoli's, which Python does not have."""
    value = 0xffffffff
    for byte in data:
        value = CRC32C[(value ^ byte) & 0xff] ^ value >> 8
    return value ^ 0xffffffff


CHECKSUM = {"ADLER32": zlib.adler32, "CRC32": zlib.crc32, "CRC32C": crc32c}


def java_hash(name):
    """Utils.nonNegativeHash of a file's name."""
    value = 0
    units = name.encode("utf-16-be", "surrogatepass")
    for at in range(0, len(units), 2):
        value = (31 * value + units[at] * 256 + units[at + 1]) & 0xffffffff
    value -= (value >> 31) << 32
    return 0 if value == INT_MIN else abs(value)


# ---- frames of a script ----------------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Fixed:
    """Bytes known beforehand."""
    what: str
    bytes: bytes

    def data(self, streams):
        return self.bytes


@dataclasses.dataclass(frozen=True)
class Chunk:
    """A ChunkFetchRequest in the stream that the request `opened` opened, wherever that is."""
    opened: int
    index: int
    what = property(lambda self: f"ChunkFetchRequest(stream of request {self.opened}, {self.index})")

    def data(self, streams):
        return frame(CHUNK, struct.pack(">qi", streams.get(self.opened, UNKNOWN_STREAM), self.index))


@dataclasses.dataclass(frozen=True)
class AsStream:
    """A StreamRequest; the stream's number is put for `{}`."""
    opened: int
    form: bytes
    what = property(lambda self: f"StreamRequest({self.form!r} of the stream of request {self.opened})")

    def data(self, streams):
        return frame(STREAM, text(self.form.replace(b"{}", str(streams.get(self.opened, UNKNOWN_STREAM)).encode())))


@dataclasses.dataclass(frozen=True)
class Step:
    """Frames sent together on a connection, in so many pieces; `shut`: and then the sending side is closed."""
    connection: int
    frames: tuple
    shut: bool = False
    pieces: int = 1

    def __str__(self):
        return f"connection {self.connection}: " + "; ".join(f.what for f in self.frames) + (", and no more is sent" if self.shut else "")


# ---- files -----------------------------------------------------------------------------------------------------------

@dataclasses.dataclass
class MapOutput:
    shuffle: int
    number: int
    lengths: list


@dataclasses.dataclass
class Executor:
    id: str
    dirs: list
    sub_dirs: int
    maps: list = dataclasses.field(default_factory=list)
    rdds: list = dataclasses.field(default_factory=list)

    def place(self, name):
        """ExecutorDiskUtils.getFilePath."""
        value = java_hash(name)
        return f"{self.dirs[value % len(self.dirs)]}/{value // len(self.dirs) % self.sub_dirs:02x}/{name}"


class Tree:
    """Executors with their directories and files; `files` is path -> content, None for a directory."""

    def __init__(self, rng, root):
        self.rng, self.root, self.files, self.executors = rng, root, {}, []
        for at in range(rng.choice((1, 2, 2, 3))):
            dirs = [f"{root}/blockmgr-{at}{letter}" for letter in "abcd"[:rng.choice((1, 1, 2, 3, 4))]]
            executor = Executor(str(at + 1), dirs, rng.choice((64, 64, 64, 16, 16, 1, 7, 300)))
            self.executors.append(executor)
            for _ in range(rng.randint(1, 5)):
                self.add_map(executor)
            for _ in range(rng.choice((0, 1, 2, 3))):
                self.add_rdd(executor)
        self.files[f"{root}/victim"] = b"not a block"

    def add_map(self, executor):
        rng = self.rng
        output = MapOutput(rng.choice((0, 0, 0, 1, 2, 100000)), rng.choice((rng.randint(0, 9), rng.randint(0, 9), 4294967303, LONG_MAX, -1, INT_MAX)),
                           [rng.choice((0, 1, rng.randint(2, 40), rng.randint(2, 40), rng.randint(100, 3000))) for _ in range(rng.randint(1, 7))])
        if rng.random() < 0.03:
            output.lengths[0] = rng.choice((50000, 140000, 600000))
        executor.maps.append(output)
        data = rng.randbytes(sum(output.lengths))
        offsets = [sum(output.lengths[:at]) for at in range(len(output.lengths) + 1)]
        name = f"shuffle_{output.shuffle}_{output.number}_0"
        index = struct.pack(f">{len(offsets)}q", *offsets)
        fault = rng.random()
        if fault < 0.3:
            index, data = self.damaged(index, data, offsets)
        if index is not False:
            self.files[executor.place(name + ".index")] = index
        if data is not False:
            self.files[executor.place(name + ".data")] = data
        if rng.random() < 0.7:
            self.add_checksums(executor, name, data or b"", offsets)

    def damaged(self, index, data, offsets):
        """What is in the two files instead; False: no file, None: a directory."""
        rng = self.rng
        at = rng.randrange(len(offsets))
        # No length near 1 << 63: Spark adds that of the header to it, and then neither answers nor closes.
        other = [offsets[:at] + [value] + offsets[at + 1:] for value in (
            offsets[at] + 1, len(data) + 1000, -1, -(1 << 40), max(0, offsets[at] - 7), 1 << 62, 1 << 31, INT_MAX - 14)]
        return rng.choice((
            (index[:-rng.randint(1, 7)], data), (index[:-8], data), (b"", data), (index[:5], data), (False, data), (None, data),
            (index, False), (index, None), (index, data[:len(data) // 2]), (index, b""), (index + b"\0\0\0", data), (index + index, data),
            *((struct.pack(f">{len(values)}q", *values), data) for values in other)))

    def add_checksums(self, executor, name, data, offsets):
        rng = self.rng
        for algorithm in ALGORITHMS:
            if rng.random() < 0.5:
                continue
            sums = [CHECKSUM[algorithm](data[a:b]) for a, b in zip(offsets, offsets[1:])]
            if rng.random() < 0.2:
                sums[rng.randrange(len(sums))] ^= 1 << rng.randrange(40)
            file = struct.pack(f">{len(sums)}q", *sums)
            if rng.random() < 0.1:
                file = file[:rng.randrange(len(file))]
            self.files[executor.place(f"{name}.checksum.{algorithm}")] = file

    def add_rdd(self, executor):
        rng = self.rng
        block = (rng.choice((3, 3, 4, 0, -5, INT_MAX)), rng.randint(0, 5))
        executor.rdds.append(block)
        kind = rng.random()
        if kind < 0.85:
            self.files[executor.place("rdd_%d_%d" % block)] = rng.randbytes(rng.choice((0, 1, 12, 500))) if kind > 0.03 else None

    def make(self):
        """Writes it anew."""
        self.remove()
        for executor in self.executors:
            for directory in executor.dirs:
                pathlib.Path(directory).mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            path = pathlib.Path(name)
            if content is None:
                path.mkdir(parents=True, exist_ok=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)

    def remaining(self):
        """The names below the root that are there now, with sizes; -1 for a directory."""
        root = pathlib.Path(self.root)
        return sorted((str(path.relative_to(root)), path.stat().st_size if path.is_file() else -1) for path in root.rglob("*"))


# ---- scripts ---------------------------------------------------------------------------------------------------------

NUMBERS = ("0", "1", "-1", "+1", "-0", "00", "+", "-", "", " 1", "1 ", "0x1", "1.0", "1e3", "2147483647", "2147483648", "-2147483648", "-2147483649",
           "99999999999", "+-1", "--1", "٣", "１", "é", "1\n2", "٣٤", "1é", "9" * 40)
IDS = ("", "_", "__", "___", "shuffle", "shuffle_", "shuffle_0", "shuffle_0_1", "shuffle_0_1_", "shuffle_0_1_2_3", "shuffle_0_1_2_", "Shuffle_0_1_2",
       "shuffle__1_2", "_shuffle_0_1_2", "shuffle_0_1_2_3_4", "shuffleChunk_0_1_2", "shuffleChunk_0_1_2_3", "shuffleChunk_a_1_2_3", "rdd", "rdd_1",
       "rdd_1_2_3", "rdd_1_", "rdd__1", "rdd_../_1", "../../etc/passwd", "broadcast_0", "shuffle_0_1_2.data", "input-0-1", "shuffleé_0_1_2",
       b"\xff\xfe", b"rdd_\xff_1", b"\xed\xa0\x80_1", "rdd_1_2\n", "taskresult_1", "test_x", "shuffle_0_1_2__", "rdd_1_2___")


class Script:
    """Steps over a tree; about three of four are what a client would send."""

    stops = False  # a service

    def __init__(self, seed, label, base):
        self.seed, self.app = seed, label
        self.rng = rng = random.Random(seed)
        self.base = base
        self.root = f"{base}/{label}"
        self.tree = Tree(rng, self.root)
        self.next_request = rng.choice((1, 1000, 1 << 40, LONG_MIN + 1))
        self.steps, self.streams = [], []
        self.connections = rng.choice((1, 2, 2, 3))
        for executor in self.tree.executors:
            if rng.random() < 0.95:
                self.say(self.register(executor))
        for _ in range(rng.randint(8, 30)):
            self.act()

    def act(self):
        good = (self.fetch, self.fetch, self.fetch, self.fetch, self.open_blocks, self.open_blocks, self.go_on, self.go_on, self.local_dirs,
                self.diagnose, self.diagnose, self.remove, self.register_again, self.together)
        odd = (self.odd_fetch, self.odd_open, self.odd_stream, self.odd_register, self.odd_remove, self.odd_message, self.odd_frame,
               self.merge_message, self.one_way, self.answer, self.upload, self.mutated, self.mutated, self.mutated, self.shut, self.wrong_chunk)
        self.rng.choice(good if self.rng.random() < 0.72 else odd)()

    # ---- helpers

    def say(self, *frames, connection=None, shut=False):
        pieces = self.rng.choice((1,) * 12 + (2, 3, 20))
        self.steps.append(Step(self.rng.randrange(self.connections) if connection is None else connection, frames, shut, pieces))

    def request(self):
        self.next_request += 1
        return self.next_request

    def rpc(self, what, body):
        number = self.request()
        return Fixed(f"{number} {what}", rpc(number, body))

    def executor(self):
        return self.rng.choice(self.tree.executors)

    def executor_id(self, executor):
        return executor.id if self.rng.random() < 0.96 else self.rng.choice(("9", "", "é", "driver", "shuffle-push-merger"))

    def app_id(self):
        return self.app if self.rng.random() < 0.97 else self.rng.choice((self.app + "x", self.app + "é", ""))

    def int32(self):
        return self.rng.choice((0, 1, -1, INT_MAX, INT_MIN, self.rng.randint(-10, 10), self.rng.randint(INT_MIN, INT_MAX)))

    def opened(self, frame_, connection, chunks):
        """Remembers what the frame opens, and sends it."""
        self.streams.append([self.next_request, connection, chunks, 0])
        self.say(frame_, connection=connection)
        return self.streams[-1]

    # ---- what clients send

    def register(self, executor, **other):
        what = {"id": executor.id, "dirs": executor.dirs, "sub_dirs": executor.sub_dirs, "manager": SORT, "app": self.app, **other}
        return self.rpc(f"RegisterExecutor({what})", b"\2" + text(what["app"]) + text(what["id"]) + texts(what["dirs"]) +
                        struct.pack(">i", what["sub_dirs"]) + text(what["manager"]))

    def fetch_frame(self, executor, shuffle, maps, reduces, batch):
        app, name = self.app_id(), self.executor_id(executor)
        return self.rpc(f"FetchShuffleBlocks({app!r}, {name!r}, {shuffle}, {maps}, {reduces}, batch={batch})", b"\x09" + text(app) + text(name) +
                        struct.pack(">i", shuffle) + numbers("q", maps) + lists(reduces) + bytes([batch]))

    def fetch(self):
        """Blocks of one shuffle, and then all of their chunks, some of them, or none yet."""
        rng, executor = self.rng, self.executor()
        shuffle = rng.choice(executor.maps).shuffle
        outputs = [output for output in executor.maps if output.shuffle == shuffle]
        outputs = rng.sample(outputs, rng.randint(1, len(outputs)))
        batch = rng.random() < 0.35
        reduces = []
        for output in outputs:
            count = len(output.lengths)
            start = rng.randrange(count)
            reduces.append([start, rng.randint(start, count)] if batch else rng.sample(range(count), rng.randint(1, count)))
        connection = rng.randrange(self.connections)
        chunks = len(outputs) if batch else sum(map(len, reduces))
        self.opened(self.fetch_frame(executor, shuffle, [o.number for o in outputs], reduces, batch), connection, chunks)
        if rng.random() < 0.8:
            self.read(self.streams[-1], rng.choice((chunks, chunks, chunks + 1, rng.randint(0, chunks))))

    def open_blocks(self):
        rng, executor = self.rng, self.executor()
        output = rng.choice(executor.maps)
        if executor.rdds and rng.random() < 0.5:
            names = ["rdd_%d_%d" % rng.choice(executor.rdds) for _ in range(rng.randint(1, 3))]
        else:
            names = [f"shuffle_{o.shuffle}_{o.number}_{rng.randrange(len(o.lengths) + 1)}" for o in executor.maps if o.shuffle == output.shuffle
                     if -(1 << 31) <= o.number < 1 << 31 or rng.random() < 0.1] or ["shuffle_0_1_0"]
        self.open_names(executor, names)

    def open_names(self, executor, names):
        app, name = self.app_id(), self.executor_id(executor)
        found = self.rpc(f"OpenBlocks({app!r}, {name!r}, {names})", b"\0" + text(app) + text(name) + texts(names))
        stream = self.opened(found, self.rng.randrange(self.connections), len(names))
        if self.rng.random() < 0.8:
            self.read(stream, len(names))

    def one_chunk(self, stream, index):
        if self.rng.random() < 0.8:
            return Chunk(stream[0], index)
        return AsStream(stream[0], b"{}_%d" % index)

    def read(self, stream, count):
        """The next chunks, one after another or at once."""
        frames = [self.one_chunk(stream, stream[3] + at) for at in range(count)]
        stream[3] += count
        if self.rng.random() < 0.3 and frames:
            return self.say(*frames, connection=stream[1])
        for one in frames:
            self.say(one, connection=stream[1])

    def go_on(self):
        """More of a stream that was opened before; also after its end."""
        if self.streams:
            self.read(self.rng.choice(self.streams[-4:]), self.rng.choice((1, 1, 2)))

    def local_dirs(self):
        rng = self.rng
        ids = [executor.id for executor in rng.sample(self.tree.executors, rng.randint(1, len(self.tree.executors)))]
        if rng.random() < 0.2:
            ids = rng.choice(([], ids + ["9"], ids + ids, ["shuffle-push-merger"], ids + ["shuffle-push-merger"], ["é"], ["5", *ids, "7"]))
        app = self.app_id()
        self.say(self.rpc(f"GetLocalDirsForExecutors({app!r}, {ids})", b"\x0a" + text(app) + texts(ids)))

    def diagnose(self):
        rng, executor = self.rng, self.executor()
        output = rng.choice(executor.maps)
        reduce = rng.randrange(len(output.lengths))
        algorithm = rng.choice(ALGORITHMS)
        name = f"shuffle_{output.shuffle}_{output.number}_0"
        data = self.tree.files.get(executor.place(name + ".data")) or b""
        begin = sum(output.lengths[:reduce])
        checksum = CHECKSUM[algorithm](data[begin:begin + output.lengths[reduce]])
        if rng.random() < 0.3:
            checksum = rng.choice((0, 1, -1, checksum ^ 1 << 33, LONG_MIN))
        if rng.random() < 0.2:
            reduce = rng.choice((-1, len(output.lengths), len(output.lengths) - 1, INT_MAX, INT_MIN))
        if rng.random() < 0.1:
            algorithm = rng.choice(("", "MD5", "crc32", "CRC32C ", "../../x", "é", "ADLER32/../x"))
        number = output.number if rng.random() < 0.95 else 55
        app, executor_id = self.app_id(), self.executor_id(executor)
        self.say(self.rpc(f"DiagnoseCorruption({app!r}, {executor_id!r}, {output.shuffle}, {number}, {reduce}, {checksum}, {algorithm!r})",
                          b"\x10" + text(app) + text(executor_id) + struct.pack(">iqiq", output.shuffle, number, reduce, checksum) + text(algorithm)))

    def remove_frame(self, executor, names):
        app, executor_id = self.app_id(), self.executor_id(executor)
        return self.rpc(f"RemoveBlocks({app!r}, {executor_id!r}, {names})", b"\7" + text(app) + text(executor_id) + texts(names))

    def remove(self):
        rng, executor = self.rng, self.executor()
        names = ["rdd_%d_%d" % block for block in executor.rdds]
        names += [f"shuffle_{o.shuffle}_{o.number}_0.{end}" for o in executor.maps for end in ("data", "index", "checksum.ADLER32")]
        names = rng.sample(names, rng.randint(0, min(3, len(names))))
        if rng.random() < 0.2:
            names = rng.choice((names + names, [], ["rdd_77_1"], names + ["nothing"]))
        self.say(self.remove_frame(executor, names))

    def register_again(self):
        """The same once more, or elsewhere, or what another has."""
        rng, executor = self.rng, self.executor()
        other = rng.choice(({}, {"dirs": executor.dirs[::-1]}, {"sub_dirs": rng.choice((64, 16))}, {"id": "5"},
                            {"dirs": self.executor().dirs}, {"dirs": [f"{self.root}/gone"]}))
        self.say(self.register(executor, **other))
        if rng.random() < 0.6:
            self.say(self.register(executor))

    def together(self):
        """Requests of several kinds sent at once."""
        begin = len(self.steps)
        for _ in range(self.rng.randint(2, 4)):
            self.rng.choice((self.local_dirs, self.diagnose, self.go_on, self.fetch, self.open_blocks))()
        by_connection = {}
        for step in self.steps[begin:]:
            by_connection.setdefault(step.connection, []).extend(step.frames)
        # A chunk of a stream is asked for once its number is known.
        del self.steps[begin:]
        for connection, frames in by_connection.items():
            self.say(*[f for f in frames if isinstance(f, Fixed)], connection=connection)
            later = [f for f in frames if not isinstance(f, Fixed)]
            if later:
                self.say(*later, connection=connection)

    # ---- what they would not

    def wrong_chunk(self):
        rng = self.rng
        if not self.streams or rng.random() < 0.1:
            return self.say(Chunk(0, self.int32()))
        stream = rng.choice(self.streams[-4:])
        connection = rng.randrange(self.connections)
        index = rng.choice((stream[3], stream[3] + 1, stream[3] - 1, stream[2], self.int32()))
        self.say(self.one_chunk(stream, index), connection=connection)
        if index == stream[3]:
            stream[3] += connection == stream[1]

    def odd_fetch(self):
        rng, executor = self.rng, self.executor()
        output = rng.choice(executor.maps)
        count = len(output.lengths)
        batch = rng.random() < 0.5
        maps = rng.choice(([output.number], [output.number] * 2, [output.number, 55], [], [rng.choice((0, -1, LONG_MAX, LONG_MIN))]))
        one = lambda: rng.choice((count, count + 1, -1, 0, 1, INT_MAX, INT_MIN, INT_MAX - 1, rng.randrange(count)))
        reduces = [[one() for _ in range(rng.choice((0, 1, 2, 2, 2, 3)))] for _ in range(rng.choice((0, 1, len(maps), len(maps), len(maps) + 1)))]
        shuffle = output.shuffle if rng.random() < 0.9 else self.int32()
        connection = rng.randrange(self.connections)
        stream = self.opened(self.fetch_frame(executor, shuffle, maps, reduces, batch), connection, len(maps))
        self.read(stream, rng.randint(1, 4))

    def odd_open(self):
        rng, executor = self.rng, self.executor()
        output = rng.choice(executor.maps)
        good = rng.choice((f"shuffle_{output.shuffle}_{output.number}_0", "rdd_3_1", f"shuffleChunk_{output.shuffle}_1_2_3"))
        parts = good.split("_")
        parts[rng.randrange(1, len(parts))] = rng.choice(NUMBERS)
        bad = rng.choice((rng.choice(IDS), rng.choice(IDS), "_".join(parts), "_".join(parts), "_".join(parts)))
        names = rng.choice(([bad], [good, bad], [bad, good], [], [good, "rdd_3_1"], [good, f"shuffle_{output.shuffle + 1}_1_0"],
                            [good, "shuffleChunk_0_1_2_3"], [f"shuffleChunk_{output.shuffle}_1_2_3", f"shuffleChunk_{output.shuffle}_2_2_3"]))
        self.open_names(executor, names)

    def odd_stream(self):
        rng = self.rng
        stream = rng.choice(self.streams[-4:]) if self.streams else [0, 0, 1, 0]
        number = rng.choice(NUMBERS).encode()
        form = rng.choice((b"{}_" + number, b"{}_" + number, number + b"_0", b"", b"_", b"__", b"{}", b"{}_", b"_{}", b"{}_0_1", b"{}__0", b"{}_0_",
                           b"{}_0___", b"+{}_%d" % stream[3], b" {}_0", b"{} _0", b"{}_\xff", b"\xff_0", b"-{}_0", b"0{}_%d" % stream[3],
                           b"{}_+%d" % stream[3], b"{}_%d_x" % stream[3], "٣{}_0".encode(), "{}_٣".encode(), "{}_０".encode()))
        self.say(AsStream(stream[0], form), connection=stream[1])

    def odd_register(self):
        rng, executor = self.rng, self.executor()
        a, b = executor.dirs[0], self.executor().dirs[-1]
        dirs = rng.choice(([], [a + "/"], [a.replace("/blockmgr", "//blockmgr")], [a.replace("/blockmgr", "/./blockmgr")], [f"{b}/../{a.rpartition('/')[2]}"],
                           ["relative/dir"], ["/no/such/root"], [""], [a, ""], [a, "/no/such/root"], [self.base], [self.base + "/"], ["/"], [f"{a}/../../.."], [f"{self.base}x"],
                           [f"{self.root}/é"], [b"/\xff\xfe"], [f"{a}\0"], [a] * 3, [a + "/" + "x" * 300], [b.encode() + b"/\xff"], [f"{a}/victim"],
                           [f"{self.root}/victim"], [" " + a], [a + " "], [f"file:{a}"], ["."], ["~"], [a.upper()]))
        manager = rng.choice((SORT, "", "com.example.Other", SORT + ':{"mergeDir":"merge_manager","attemptId":"1"}}}', SORT + ":{", SORT + ":",
                              SORT + ':{"mergeDir":"../../x"}', "é" * 20, SORT + ':{"attemptId":"x"}', "hash", "sort"))
        other = rng.choice(({"dirs": dirs}, {"dirs": dirs}, {"dirs": dirs}, {"sub_dirs": rng.choice((0, 0, -1, -64, 1, INT_MAX, INT_MIN))}, {"manager": manager}, {"manager": manager},
                            {"id": rng.choice(("", "é", "driver", "x" * 1000, "a\0b", b"\xff"))}, {"app": rng.choice((self.app + "é", self.app + "/..", self.app + "x" * 500))}))
        self.say(self.register(executor, **other))
        for _ in range(rng.randint(0, 3)):
            rng.choice((self.fetch, self.open_blocks, self.local_dirs, self.diagnose, self.remove))()
        if rng.random() < 0.7:
            self.say(self.register(executor))

    def odd_remove(self):
        rng, executor = self.rng, self.executor()
        there = f"shuffle_{executor.maps[0].shuffle}_{executor.maps[0].number}_0.data"
        self.say(self.remove_frame(executor, rng.choice((
            ["../../victim"], ["../../../victim"], [""], ["."], [".."], ["/"], ["x/y"], [there, "../" + there], ["\0"], [b"\xff"], ["é"], [there + "/"], ["./" + there],
            ["x" * 300], [there, ""], ["rdd_" + rng.choice(NUMBERS) + "_1"]))))

    def odd_message(self):
        """Bodies without, with another or with too much of a message."""
        rng = self.rng
        some = b"\x0a" + text(self.app) + texts(["1"])
        body, what = rng.choice((
            (b"", "nothing"), (bytes([rng.choice((20, 21, 99, 127, 128, 255))]) + b"xyz", "an unknown type"), (bytes([rng.randrange(20)]), "a type alone"),
            (some + b"trailing", "trailing bytes"), (some + some, "two messages"), (b"\1" + text(self.app) + text("1") + text("rdd_1_1") + text("m") + text("data"), "UploadBlock"),
            (b"\4" + text(self.app) + struct.pack(">q", 5), "RegisterDriver"), (b"\5" + text(self.app), "Heartbeat"), (b"\6" + text("shuffle_0_1_2") + text("é"), "UploadBlockStream"),
            (b"\3" + struct.pack(">qi", 5, 6), "StreamHandle"), (b"\x08\0\0\0\7", "BlocksRemoved"), (b"\x11" + bytes([rng.choice((0, 3, 4, 5, 200))]), "CorruptionCause"),
            (b"\x12" + bytes([rng.choice((0, 4, 5, 130))]) + text("é"), "BlockPushReturnCode"), (b"\x0b" + texts(["1"]) + numbers("i", [1]) + texts(["/x"]), "LocalDirsForExecutors"),
            (b"\x0e" + struct.pack(">iii", 1, 2, 0) + numbers("i", []) + numbers("q", []), "MergeStatuses"), (b"\xea" + text(self.app) + text(""), "a SASL message"),
            (b"\4" + text(self.app + "é") + struct.pack(">q", -5), "RegisterDriver"), (b"\x0e" + struct.pack(">iii", 1, 2, -1), "MergeStatuses")))
        self.say(self.rpc(f"RPC with {what} {body.hex()}", body))

    def odd_frame(self):
        """Frames whose lengths or types are not true."""
        rng = self.rng
        good = rpc(self.request(), b"\x0a" + text(self.app) + texts(["1"]))
        what, data = rng.choice((
            ("a bodySize that lies", good[:17] + struct.pack(">i", rng.choice((0, -1, INT_MAX, 3))) + good[21:]),
            ("length 8", struct.pack(">q", 8)), ("length 0", struct.pack(">q", 0)), ("length -1", struct.pack(">q", -1)), ("a length beyond int32", struct.pack(">q", 1 << 40)),
            ("the greatest length", struct.pack(">q", INT_MAX + 7)), ("a length one too great", struct.pack(">q", INT_MAX + 8)), ("an unknown type", frame(rng.choice((13, 14, 50, 127, -1, -128)), b"x" * 30)),
            ("a length that is too great", struct.pack(">q", len(good) + 5) + good[8:]), ("a length that is too small", struct.pack(">q", len(good) - 5) + good[8:]),
            ("a frame too short", frame(rng.choice((CHUNK, RPC, STREAM, ONE_WAY, UPLOAD, META)), b"\0" * rng.randrange(8))),
            ("a string too long for its frame", frame(rng.choice((STREAM, META, UPLOAD)), struct.pack(">qi", 5, 100) + b"x" * 20)),
            ("half a frame", good[:rng.randrange(1, len(good))]), ("zeroes", b"\0" * 64), ("HTTP", b"GET / HTTP/1.1\r\n\r\n"),
            ("trailing bytes after the fields", frame(CHUNK, struct.pack(">qi", 5, 0) + b"xyz"))))
        self.say(Fixed(f"{what} {data.hex()}", data))

    def merge_message(self):
        rng, app = self.rng, self.app_id()
        number = self.request()
        a, b, c = self.int32(), self.int32(), self.int32()
        kind = rng.randrange(4)
        if kind == 0:
            return self.say(Fixed(f"{number} MergedBlockMetaRequest({app!r})", frame(META, struct.pack(">q", number) + text(app) + struct.pack(">iii", a, b, c))))
        if kind == 3:
            body = b"\x0f" + text(app) + text("1") + struct.pack(">ii", a, b) + numbers("i", [1, 2]) + lists([[0], [1, 2]])
            stream = self.opened(Fixed(f"{number} FetchShuffleBlockChunks({app!r})", rpc(number, body)), rng.randrange(self.connections), 3)
            return self.read(stream, rng.randint(0, 4))
        body = (b"\x0d" if kind == 1 else b"\x13") + text(app) + struct.pack(">iii", a, b, c)
        self.say(Fixed(f"{number} {'FinalizeShuffleMerge' if kind == 1 else 'RemoveShuffleMerge'}({app!r}, {a}, {b}, {c})", rpc(number, body)))

    def one_way(self):
        """A message that is not answered, whatever it holds."""
        rng, executor = self.rng, self.executor()
        kind = rng.randrange(4)
        if kind == 0:
            body, what = b"\x13" + text(self.app) + struct.pack(">iii", 1, 2, -1), "RemoveShuffleMerge"
        elif kind == 1:
            body, what = rng.choice((b"", b"\x63", b"\x0a", b"\2\0\0\0\5a")), "nothing good"
        else:
            sent = rng.choice((self.register(executor), self.remove_frame(executor, ["rdd_%d_%d" % block for block in executor.rdds]), self.register(executor, id="7")))
            body, what = sent.bytes[21:], sent.what
        self.say(Fixed(f"OneWayMessage of {what}", frame(ONE_WAY, struct.pack(">i", len(body)) + body)))

    def answer(self):
        """An answer nobody asked for."""
        rng = self.rng
        kind, rest = rng.choice(((CHUNK_SUCCESS, struct.pack(">qi", 1, 2) + b"data"), (CHUNK_FAILURE, struct.pack(">qi", 1, 2) + text("why")),
                                 (RPC_RESPONSE, struct.pack(">qi", 1, 0)), (RPC_FAILURE, struct.pack(">q", 1) + text("why")),
                                 (STREAM_RESPONSE, text("1_0") + struct.pack(">q", rng.choice((0, 5)))), (STREAM_FAILURE, text("1_0") + text("why")),
                                 (META_SUCCESS, struct.pack(">qi", 1, 2) + b"bits")))
        self.say(Fixed(f"an answer of type {kind}", frame(kind, rest)))

    def upload(self):
        rng = self.rng
        number = self.request()
        push = b"\x0c" + text(self.app_id()) + struct.pack(">iiiiii", -1, 0, 0, 7, 3, 0)
        meta = rng.choice((push, push, b"\6" + text("shuffle_0_1_2") + text("m"), b"", b"\x63", push[:-3], b"\x0a" + text(self.app) + texts(["1"])))
        self.say(Fixed(f"{number} UploadStream({meta.hex()})", frame(UPLOAD, struct.pack(">q", number) + text(meta) + struct.pack(">q", 3)) + b"xyz"))

    def mutated(self):
        """A frame sent before with one bit, byte or length changed, or its end gone."""
        rng = self.rng
        known = [f for step in self.steps for f in step.frames if isinstance(f, Fixed) and len(f.bytes) > 12]
        if not known:
            return
        found = rng.choice(known)
        data = bytearray(found.bytes)
        kind = rng.random()
        body = 21 if data[8] == RPC else 9
        if kind < 0.45 and len(data) > body:
            at = rng.randrange(body, len(data))
            data[at] ^= 1 << rng.randrange(8)
            what = f"byte {at} is {data[at]:#x}"
        elif kind < 0.6:
            at = rng.randrange(8, len(data))
            data[at] = rng.choice((0, 1, 0x7f, 0x80, 0xff))
            what = f"byte {at} is {data[at]:#x}"
        elif kind < 0.85 and len(data) > body:
            data = data[:rng.randrange(body, len(data))]
            data[:8] = struct.pack(">q", len(data))
            what = f"cut to {len(data)} bytes"
        elif kind < 0.95:
            data += rng.randbytes(rng.randint(1, 9))
            data[:8] = struct.pack(">q", len(data))
            what = f"longer, {len(data)} bytes"
        else:
            at = rng.randrange(9)
            data[at] ^= 1 << rng.randrange(8)
            what = f"byte {at} is {data[at]:#x}"
        self.say(Fixed(f"mutated, {what}: {found.what}", bytes(data)))

    def shut(self):
        """Requests, and no more: they are answered all the same."""
        begin = len(self.steps)
        connection = self.rng.randrange(self.connections)
        self.rng.choice((self.local_dirs, self.diagnose, self.open_blocks, lambda: self.say(self.register(self.executor(), id="8"))))()
        frames = [f for step in self.steps[begin:] for f in step.frames if isinstance(f, Fixed)]
        del self.steps[begin:]
        self.say(*frames[:2], connection=connection, shut=True)
        self.streams = [stream for stream in self.streams if stream[1] != connection]


# ---- what is to come back --------------------------------------------------------------------------------------------

ANSWERED = (CHUNK, RPC, STREAM, META)
# What a frame holds before its body: numbers of so many bytes, and strings.
FIELDS = {CHUNK: "84", CHUNK_SUCCESS: "84", CHUNK_FAILURE: "84s", RPC: "84", RPC_RESPONSE: "84", RPC_FAILURE: "8s", STREAM: "s", STREAM_RESPONSE: "s8",
          STREAM_FAILURE: "ss", ONE_WAY: "4", UPLOAD: "8s8", META: "8s444", META_SUCCESS: "84"}


def complete(kind, payload):
    """Whether the frame has all of its fields."""
    at = 0
    for field in FIELDS[kind]:
        if field != "s":
            at += int(field)
            continue
        if len(payload) < at + 4:
            return False
        (length,) = struct.unpack_from(">i", payload, at)
        if length < 0:
            return False
        at += 4 + length
    return len(payload) >= at


def prospects(data):
    """What a service makes of these bytes at the begin of a frame: (answers, end); end is "open", "inside" a frame, or "closed"."""
    answers = 0
    while data:
        if len(data) < 8:
            return answers, "inside"
        (length,) = struct.unpack_from(">q", data)
        if not 8 < length < INT_MAX + 8:
            return answers, "closed"
        if len(data) < length:
            return answers, "inside"
        kind = data[8]
        if kind > META_SUCCESS or not complete(kind, data[9:length]):
            return answers, "closed"
        if kind == UPLOAD:
            return answers + 1, "closed"
        answers += kind in ANSWERED
        data = data[length:]
    return answers, "open"


def printable(data):
    """For people."""
    shown = data if len(data) <= 400 else data[:300] + b"..." + data[-80:]
    return repr(shown)[1:] + (f" ({len(data)} bytes, CRC {zlib.crc32(data):08x})" if len(data) > 400 else "")
