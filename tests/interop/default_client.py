"""A client that fails over as Hadoop's do at their default settings, without a JDK: many of them cost little."""
import socket
import struct
import threading
import time

import rpc


class DefaultClient(threading.Thread):
    """Asks for a new application again and again over one connection. Of one call the first failover is at once; before the second
    Hadoop's client sleeps for half a minute and more (RetryPolicies.FailoverOnNetworkExceptionRetry), which is an error here."""

    def __init__(self, addresses, number):
        super().__init__(daemon=True)
        self.addresses = addresses
        self.client_id = b"default" + struct.pack(">Q", number) + b"\0"
        self.current = 0
        self.peer = None
        self.ends = threading.Event()
        self.seconds = []  # of each call, as (when it began, how long it took)
        self.sent_to_sleep = []  # the reasons

    def run(self):
        while not self.ends.is_set():
            began = time.monotonic()
            if not self.call():
                return
            self.seconds.append((began, time.monotonic() - began))
        self.close()

    def call(self):
        reasons = []
        while True:
            try:
                refused = self.ask()
            except OSError as error:
                refused = str(error) or type(error).__name__
            if refused is None:
                return True
            reasons.append(f"{self.addresses[self.current]}: {refused}")
            self.close()
            self.current = (self.current + 1) % len(self.addresses)
            if len(reasons) > 1:
                if not self.ends.is_set():
                    self.sent_to_sleep.append(reasons)
                return False

    def ask(self):
        """The class of the exception that was the answer, or None."""
        if self.peer is None:
            self.peer = socket.create_connection(self.addresses[self.current], timeout=60)
            self.peer.sendall(rpc.preamble() + rpc.context())
        self.peer.sendall(rpc.call("getNewApplication", call_id=len(self.seconds) % 1000))
        received = self.read(4)
        body = self.read(struct.unpack(">i", received)[0])
        size, at = rpc.read_varint(body, 0)
        header = rpc.fields(body[at:at + size])
        return header.get(4, b"an exception").decode() if header.get(2, 0) else None

    def read(self, size):
        data = b""
        while len(data) < size:
            part = self.peer.recv(size - len(data))
            if not part:
                raise OSError("closed without an answer")
            data += part
        return data

    def close(self):
        if self.peer:
            self.peer.close()
            self.peer = None


class Clients:
    """A number of them."""

    def __init__(self, addresses, count):
        self.all = [DefaultClient(addresses, number) for number in range(count)]
        for client in self.all:
            client.start()

    def stop(self):
        for client in self.all:
            client.ends.set()
        for client in self.all:
            client.join(timeout=70)

    def took_since(self, moment):
        """Seconds of the calls that ended after it, in order."""
        return sorted(seconds for client in self.all for began, seconds in client.seconds if began + seconds > moment)

    def all_answered_since(self, moment):
        """Whether every one that goes on had a call that began after it answered. One that has not may still be on its way from a standby, which
        is its first failover: a kill would then be its second."""
        return all(not client.is_alive() or client.seconds and client.seconds[-1][0] > moment for client in self.all)

    def sent_to_sleep(self):
        return [reasons for client in self.all for reasons in client.sent_to_sleep]
