"""Random conversations with a shuffle service that merges: blocks pushed whole, in pieces and not to their ends, by one and by several
connections, merges that end early, twice and for the wrong attempt, and whatever can be read of them.

Everything comes from a seed and a label, as in shuffle_scripts.py.
"""
import dataclasses
import pathlib
import random
import shutil
import struct

from shuffle_scripts import META, SORT, UPLOAD, frame, lists, numbers, rpc, text, texts

MERGER = "shuffle-push-merger"


@dataclasses.dataclass(frozen=True)
class Step:
    """What is done on a connection. `sent`: frames; `answers`: how many come back; `then`: "" or "close" or "restart" (of the service);
    `does`: begin, push, end, read or remove, or "", of the application's merge `of`, (shuffle, merge id)."""
    connection: int
    what: str
    sent: bytes = b""
    answers: int = 0
    then: str = ""
    opens: int = 0  # the request that opens a stream of so many chunks, all of which are read
    chunks: int = 0
    does: str = ""
    of: tuple = ()

    def __str__(self):
        return f"connection {self.connection}: {self.what}"


class Tree:
    """An application's directories, as its executors make them."""

    def __init__(self, rng, root):
        self.root = root
        self.sub_dirs = rng.choice((64, 64, 16, 1))
        self.local_dirs = [f"{root}/{letter}/blockmgr-1" for letter in "ab"[:rng.choice((1, 2))]]

    def make(self):
        self.remove()
        for directory in self.local_dirs:
            pathlib.Path(directory).mkdir(parents=True)
            for name in ("merge_manager", "merge_manager_1", "merge_manager_2"):
                for at in range(self.sub_dirs):
                    (pathlib.Path(directory).parent / name / f"{at:02x}").mkdir(parents=True)

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)

    def remaining(self):
        """Is not compared: clean-up runs beside what is asked."""


class Script:
    def __init__(self, seed, label, base):
        self.seed, self.app = seed, label
        self.rng = rng = random.Random(seed)
        self.root = f"{base}/{label}"
        self.tree = Tree(rng, self.root)
        self.attempt = rng.choice((-1, -1, 1))
        self.next_request = 100
        self.steps = []
        self.half = {}      # connection -> what is still to be sent of a pushed block
        self.half_of = {}   # connection -> which merge the last such block is of
        self.ended = set()  # (shuffle, merge) of merges that can be read
        self.latest = {0: 0, 1: 0}
        self.register(0)
        for _ in range(rng.randint(10, 40)):
            self.act()
        for connection in list(self.half):
            self.go_on(connection)
        for shuffle in (0, 1):
            self.finalize(shuffle, self.latest[shuffle])
            for reduce in range(4):
                if (shuffle, self.latest[shuffle]) in self.ended:
                    self.read(shuffle, self.latest[shuffle], reduce)

    @property
    def stops(self):
        """A service, and brings it back."""
        return any(step.then == "restart" for step in self.steps)

    def act(self):
        self.rng.choice((self.push,) * 12 + (self.begin, self.begin, self.go_on_with_some, self.go_on_with_some, self.go_on_with_some, self.cut, self.finalize_some,
                                             self.read_some, self.read_some, self.newer, self.remove, self.local_dirs, self.odd, self.register_again, self.restart))()

    # ---- helpers

    def say(self, what, sent, answers=1, **more):
        free = [number for number in range(4) if number not in self.half]
        self.steps.append(Step(more.pop("connection", None) if "connection" in more else self.rng.choice(free), what, sent, answers, **more))

    def request(self):
        self.next_request += 1
        return self.next_request

    def push_frame(self, size, **other):
        rng = self.rng
        shuffle = rng.choice((0, 0, 1))
        what = {"app": self.app, "attempt": self.attempt, "shuffle": shuffle, "merge": self.latest[shuffle], "map": rng.randint(0, 9), "reduce": rng.randint(0, 3), **other}
        number = self.request()
        header = b"\x0c" + text(what["app"]) + struct.pack(">iiiiii", what["attempt"], what["shuffle"], what["merge"], what["map"], what["reduce"], 0)
        return f"{number} push of {size} bytes {what}", (what["shuffle"], what["merge"]), frame(UPLOAD, struct.pack(">q", number) + text(header) + struct.pack(">q", size))

    def block(self):
        size = self.rng.choice((0, 1, self.rng.randint(2, 40), self.rng.randint(100, 900), self.rng.randint(100, 900), 5000))
        return self.rng.randbytes(size)

    # ---- what clients send

    def register(self, connection=None, attempt=None, manager=None):
        attempt = self.attempt if attempt is None else attempt
        name = "merge_manager" + (f"_{attempt}" if attempt > 0 else "")
        meta = f'{SORT}:{{"mergeDir":"{name}"' + (f',"attemptId":"{attempt}"' if attempt > 0 else "") + "}}}"  # as Spark writes it
        body = (b"\2" + text(self.app) + text(str(self.rng.randint(1, 3))) + texts(self.tree.local_dirs) + struct.pack(">i", self.tree.sub_dirs) + text(manager or meta))
        number = self.request()
        self.say(f"{number} RegisterExecutor({manager or meta})", rpc(number, body), **({} if connection is None else {"connection": connection}))

    def push(self, **other):
        block = self.block()
        what, of, header = self.push_frame(len(block), **other)
        own = "app" not in other and "attempt" not in other
        self.say(what, header + block, does="push" if own else "", of=of)

    def begin(self):
        """A part of a block."""
        if len(self.half) > 2:
            return
        block = self.rng.randbytes(self.rng.randint(2, 900))
        sent = self.rng.randint(0, len(block) - 1)
        what, of, header = self.push_frame(len(block))
        connection = self.rng.choice([number for number in range(4) if number not in self.half])
        self.say(f"{what}, {sent} of them", header + block[:sent], answers=0, connection=connection, does="begin", of=of)
        self.half_of[connection] = of
        self.half[connection] = block[sent:]

    def go_on_with_some(self):
        if self.half:
            connection = self.rng.choice(sorted(self.half))
            left = self.half[connection]
            if len(left) > 1 and self.rng.random() < 0.4:
                some = self.rng.randint(1, len(left) - 1)
                self.say(f"{some} bytes more", left[:some], answers=0, connection=connection)
                self.half[connection] = left[some:]
            else:
                self.go_on(connection)

    def go_on(self, connection):
        left = self.half.pop(connection)
        self.say(f"the last {len(left)} bytes", left, connection=connection, does="push", of=self.half_of[connection])

    def cut(self):
        if self.half:
            connection = self.rng.choice(sorted(self.half))
            del self.half[connection]
            self.say("the connection ends in mid-block", b"", answers=0, connection=connection, then="close")

    def finalize(self, shuffle, merge, attempt=None):
        number = self.request()
        attempt = self.attempt if attempt is None else attempt
        if attempt == self.attempt and merge == self.latest[shuffle]:
            self.ended.add((shuffle, merge))
        self.say(f"{number} FinalizeShuffleMerge({shuffle}, {merge}, attempt {attempt})", rpc(number, b"\x0d" + text(self.app) + struct.pack(">iii", attempt, shuffle, merge)),
                 does="end" if attempt == self.attempt else "", of=(shuffle, merge))

    def finalize_some(self):
        shuffle = self.rng.choice((0, 1))
        self.finalize(shuffle, self.latest[shuffle] + self.rng.choice((0, 0, 0, -1, 1)), self.rng.choice((None,) * 8 + (7,)))

    def newer(self):
        """A stage runs again, and its blocks are others."""
        shuffle = self.rng.choice((0, 1))
        self.latest[shuffle] += self.rng.choice((1, 1, 2))
        self.push(shuffle=shuffle, merge=self.latest[shuffle])

    def read_some(self):
        """Spark can read chunks of a merge that has not ended, and remembers their index then."""
        if self.ended:
            self.read(*self.rng.choice(sorted(self.ended)), self.rng.randint(0, 4))

    def read(self, shuffle, merge, reduce):
        number = self.request()
        self.say(f"{number} MergedBlockMetaRequest({shuffle}, {merge}, {reduce})", frame(META, struct.pack(">q", number) + text(self.app) + struct.pack(">iii", shuffle, merge, reduce)),
                 does="read", of=(shuffle, merge))
        number = self.request()
        chunks = self.rng.choice((1, 2, 3))
        if self.rng.random() < 0.5:
            body = b"\x0f" + text(self.app) + text(MERGER) + struct.pack(">ii", shuffle, merge) + numbers("i", [reduce]) + lists([list(range(chunks))])
            what = "FetchShuffleBlockChunks"
        else:
            body = b"\0" + text(self.app) + text(MERGER) + texts([f"shuffleChunk_{shuffle}_{merge}_{reduce}_{chunk}" for chunk in range(chunks)])
            what = "OpenBlocks"
        self.say(f"{number} {what}({shuffle}, {merge}, {reduce}, {chunks} chunks)", rpc(number, body), opens=number, chunks=chunks, does="read", of=(shuffle, merge))

    def remove(self):
        """Answered only when it fails; the merge has ended before, as the files of one that has not go at some time."""
        shuffle = self.rng.choice((0, 1))
        merge = self.rng.choice((self.latest[shuffle], -1, self.latest[shuffle] - 1))
        number = self.request()
        attempt = self.rng.choice((self.attempt,) * 6 + (9,))
        if attempt == self.attempt and merge != self.latest[shuffle] - 1:
            self.ended = {one for one in self.ended if one[0] != shuffle}
        self.say(f"{number} RemoveShuffleMerge({shuffle}, {merge}, attempt {attempt})", rpc(number, b"\x13" + text(self.app) + struct.pack(">iii", attempt, shuffle, merge)), answers=-1,
                 does="remove" if attempt == self.attempt else "", of=(shuffle, merge))

    def local_dirs(self):
        number = self.request()
        ids = self.rng.choice(([MERGER], [MERGER, "1"], ["1"]))
        self.say(f"{number} GetLocalDirsForExecutors({ids})", rpc(number, b"\x0a" + text(self.app) + texts(ids)))

    def odd(self):
        rng = self.rng
        rng.choice((lambda: self.push(app=self.app + "x"), lambda: self.push(attempt=self.attempt + 3), lambda: self.push(merge=-1), lambda: self.push(map=2_000_000_000),
                    lambda: self.push(reduce=-5), lambda: self.push(merge=self.latest[0] + 1, shuffle=5),
                    lambda: self.register(manager=rng.choice((SORT, SORT + ":{}", SORT + ":{", SORT + ':{"mergeDir":"a","attemptId":"x"}', SORT + ':{"attemptId":"2"}')))))()

    def register_again(self):
        self.register()

    def restart(self):
        """kill -9 of the service and a new start over its state."""
        if self.rng.random() < 0.25:
            self.half.clear()
            for shuffle in (0, 1):  # Spark's service leaves files of merges that had not ended where they are
                self.latest[shuffle] += (shuffle, self.latest[shuffle]) not in self.ended
            self.say("the service is killed and comes back", b"", answers=0, then="restart")
