"""The state of a job's long trainings on disk, so that one that was killed goes on where it was, to the same bytes."""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from carryover.provenance import writing

SECONDS = 120.0  # between saved states; the variable CARRYOVER_SAVE_EVERY says otherwise
_ARRAY = "numpy array"


class SavedStates:
    """States of a job's trainings by number, in the order in which they begin; see `course.Course` for one of them.

    Each is a mapping of tensors, arrays, numbers, texts, and mappings and lists of such: nothing that is run when it is
    read. Files are written whole or not at all, and one that was edited is passed over. Those of another `request` (a
    text that says what is trained by which code) or of another `environment` (software, processor, threads: all that
    bits depend on) are left alone, and the latter are said.

    Without a folder nothing is saved. PyTorch is imported where something is: not all trainings need it.
    """

    def __init__(
        self, folder: Path | None = None, request: str = "", environment: Mapping[str, Any] | None = None
    ) -> None:
        self._environment, self._number = dict(environment or {}), 0
        self._every = float(os.environ.get("CARRYOVER_SAVE_EVERY", SECONDS))
        self._begin = self._last = time.monotonic()
        self._waiting: dict[int, Any] = {}  # trainings that have ended since the last file was written
        self._found: dict[int, Any] = {}
        self.before = {"starts": 0, "seconds": 0.0}  # of processes that were cut off, up to the states that were found
        self._folder = None
        if folder is not None:
            key = json.dumps([request, self._environment], sort_keys=True)
            self._folder = folder / hashlib.sha256(key.encode()).hexdigest()[:16]
            self._find(request)

    @property
    def keeps(self) -> bool:
        """Whether there is a folder."""
        return self._folder is not None

    def begin(self) -> tuple[int, dict[str, Any] | None]:
        """The number of the next training, and what is known of it from before."""
        number, self._number = self._number, self._number + 1
        return number, self._found.pop(number, None)

    def due(self) -> bool:
        """Whether it is time to save a state again."""
        return self.keeps and time.monotonic() - self._last >= self._every

    def save(self, number: int, state: Mapping[str, Any]) -> None:
        """Keep where the training `number` is; DataError where that cannot be written."""
        if self.keeps:
            self._keep_ended()
            self._write("current", {number: dict(state)})
            self._last = time.monotonic()

    def end(self, number: int, state: Mapping[str, Any]) -> None:
        """Keep how the training `number` ended, as soon as it is time."""
        if self.keeps:
            self._waiting[number] = dict(state)
            if self.due():
                self._keep_ended()
                self._last = time.monotonic()

    def _keep_ended(self) -> None:
        if self._waiting:
            self._write(f"ended{min(self._waiting):06}", self._waiting)
            self._waiting = {}

    def _write(self, name: str, states: Mapping[int, Any]) -> None:
        seconds = self.before["seconds"] + time.monotonic() - self._begin
        told = {"environment": self._environment, "starts": self.before["starts"] + 1, "seconds": round(seconds, 3)}
        import torch

        payload = io.BytesIO()
        torch.save(_stored(dict(states)), payload)
        rest = json.dumps(told, sort_keys=True).encode() + b"\n" + payload.getbuffer()
        assert self._folder is not None
        with writing.atomic(self._folder / f"{name}.pt") as file:
            file.write_bytes(hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest)

    def _find(self, request: str) -> None:
        assert self._folder is not None
        for file in sorted(self._folder.glob("*.pt"), reverse=True):  # what has ended is later than where it was
            try:
                told, states = _read(file)
            except Exception:  # a damaged file can raise anything at all
                print(f"{file} is damaged, or was edited: what it holds is trained anew", file=sys.stderr)
                continue
            self._found |= states
            before = {name: told[name] for name in self.before}
            self.before = max(self.before, before, key=lambda one: (one["starts"], one["seconds"]))
        if not self._found:
            self._tell_others(request)

    def _tell_others(self, request: str) -> None:
        """Say that there are states of the same request, which cannot be gone on with."""
        assert self._folder is not None
        for file in sorted(self._folder.parent.glob("*/*.pt")):
            try:
                there = _told(file.read_bytes())["environment"]
            except Exception:  # of damaged ones there is nothing to say
                continue
            key = hashlib.sha256(json.dumps([request, there], sort_keys=True).encode()).hexdigest()[:16]
            if key == file.parent.name:
                other = [name for name in self._environment if self._environment[name] != there.get(name)]
                what = " and ".join(other)
                print(f"{file.parent} was saved with other {what}: training begins anew", file=sys.stderr)
                return


def _told(content: bytes) -> dict[str, Any]:
    """What a file says of itself; ValueError where it was edited."""
    digest, rest = content.split(b"\n", 1)
    if hashlib.sha256(rest).hexdigest().encode() != digest:
        raise ValueError
    return json.loads(rest.split(b"\n", 1)[0])


def _read(file: Path) -> tuple[dict[str, Any], dict[int, Any]]:
    import torch

    content = file.read_bytes()
    payload = io.BytesIO(content.split(b"\n", 2)[2])
    return _told(content), _restored(torch.load(payload, weights_only=True))


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
