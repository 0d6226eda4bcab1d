"""A line on the progress of a long training, at most every ten seconds and at its end.

with Progress("finetune") as progress:
    progress({"step": step, "active": int(active.sum()), "loss": loss.max()})
"""

import sys
import time

PAUSE = 10.0  # seconds between lines


class Progress:
    """Context manager that is called with the state of a training.

    Calls are cheap: values that are not shown are not read, so a loss may be a tensor on a device.
    """

    def __init__(self, description):
        self.description, self.state = description, {}
        self.start = self.shown = time.monotonic()

    def __enter__(self):
        return self

    def __call__(self, state):
        self.state.update(state)
        if time.monotonic() - self.shown >= PAUSE:
            self.shown = time.monotonic()
            self.show()

    def __exit__(self, kind, error, trace):
        self.show("done, " if kind is None else "stopped, ")

    def show(self, end=""):
        values = "".join(f"{name} {float(value):g}, " for name, value in self.state.items())
        elapsed = time.monotonic() - self.start
        print(f"{self.description}: {end}{values}{elapsed:.0f} s elapsed", file=sys.stderr, flush=True)
