"""An unmanaged application master in raw bytes: enough to ask for what no honest master asks."""
import base64
import hashlib
import os
import re
import socket
import struct

import rpc

PROTOCOL = "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB"
_NEGOTIATE, _INITIATE = 1, 2


def digest_response(challenge, user, password):
    """The answer to a challenge of DIGEST-MD5 (RFC 2831), quality `auth`."""
    nonce = re.search(r'nonce="([^"]*)"', challenge)[1]
    cnonce = base64.b64encode(os.urandom(18)).decode()
    uri = "/default"
    md5 = hashlib.md5
    secret = md5(f"{user}:default:{password}".encode()).digest() + f":{nonce}:{cnonce}".encode()
    proof = md5(f"{md5(secret).hexdigest()}:{nonce}:00000001:{cnonce}:auth:{md5(f'AUTHENTICATE:{uri}'.encode()).hexdigest()}".encode()).hexdigest()
    return (f'charset=utf-8,username="{user}",realm="default",nonce="{nonce}",nc=00000001,cnonce="{cnonce}",digest-uri="{uri}",maxbuf=65536,'
            f'response={proof},qop=auth')


def ask(priority, name, mib, count):
    """A ResourceRequestProto."""
    return rpc.field(1, rpc.field(1, priority)) + rpc.field(2, name) + rpc.field(3, rpc.field(1, mib) + rpc.field(2, 1)) + rpc.field(4, count)


class TokenConnection:
    """A connection of Hadoop's RPC whose caller shows a token. Raises ConnectionError where the other side ends it."""

    def __init__(self, address, seconds):
        self.peer = socket.create_connection(address, timeout=seconds)
        self.peer.sendall(rpc.preamble(auth=0xDF) + rpc.sasl(_NEGOTIATE))
        offered = [rpc.fields(value) for number, value in rpc.every_field(self.answer()[1]) if number == 4]
        [self.challenge] = [auth[5].decode() for auth in offered if auth[1] == b"TOKEN"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.peer.close()

    def words(self, identifier, secret):
        """What shows a token: bytes and bytes."""
        return digest_response(self.challenge, *(base64.b64encode(part).decode() for part in (identifier, secret)))

    def show(self, words):
        """Why they are refused; None: they are taken."""
        self.peer.sendall(rpc.sasl(_INITIATE, words.encode(), "TOKEN"))
        try:
            header, _ = self.answer()
        except ConnectionError:
            return "closed"
        return header.get(5, b"").decode() if header.get(2, 0) else None

    def answer(self):
        """Header and message of the next answer; the message of a refusal is empty."""
        body = self._exactly(struct.unpack(">i", self._exactly(4))[0])
        size, at = rpc.read_varint(body, 0)
        header, rest = rpc.fields(body[at:at + size]), body[at + size:]
        if not rest:
            return header, b""
        length, at = rpc.read_varint(rest, 0)
        return header, rest[at:at + length]

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            part = self.peer.recv(count - len(data))
            if not part:
                raise ConnectionError("closed without an answer")
            data += part
        return data


class Master(TokenConnection):
    """Of an application that was submitted as unmanaged; `token`: the am_rm_token of its report (TokenProto)."""

    def __init__(self, address, token, seconds=60):
        super().__init__(address, seconds)
        self.call_id, self.response_id = 0, 0
        fields = rpc.fields(token)
        refused = self.show(self.words(fields[1], fields[2]))
        assert refused is None, refused
        self.peer.sendall(rpc.context(None, PROTOCOL))

    def call(self, method, body):
        """(the exception's class and message or None, the response)."""
        self.call_id += 1
        self.peer.sendall(rpc.call(method, body, PROTOCOL, self.call_id))
        header, message = self.answer()
        return (f"{header.get(4, b'').decode()}: {header.get(5, b'').decode()}" if header.get(2, 0) else None), message

    def register(self):
        return self.call("registerApplicationMaster", rpc.field(1, "127.0.0.1") + rpc.field(2, 0) + rpc.field(3, ""))

    def allocate(self, asks):
        refused, response = self.call("allocate", b"".join(rpc.field(1, one) for one in asks) + rpc.field(4, self.response_id))
        if refused is None:
            self.response_id += 1
        return refused, response
