"""Connections of strangers from eight addresses at one port after the other, and how long a newcomer from a ninth waits beside them."""
import contextlib
import math
import socket
import statistics
import sys
import threading

ADDRESSES = [f"127.0.0.{number}" for number in range(2, 10)]
NOISE_S = 0.02  # so much may be this machine's own


class Crowd:
    """As many from each address, that say the words in turn and stay until the daemon closes them."""

    def __init__(self, address, words, count):
        self.peers = []
        sources = [threading.Thread(target=self._come, args=(source, address, words, count // len(ADDRESSES))) for source in ADDRESSES]
        for source in sources:
            source.start()
        for source in sources:
            source.join()

    def _come(self, source, address, words, count):
        for number in range(count):
            peer = socket.socket()
            self.peers.append(peer)
            with contextlib.suppress(OSError):
                peer.settimeout(5)
                peer.bind((source, 0))
                peer.connect(address)
                peer.sendall(words[number % len(words)])

    def close(self):
        for peer in self.peers:
            peer.close()


def p99(seconds):
    return sorted(seconds)[max(math.ceil(len(seconds) * 0.99) - 1, 0)]


def require_undisturbed(test, ports, strangers, samples, register):
    """`ports`: the address of each and what strangers say there. `register` gives the seconds of one registration, of which 99 in 100 take at most
    twice as long beside a crowd; measured twice again, should this machine have had something else to do."""
    for address, words in ports:
        with test.subTest(port=address):
            for last in (False, False, True):
                alone = [register() for _ in range(samples)]
                with contextlib.closing(Crowd(address, words, strangers)):
                    beside = [register() for _ in range(samples)]
                (usual, slow), (usual_beside, slow_beside) = [[1000 * of(seconds) for of in (statistics.median, p99)] for seconds in (alone, beside)]
                told = f"{strangers} at {address}: p50 {usual:.1f} and {usual_beside:.1f} ms, p99 {slow:.1f} ms alone and {slow_beside:.1f} ms beside"
                print(told, file=sys.stderr)
                if slow_beside <= max(2 * slow, slow + 1000 * NOISE_S):
                    break
                test.assertFalse(last, told)


def by_command(case, test):
    """--flood [CONNECTIONS]: this test alone, with 10,000 at each port."""
    if "--flood" in sys.argv:
        number = sys.argv[sys.argv.index("--flood") + 1:]
        case.strangers, case.samples = int(number[0]) if number else 10_000, 300
        sys.argv[1:] = [f"{case.__name__}.{test}"]
