"""A peer of a ZooKeeper server in raw bytes, with an identity or without one: what a stranger reads and writes there."""
import socket
import struct

OPEN = [(31, "world", "anyone")]
NO_AUTH, NO_NODE = -102, -101
CREATE, DELETE, GET_DATA, SET_DATA, GET_ACL, SET_ACL, GET_CHILDREN, AUTH = 1, 2, 4, 5, 6, 7, 8, 100


class Refused(Exception):
    def __init__(self, code):
        super().__init__(f"ZooKeeper's error {code}")
        self.code = code


def buffer(data):
    data = data.encode() if isinstance(data, str) else data
    return struct.pack(">i", len(data)) + data


def acl_of(rights):
    return struct.pack(">i", len(rights)) + b"".join(struct.pack(">i", perms) + buffer(scheme) + buffer(who) for perms, scheme, who in rights)


def take(data, at):
    (size,) = struct.unpack_from(">i", data, at)
    return data[at + 4:at + 4 + max(size, 0)], at + 4 + max(size, 0)


class Peer:
    def __init__(self, address, identity=None):
        self.socket = socket.create_connection(address, timeout=10)
        self.number = 0
        self.send(struct.pack(">iqiq", 0, 0, 10_000, 0) + buffer(b"\0" * 16))
        self.receive()
        if identity:
            self.send(struct.pack(">iii", -4, AUTH, 0) + buffer("digest") + buffer(identity))
            self.reply()

    def close(self):
        self.socket.close()

    def send(self, body):
        self.socket.sendall(buffer(body))

    def exactly(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise OSError("closed by ZooKeeper")
            data += part
        return data

    def receive(self):
        return self.exactly(struct.unpack(">i", self.exactly(4))[0])

    def reply(self):
        body = self.receive()
        _, _, code = struct.unpack_from(">iqi", body)
        if code:
            raise Refused(code)
        return body[16:]

    def ask(self, kind, body):
        self.number += 1
        self.send(struct.pack(">ii", self.number, kind) + body)
        return self.reply()

    def get(self, path):
        return take(self.ask(GET_DATA, buffer(path) + b"\0"), 0)[0]

    def children(self, path):
        body = self.ask(GET_CHILDREN, buffer(path) + b"\0")
        names, at = [], 4
        for _ in range(struct.unpack_from(">i", body)[0]):
            name, at = take(body, at)
            names.append(name.decode())
        return names

    def create(self, path, data=b"", rights=OPEN):
        self.ask(CREATE, buffer(path) + buffer(data) + acl_of(rights) + struct.pack(">i", 0))

    def set(self, path, data):
        self.ask(SET_DATA, buffer(path) + buffer(data) + struct.pack(">i", -1))

    def delete(self, path):
        self.ask(DELETE, buffer(path) + struct.pack(">i", -1))

    def rights(self, path):
        body = self.ask(GET_ACL, buffer(path))
        found, at = [], 4
        for _ in range(struct.unpack_from(">i", body)[0]):
            (perms,) = struct.unpack_from(">i", body, at)
            scheme, at = take(body, at + 4)
            who, at = take(body, at)
            found.append((perms, scheme.decode(), who.decode()))
        return found

    def set_rights(self, path, rights):
        self.ask(SET_ACL, buffer(path) + acl_of(rights) + struct.pack(">i", -1))

    def tree(self, path):
        """The path and all below it, as far as it is still there."""
        try:
            names = self.children(path)
        except Refused as gone:
            if gone.code != NO_NODE:
                raise
            return []
        return [path, *(found for name in names for found in self.tree(f"{path.rstrip('/')}/{name}"))]
