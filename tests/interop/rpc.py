"""Hadoop RPC in raw bytes: enough to say it wrongly, and to read what comes back."""
import socket
import struct

CONTEXT, PING, SASL = -3, -4, -33
FIXED = {1: 8, 5: 4}  # bytes of a value by its wire type
CLIENT_PROTOCOL = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB"


def varint(number):
    out = b""
    number &= (1 << 64) - 1
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    """A field of a message: numbers as varints, texts, bytes and messages with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def delimited(message):
    return varint(len(message)) + message


def read_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def every_field(data):
    """Numbers and values of a message's fields, as they come."""
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        if tag & 7 == 0:
            value, at = read_varint(data, at)
        elif tag & 7 in FIXED:
            value = data[at:at + FIXED[tag & 7]]
            at += FIXED[tag & 7]
        else:
            length, at = read_varint(data, at)
            value = data[at:at + length]
            at += length
        yield tag >> 3, value


def fields(data):
    """Field number -> last value of a message."""
    return dict(every_field(data))


def preamble(auth=0, version=9, magic=b"hrpc"):
    return magic + bytes([version, 0, auth])


def request_header(call_id, kind=2, operation=0, client=b"c" * 16, retries=-1):
    return field(1, kind) + field(2, operation) + field(3, call_id << 1 ^ call_id >> 63) + field(4, client) + field(5, retries << 1 ^ retries >> 63)


def frame(*parts):
    body = b"".join(parts)
    return struct.pack(">i", len(body)) + body


def context(user="root", protocol=CLIENT_PROTOCOL):
    user_info = field(2, field(1, user)) if user is not None else b""
    return frame(delimited(request_header(CONTEXT)), delimited(user_info + field(3, protocol)))


def call(method, body=b"", protocol=CLIENT_PROTOCOL, call_id=0, version=1, retries=-1):
    header = field(1, method) + field(2, protocol) + field(3, version)
    return frame(delimited(request_header(call_id, retries=retries)), delimited(header), delimited(body))


def sasl(state, token=None, method=None):
    message = field(1, 0) + field(2, state)
    if token is not None:
        message += field(3, token)
    if method is not None:
        message += field(4, field(1, method) + field(2, "DIGEST-MD5") + field(3, "") + field(4, "default"))
    return frame(delimited(request_header(SASL, client=b"")), delimited(message))


STATUS = ["SUCCESS", "ERROR", "FATAL"]


def answers(data):
    """What a server sent, as texts: call id, status, class, first line, detail."""
    seen = []
    while len(data) >= 4:
        (length,) = struct.unpack(">i", data[:4])
        if not 0 < length <= len(data) - 4:
            break
        body, data = data[4:4 + length], data[4 + length:]
        size, at = read_varint(body, 0)
        header = fields(body[at:at + size])
        call_id = header.get(1, 0)
        text = header.get(5, b"").decode(errors="replace").split("\n")[0]
        seen.append(f"{call_id - (1 << 32) if call_id >> 31 else call_id} {STATUS[header.get(2, 0)]} {header.get(4, b'').decode()} {text} detail={header.get(6)}")
    return seen + ([f"other bytes: {data[:60]!r}"] if data else [])


def talk(address, data, seconds=3.0, shut=False):
    """Sends bytes and gives what came back within the time, and whether the server closed."""
    with socket.create_connection(address, timeout=10) as peer:
        received, closed = b"", False
        try:
            peer.sendall(data)
            if shut:
                peer.shutdown(socket.SHUT_WR)
            peer.settimeout(seconds)
            while True:
                part = peer.recv(65536)
                if not part:
                    closed = True
                    break
                received += part
        except TimeoutError:
            pass
        except OSError:  # reset
            closed = True
    return received, closed


def ask(address, data, seconds=10.0):
    """Sends bytes and gives the first answer: (the exception's class or None, the message)."""
    with socket.create_connection(address, timeout=seconds) as peer:
        peer.sendall(data)
        peer.settimeout(seconds)
        received = b""
        while len(received) < 4 or len(received) < 4 + struct.unpack(">i", received[:4])[0]:
            part = peer.recv(65536)
            if not part:
                raise OSError("closed without an answer")
            received += part
    body = received[4:]
    size, at = read_varint(body, 0)
    header, rest = fields(body[at:at + size]), body[at + size:]
    if header.get(2, 0) != 0:
        return header.get(4, b"").decode(), b""
    length, at = read_varint(rest, 0)
    return None, rest[at:at + length]
