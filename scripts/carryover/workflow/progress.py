"""A line on the progress of a long training, at most every ten seconds and at its end.

with Progress("finetune") as progress:
    progress({"step": step, "active": int(active.sum()), "loss": loss.max()})
"""

import sys
import time


class Progress:
    """Context manager that is called with the state of a training.

    Calls are cheap: values that are not shown are not read, so a loss may be a tensor on a device.
    """

    PAUSE = 10.0  # seconds between lines

    def __init__(self, description, stream=None):
        self.description, self.stream, self.state = description, stream or sys.stderr, {}

    def __enter__(self):
        self.start = self.shown = time.monotonic()
        return self

    def __call__(self, state):
        self.state.update(state)
        if time.monotonic() - self.shown >= self.PAUSE:
            self.shown = time.monotonic()
            self._show()

    def __exit__(self, kind, error, trace):
        self._show("done" if kind is None else "stopped")

    def _show(self, end=None):
        parts = [end] if end else []
        for name, value in self.state.items():
            parts.append(f"{name} {value}" if isinstance(value, str | int) else f"{name} {float(value):.3g}")
        parts.append(f"{time.monotonic() - self.start:.0f} s elapsed")
        print(f"{self.description}: {', '.join(parts)}", file=self.stream, flush=True)
