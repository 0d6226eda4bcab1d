"""Long trainings that continue after their process was killed, to the same bytes.

A job opens a `StateFile` beside its output and trains inside `resuming`. Each of its trainings begins with a
`SavedTraining`, starts from its `state` if there is one, and saves again whenever that is `due`.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np

from carryover.provenance import writing

SECONDS = 600.0  # between saved states, unless the variable CARRYOVER_SAVE_EVERY sets another number
_ARRAY = "numpy array"


class StateFile:
    """States of a job's trainings, by their number in the order in which they begin.

    The file is read only by a job of the same `request` (which trainings by which code) in the same `environment`
    (software, processor, threads: all that bits depend on). Without a file nothing is saved.
    """

    def __init__(self, file: Path | None = None, request: str = "", environment: Mapping[str, Any] | None = None):
        self.file, self._job = file, json.dumps([request, environment], sort_keys=True)
        self._every = float(os.environ.get("CARRYOVER_SAVE_EVERY", SECONDS))
        self._begin = self._last = time.monotonic()
        self.begun, self.states = 0, dict[int, Any]()
        self.before = {"starts": 0, "seconds": 0.0}  # of the killed processes, up to their last saved state
        if file is not None and file.exists():
            self._load(file)

    def due(self) -> bool:
        """Whether it is time to save again."""
        return self.file is not None and time.monotonic() - self._last >= self._every

    def save(self) -> None:
        """Write all states: tensors, arrays, numbers, texts, and mappings and lists of such."""
        if self.file is None:
            return
        import torch  # not all trainings need it

        seconds = self.before["seconds"] + time.monotonic() - self._begin
        before = {"starts": self.before["starts"] + 1, "seconds": round(seconds, 3)}
        with writing.atomic(self.file) as unfinished:
            torch.save({"job": self._job, "before": before, "states": _converted(self.states)}, unfinished)
        self._last = time.monotonic()

    def _load(self, file: Path) -> None:
        import torch

        try:
            content = torch.load(file, weights_only=True)  # executes nothing
        except (RuntimeError, EOFError, pickle.UnpicklingError):
            print(f"{file} is damaged: training begins anew", file=sys.stderr)
            return
        if content["job"] == self._job:
            self.states, self.before = _converted(content["states"]), content["before"]


_CURRENT = ContextVar("current", default=StateFile())  # noqa: B039  # without a file it only counts


@contextmanager
def resuming(states: StateFile) -> Iterator[StateFile]:
    """Let the trainings in the block save their states in this file."""
    token = _CURRENT.set(states)
    try:
        yield states
    finally:
        _CURRENT.reset(token)


class SavedTraining:
    """The saved `state` of the training of `runs` (R,), empty if there is none.

    The part of the `history` (of the class `History`) that belongs to these runs is saved with it, and set back to it.
    """

    def __init__(self, history: Any, runs: np.ndarray) -> None:
        self._file, self._history, self._runs = _CURRENT.get(), history, np.array(runs, dtype=np.int64)
        self._number, self._file.begun = self._file.begun, self._file.begun + 1
        saved = self._file.states.get(self._number)
        if saved is None or not np.array_equal(saved["runs"], self._runs):  # other chunks, as of a GPU's memory
            saved = {"state": {}, "history": None}
        self.state, self.due = saved["state"], self._file.due
        history.load(self._runs, saved["history"])

    def save(self, finished: bool = False, **state: Any) -> None:
        """Write the present state; that of a finished training is written when the next one is due."""
        history = self._history.state(self._runs)
        self._file.states[self._number] = {"runs": self._runs, "history": history, "state": state}
        if not finished or self.due():
            self._file.save()


def _converted(value: Any) -> Any:
    """Arrays as tensors, which can be read without executing anything, and such tensors as arrays again."""
    if isinstance(value, np.ndarray | np.generic):
        import torch

        return {_ARRAY: torch.from_numpy(np.array(value))}
    if isinstance(value, Mapping):
        return value[_ARRAY].numpy() if _ARRAY in value else {name: _converted(item) for name, item in value.items()}
    return [_converted(item) for item in value] if isinstance(value, list | tuple) else value
