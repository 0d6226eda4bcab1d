"""Scores in a file, one line each as they come, so that a search that was cut off goes on where it was."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import site
import sys
import sysconfig
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from carryover.errors import UserError
from carryover.provenance.writing import FULL


class Point(NamedTuple):
    """One training."""

    factor: float
    seed: int
    rate: float = 1.0


class Journal:
    """A file of one JSON line per score, after one that says of which search; without a path nothing is kept.

    Raises:
        UserError: the file belongs to another search, holds something else, or cannot be written.
    """

    def __init__(self, path: str | Path | None, search: str) -> None:
        self.known: dict[Point, float] = {}
        self._file = None
        if path is None:
            return
        self._path = Path(path)
        try:
            kept = self._read(search) if self._path.exists() else 0
            self._file = self._path.open("ab")
            self._file.truncate(kept)
            if not kept:
                self._write({"search": search})
        except OSError as error:
            raise UserError(f"the journal {path} cannot be used ({error.strerror}): name a file of a folder") from None

    def _read(self, search: str) -> int:
        """How many bytes are of whole lines: the last may be half of one, of a search that was killed."""
        text = self._path.read_bytes()
        text = text[: text.rfind(b"\n") + 1]
        for number, line in enumerate(text.splitlines()):
            try:
                entry = json.loads(line)
                if number == 0:
                    found = entry["search"]
                else:
                    self.known[Point(entry["factor"], entry["seed"], entry["rate"])] = float(entry["score"])
            except (ValueError, KeyError, TypeError):
                raise UserError(
                    f"line {number + 1} of {self._path} is none of a journal of scores: name another file, or delete it"
                ) from None
            if found != search:
                raise UserError(
                    f"the journal {self._path} belongs to another search (its functions, state or options differ): "
                    "name another file, or delete it"
                )
        return len(text)

    def add(self, point: Point, score: float) -> None:
        self.known[point] = score
        if self._file is not None:
            self._write({**point._asdict(), "score": repr(score)})

    def _write(self, entry: dict) -> None:
        assert self._file is not None
        try:
            self._file.write(json.dumps(entry).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            with contextlib.suppress(OSError):  # it would write the same once more
                self._file.close()
            if error.errno not in FULL:
                raise
            raise UserError(f"cannot write {self._path}: {error.strerror}") from error

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def identity(run: Any) -> str:
    """A digest of what a function is made of: its code without its place, and the values that it refers to, as far as
    they are functions, numbers, text, arrays, tensors, or containers of those; of other objects, the type alone."""
    found = hashlib.sha256()
    _feed(found, run, {})
    return found.hexdigest()


def _feed(found: Any, value: Any, seen: dict[int, Any]) -> None:
    def tell(*words: object) -> None:
        found.update("\0".join(map(str, words)).encode() + b"\1")

    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        tell(type(value).__name__, repr(value))
        return
    if id(value) in seen:
        tell("again", list(seen).index(id(value)))
        return
    seen[id(value)] = value
    parts: list[Any] = []
    value = getattr(value, "__wrapped__", value)
    if isinstance(value, functools.partial):
        parts = [value.func, value.args, value.keywords]
    elif isinstance(value, types.MethodType):
        parts = [value.__func__, value.__self__]
    elif isinstance(value, types.FunctionType):
        parts = [value.__code__, value.__defaults__, value.__kwdefaults__]
        for cell in value.__closure__ or ():
            with contextlib.suppress(ValueError):  # one that is empty as yet
                parts.append(cell.cell_contents)
        if not _installed(value):
            names = sorted(_names(value.__code__))
            parts += [value.__globals__[name] for name in names if name in value.__globals__]
    elif isinstance(value, types.CodeType):
        found.update(value.co_code)
        parts = [value.co_names, value.co_consts]
    elif isinstance(value, Mapping):
        parts = [item for pair in value.items() for item in pair]
    elif isinstance(value, list | tuple | range):
        parts = list(value)
    elif isinstance(value, set | frozenset):
        parts = sorted(map(repr, value))
    elif isinstance(value, type):
        parts = [] if _installed(value) else [part for part in vars(value).values() if callable(part)]
    elif hasattr(value, "named_parameters"):
        parts = [value.state_dict()]
    elif hasattr(value, "model_dump"):  # parameters
        parts = list(value.model_dump().values())
    elif is_dataclass(value):
        parts = [getattr(value, field.name) for field in fields(value)]
    elif isinstance(value, np.ndarray) or hasattr(value, "untyped_storage"):
        tell(_digest(value))
    else:
        tell(getattr(value, "__qualname__", ""), getattr(value, "__name__", ""))
    tell(type(value).__qualname__, len(parts))
    for part in parts:
        _feed(found, part, seen)


def _digest(value: Any) -> str:
    """Of an array's or tensor's type, shape and values."""
    if not isinstance(value, np.ndarray):
        import torch

        value = value.detach().cpu()
        kind = f"{value.dtype} {tuple(value.shape)}"
        value = value.contiguous().reshape(-1).view(torch.uint8).numpy() if value.numel() else np.zeros(0)
    else:
        kind = f"{value.dtype} {value.shape}"
    values = np.ascontiguousarray(value)
    body = hashlib.sha256(values.tobytes() if values.dtype != object else repr(values.tolist()).encode())
    return f"{kind} {body.hexdigest()}"


def _installed(value: Any) -> bool:
    """Whether a function or class is of a library, which is taken without what it calls."""
    module = sys.modules.get(str(value.__module__))
    path = str(getattr(module, "__file__", None) or "")
    return str(value.__module__).partition(".")[0] == "carryover" or any(
        path.startswith(folder) for folder in (sysconfig.get_path("stdlib"), *site.getsitepackages())
    )


def _names(code: types.CodeType) -> set[str]:
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))
    return set(code.co_names).union(*inner)
