"""How tests and benches wait for an event: one way for all."""
import http.client
import os
import time

# How many times as long as usual is waited: more where the machine has much else to do.
PATIENCE = float(os.environ.get("FAIRLEAD_INTEROP_PATIENCE", "1"))
# What a condition raises while its event is not there: a daemon does not answer yet, or its answer has not everything.
NOT_YET = (OSError, http.client.HTTPException, LookupError, ValueError)


def until(condition, what, seconds=60, pause=0.02, watch=lambda: None):
    """Waits for an event, `what`: gives the first value of `condition` that is true. `watch` raises where waiting is in vain. Fails loudly when
    the event does not come within the time."""
    deadline, last = time.monotonic() + seconds * PATIENCE, None
    while time.monotonic() < deadline:
        watch()
        try:
            if value := condition():
                return value
        except NOT_YET as why:
            last = why
        time.sleep(pause)
    raise AssertionError(f"waited {seconds} s for {what}") from last
