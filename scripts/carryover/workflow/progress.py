"""One line that tells how a long training is getting on, for a terminal and for a log file.

    with Progress("finetune", total=100_000) as progress:
        progress.update(step=step, active=int(active.sum()), loss=loss.max())

In a terminal the line is rewritten in place (by tqdm). Elsewhere it is a plain line at most every ten seconds and one
at the end, so that a log reads well and stays short.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any, TextIO

from tqdm import tqdm


class Progress:
    """Context manager; `total` is the number of steps if it is known, `stream` is standard error unless given.

    Calls are cheap: what is not shown is not looked at, so a loss may be a tensor on a device.
    """

    def __init__(self, description: str, total: int | None = None, stream: TextIO | None = None) -> None:
        self.description, self.total = description, total
        self._stream = sys.stderr if stream is None else stream
        self._terminal = self._stream.isatty()
        self._pause = 0.1 if self._terminal else 10.0  # seconds between lines

    def __enter__(self) -> Progress:
        self._start = self._shown = time.monotonic()
        self._state: dict[str, Any] = {}
        self._bar = None
        if self._terminal:
            self._bar = tqdm(
                desc=self.description, total=self.total, file=self._stream, unit=" steps", dynamic_ncols=True
            )
        return self

    def __call__(self, state: Mapping[str, Any]) -> None:
        """`update` from a mapping, the form in which the trainers report."""
        self.update(**state)

    def update(self, **state: Any) -> None:
        """Tell the `step` and what else is worth a word, such as `active` runs and `loss`; what is left out stays."""
        self._state |= state
        now = time.monotonic()
        if now - self._shown >= self._pause:
            self._shown = now
            self._show()

    def __exit__(self, kind, error, trace) -> None:
        self._show(end="done" if kind is None else "stopped")
        if self._bar is not None:
            self._bar.close()

    def _show(self, end: str | None = None) -> None:
        step = self._state.get("step")
        told = [f"{name} {_short(value)}" for name, value in self._state.items() if name != "step"]
        if self._bar is not None:
            self._bar.n = self._bar.n if step is None else int(step)
            self._bar.set_postfix_str(", ".join(told), refresh=False)
            self._bar.refresh()
            return
        elapsed = time.monotonic() - self._start
        parts = [end] if end else []
        if step is not None:
            parts.append(
                f"step {int(step)}" + (f" of {self.total} ({int(step) / self.total:.0%})" if self.total else "")
            )
        parts += [*told, f"{tqdm.format_interval(elapsed)} elapsed"]
        if self.total and step and not end:
            parts.append(f"at most {tqdm.format_interval(elapsed * (self.total / int(step) - 1))} left")
        print(f"{self.description}: {', '.join(parts)}", file=self._stream, flush=True)


def _short(value: Any) -> str:
    return str(value) if isinstance(value, str | int) else f"{float(value):.3g}"
