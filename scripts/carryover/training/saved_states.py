"""The state of a job's long trainings on disk, so that one that was killed goes on where it was, to the same bytes."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from carryover.provenance import writing

SECONDS = 600.0  # between saved states; the variable CARRYOVER_SAVE_EVERY says otherwise
_ARRAY = "numpy array"


class SavedStates:
    """States of a job's trainings by number, in the order in which they begin; see `course.Course` for one of them.

    Each is a mapping of tensors, arrays, numbers, texts, and mappings and lists of such: nothing that is run when it is
    read. All stand in one file, which is taken up only by the same `request` (a text that says what is trained by which
    code) in the same `environment` (software, processor, threads: all that bits depend on).

    Without a file nothing is saved. PyTorch is imported where something is: not all trainings need it.
    """

    def __init__(
        self, file: Path | None = None, request: str = "", environment: Mapping[str, Any] | None = None
    ) -> None:
        self._file, self._request, self._environment = file, request, json.dumps(environment, sort_keys=True)
        self._every = float(os.environ.get("CARRYOVER_SAVE_EVERY", SECONDS))
        self._begin = self._last = time.monotonic()
        self._number, self._states = 0, dict[int, Any]()
        self.before = {"starts": 0, "seconds": 0.0}  # of processes that were cut off, up to the state that was found
        if file is not None and file.exists():
            self._load(file)

    @property
    def keeps(self) -> bool:
        """Whether states are saved."""
        return self._file is not None

    def begin(self) -> tuple[int, dict[str, Any] | None]:
        """The number of the next training, and what is known of it from before."""
        number, self._number = self._number, self._number + 1
        return number, self._states.get(number)

    def due(self) -> bool:
        """Whether it is time to save a state again."""
        return self.keeps and time.monotonic() - self._last >= self._every

    def save(self, number: int, state: Mapping[str, Any]) -> None:
        """Keep where the training `number` is; DataError where that cannot be written."""
        if self._file is None:
            return
        import torch

        self._states[number] = dict(state)
        seconds = self.before["seconds"] + time.monotonic() - self._begin
        about = {
            "request": self._request,
            "environment": self._environment,
            "starts": self.before["starts"] + 1,
            "seconds": round(seconds, 3),
        }
        with writing.atomic(self._file) as unfinished:
            torch.save({"about": about, "states": _stored(self._states)}, unfinished)
            digest = hashlib.sha256(unfinished.read_bytes()).hexdigest()
            with unfinished.open("ab") as end:
                end.write(digest.encode())
        self._last = time.monotonic()

    def end(self, number: int, state: Mapping[str, Any]) -> None:
        """Keep how the training `number` ended, as soon as it is time."""
        self._states[number] = dict(state)
        if self.due():
            self.save(number, state)

    def _load(self, file: Path) -> None:
        import io

        import torch

        content = file.read_bytes()
        if hashlib.sha256(content[:-64]).hexdigest().encode() != content[-64:]:
            print(f"{file} is damaged, or was edited: training begins anew", file=sys.stderr)
            return
        found = torch.load(io.BytesIO(content[:-64]), weights_only=True)
        about = found["about"]
        if about["request"] != self._request:
            return
        if about["environment"] != self._environment:
            then, now = json.loads(about["environment"]), json.loads(self._environment)
            other = " and ".join(name for name in now if now[name] != then.get(name))
            print(f"{file} was saved with other {other}: training begins anew", file=sys.stderr)
            return
        self._states = _restored(found["states"])
        self.before = {name: about[name] for name in self.before}


def _stored(value: Any) -> Any:
    """With arrays as tensors, which can be read without running anything."""
    if isinstance(value, Mapping):
        return {name: _stored(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_stored(one) for one in value]
    if isinstance(value, np.ndarray | np.generic):
        import torch

        return {_ARRAY: torch.from_numpy(np.array(value))}
    return value


def _restored(value: Any) -> Any:
    if isinstance(value, dict):
        return value[_ARRAY].numpy() if _ARRAY in value else {name: _restored(one) for name, one in value.items()}
    return [_restored(one) for one in value] if isinstance(value, list) else value
