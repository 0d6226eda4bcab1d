"""The state of a long training on disk, so that one that was killed goes on where it was."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from carryover.provenance import store

SECONDS = 120.0  # between saved states; the variable CARRYOVER_SAVE_EVERY says otherwise


class SavedStates:
    """States of trainings by name, each a file in `folder`, written whole or not at all.

    A state is of one `request`, a text that says what is trained by which code, and is passed over for any other. It is
    a mapping of tensors, numbers and texts, and mappings and lists of such: nothing that is run when it is read.

    Without a folder nothing is saved.
    """

    def __init__(self, folder: Path | None = None, request: str = "") -> None:
        self._folder, self._request = folder, request
        self._every = float(os.environ.get("CARRYOVER_SAVE_EVERY", SECONDS))
        self._last = time.monotonic()

    def due(self) -> bool:
        """Whether it is time to save a state again."""
        return self._folder is not None and time.monotonic() - self._last >= self._every

    def save(self, name: str, state: Mapping[str, Any]) -> None:
        """Keep a state in the place of an earlier one; store.DataError where that cannot be written."""
        if self._folder is None:
            return
        with store.atomic(self._folder / f"{name}.pt") as file:
            torch.save({"request": self._request, "state": dict(state)}, file)
        self._last = time.monotonic()

    def load(self, name: str) -> dict[str, Any] | None:
        """The state that was saved for this request; None where there is none."""
        if self._folder is None or not (path := self._folder / f"{name}.pt").is_file():
            return None
        try:
            saved = torch.load(path, map_location="cpu", weights_only=True)
        except Exception:  # a damaged file can raise anything at all
            print(f"{path} cannot be read: training starts anew", file=sys.stderr)
            return None
        return saved["state"] if saved.get("request") == self._request else None
