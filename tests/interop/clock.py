"""The machine's clock, set while daemons run (tests/adversary/clock_step.cc)."""
import contextlib
import os
import pathlib
import struct
import tempfile

import peers

HOUR = 3600


class Clock:
    """As the processes see it that are started with its environment."""

    def __init__(self):
        self.file = pathlib.Path(tempfile.mkstemp(prefix="fairlead-clock-")[1])
        self.set(0)
        self.environment = {"LD_PRELOAD": str(peers.BINARY.parent / "tests/libclock_step.so"), "FAIRLEAD_TEST_CLOCK": str(self.file)}

    def set(self, seconds):
        """Seconds ahead of the real one."""
        with open(self.file, "r+b") as file:  # daemons have it mapped
            file.write(struct.pack("=q", seconds))

    @contextlib.contextmanager
    def given(self):
        """Whatever is started meanwhile sees it."""
        os.environ.update(self.environment)
        try:
            yield
        finally:
            for name in self.environment:
                del os.environ[name]

    def remove(self):
        self.file.unlink()
