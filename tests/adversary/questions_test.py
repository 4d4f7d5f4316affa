#!/usr/bin/env python3
"""Questions about the future that ask for as much as they can, against the real resource manager: many changes, each within its own bound, and
files of thousands of queues. Each costs bounded memory and the loop nothing, and ends with whoever asked."""
import json
import socket
import sys
import unittest

from bodies_test import JSON, Bodies
from costs import forget_peak, healthy, memory_kib
from strangers_test import ask, until

# docs/ask.md says so.
QUESTION_KIB = 192 << 10
TARGET = "/fairlead/v1/what-if?user.name=eve"


def queues(count, inside=""):
    return "<allocations>" + "".join(f'<queue name="q{i}">{inside}</queue>' for i in range(count)) + "</allocations>"


class Questions(Bodies):
    """A node that has room for all that is asked for at once."""

    keys = {"yarn.nodemanager.resource.memory-mb": 10**9, "yarn.nodemanager.resource.cpu-vcores": 10**6}

    def setUp(self):
        super().setUp()
        self.start_node()

    def question(self, statuses, changes=(), **further):
        """Gives the answer, or what is wrong."""
        pid = self.processes["rm"].pid
        forget_peak(pid)
        memory = memory_kib(pid, "VmRSS")
        with healthy(self, self.rm):
            status, answer = ask(self.rm, TARGET, "POST", body=json.dumps({"changes": list(changes), **further}), headers={"Content-Type": JSON})
        peak = memory_kib(pid, "VmHWM") - memory
        self.assertIn(status, statuses, answer[:500])
        self.assertLessEqual(peak, QUESTION_KIB, f"KiB more for {str(changes)[:100]}")
        return json.loads(answer)

    def test_the_largest_job(self):
        told = self.question((200,), ["submit 100000x1GiB,1x10m@root.default"])
        self.assertIn("and ends in", told["sentences"][0])

    def test_the_largest_job_on_the_most_nodes(self):
        self.question((200,), ["add-nodes 10000", "submit 100000x1GiB,1x10m@root.default"])

    def test_many_jobs_within_the_bound(self):
        told = self.question((200,), ["submit 1587x1GiB,1x10m@root.default"] * 63)
        self.assertEqual(len([one for one in told["sentences"] if one.startswith("Job ")]), 63)

    def test_jobs_have_one_bound_together(self):
        for changes in (["submit 100000x1GiB,1x10m@root.default"] * 64, ["submit 50001x1GiB,1x10m@root.default"] * 2):
            self.assertEqual(self.question((400,), changes)["error"], "at most 100000 containers can be submitted, in all")
        self.assertEqual(self.question((400,), ["add-nodes 5001"] * 2)["error"], "at most 10000 nodes can be added, in all")

    def test_eight_thousand_queues(self):
        self.question((200,), queues_file=queues(8000))

    def test_eight_thousand_queues_with_jobs_in_some(self):
        changes = [f"submit 100x1GiB,1x10m@root.q{i}" for i in range(60)]
        self.question((200,), changes, queues_file=queues(8000, "<weight>2</weight>"))

    def test_more_queues_are_not_asked_about(self):
        for file in (queues(10_002), queues(60_000), queues(10_002).replace("queue", "pool"), queues(10_002).replace(" ", "\n")):
            self.assertIn("more than 10,000 queues", self.question((400,), queues_file=file)["error"])

    def test_who_hangs_up_is_worked_for_no_more(self):
        """Sixty questions of one user who does not wait; another's is answered."""
        body = json.dumps({"changes": ["submit 100000x1GiB,1x1s@root.default"], "for": "1d"}).encode()
        head = f"POST {TARGET} HTTP/1.1\r\nHost: 127.0.0.1:{self.rm}\r\nContent-Type: {JSON}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        for _ in range(60):
            with socket.create_connection(("127.0.0.1", self.rm)) as stranger:
                stranger.sendall(head + body)
        target = TARGET.replace("eve", "ann")
        asked = json.dumps({"changes": ["add-nodes 1"]})
        until(lambda: ask(self.rm, target, "POST", body=asked, headers={"Content-Type": JSON})[0] == 200, "an answer", 20)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
