"""An executor at a shuffle service's port, as Spark's: it registers."""
import socket
import struct

RPC_REQUEST, RPC_RESPONSE = 3, 4
REGISTER_EXECUTOR = b"\x02"


def _text(word):
    return struct.pack(">i", len(word)) + word.encode()


def register(peer, executor, directory):
    """Sends RegisterExecutor; the executor's number is the request's."""
    body = (REGISTER_EXECUTOR + _text("app-1") + _text(str(executor)) + struct.pack(">i", 1) + _text(str(directory)) + struct.pack(">i", 64)
            + _text("org.apache.spark.shuffle.sort.SortShuffleManager"))
    peer.sendall(struct.pack(">qbqi", 8 + 1 + 8 + 4 + len(body), RPC_REQUEST, executor, len(body)) + body)


def await_answer(peer, executor):
    """The answer to that, whole; anything but success is an error."""
    peer.settimeout(10)
    length, kind, request = struct.unpack(">qbq", peer.recv(17, socket.MSG_WAITALL))
    rest = peer.recv(length - 17, socket.MSG_WAITALL)
    assert (kind, request) == (RPC_RESPONSE, executor), rest
