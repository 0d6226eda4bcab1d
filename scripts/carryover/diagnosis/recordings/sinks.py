"""Where recorded batches go: into a netCDF file one by one, or into memory."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import netCDF4
import numpy as np

from carryover.diagnosis.activations.sources import NAMED
from carryover.errors import UserError

_CHUNK = 2**20  # numbers that are stored together
_LEGAL = re.compile(r"\w[\w.:@-]{0,200}")  # a "/" would be a group of the file


class Sink(Protocol):
    samples: int

    def append(self, batch: Mapping[str, np.ndarray], ids: Sequence | None) -> None: ...


class Memory:
    """Keeps batches; `recording` is all of them by layer, and `sample_id` where samples have names."""

    def __init__(self) -> None:
        self.samples = 0
        self._parts: dict[str, list[np.ndarray]] = {}

    def append(self, batch: Mapping[str, np.ndarray], ids: Sequence | None) -> None:
        units = {name: parts[0].shape[1] for name, parts in self._parts.items() if name != "sample_id"}
        fits(batch, ids, units, "sample_id" in self._parts)
        named = {} if ids is None else {"sample_id": np.array(_text(ids))}
        for name, values in {**batch, **named}.items():
            self._parts.setdefault(name, []).append(values)
        self.samples += len(next(iter(batch.values())))

    @property
    def recording(self) -> dict[str, np.ndarray]:
        for name, parts in self._parts.items():
            self._parts[name] = [np.concatenate(parts)] if len(parts) > 1 else parts
        return {name: parts[0] for name, parts in self._parts.items()}


class File:
    """Appends batches along the dimension `sample` of a netCDF file."""

    def __init__(self, file: netCDF4.Dataset) -> None:
        self.file, self.samples = file, 0
        self._variables: dict[str, Any] = {}

    def append(self, batch: Mapping[str, np.ndarray], ids: Sequence | None) -> None:
        units = {name: variable.shape[1] for name, variable in self._variables.items()}
        fits(batch, ids, units, "sample_id" in self.file.variables)
        if not self.samples:
            self._create(batch, named=ids is not None)
        count = len(next(iter(batch.values())))
        rows = slice(self.samples, self.samples + count)
        for name, values in batch.items():
            self._variables[name][rows] = values
        if ids is not None:
            self.file["sample_id"][rows] = np.array(_text(ids), dtype=object)
        self.samples += count

    def _create(self, batch: Mapping[str, np.ndarray], named: bool) -> None:
        self.file.createDimension("sample", None)
        for place, (name, values) in enumerate(batch.items()):
            units = values.shape[1]
            key = name if _LEGAL.fullmatch(name) else f"layer number {place}"
            self.file.createDimension(f"unit of {key}", units)
            chunks = (max(1, min(len(values), _CHUNK // units)), units)
            dimensions = ("sample", f"unit of {key}")
            made = self.file.createVariable(key, "f4", dimensions, chunksizes=chunks, fill_value=False)
            made.setncatts({"long_name": f"activations of {name}", "units": "1"})
            if key != name:
                made.setncattr(NAMED, name)
            self._variables[name] = made
        if named:
            self.file.createVariable("sample_id", str, ("sample",)).long_name = "name of the sample"
            self.file["sample_id"].units = "1"


def fits(batch: Mapping[str, np.ndarray], ids: Sequence | None, units: Mapping[str, int], named: bool) -> None:
    """Raises UserError where a batch does not go with those before it: `units` by layer (none: it is the first)."""
    counts = {name: len(values) for name, values in batch.items()}
    if len(set(counts.values())) > 1:
        raise UserError(f"names must be submodules with the same number of samples, got {counts}")
    count = next(iter(counts.values()))
    if ids is not None and len(ids) != count:
        raise UserError(f"sample_id must name each of the {count} samples, got {len(ids)}")
    if units and (ids is not None) != named:
        raise UserError("sample_id must be given in every call or in none")
    if units and (apart := units.keys() ^ batch.keys()):
        raise UserError(f"names must be submodules that every call reaches, and {min(apart)} is not one")
    for name, values in batch.items():
        if units and values.shape[1] != units[name]:
            raise UserError(
                f"{name} must have the same units in every call, but has {units[name]} and {values.shape[1]}: for "
                f"batches padded to different lengths take reduce='mean', or pad all of them to one length"
            )


def _text(ids: Sequence) -> list[str]:
    return [str(one) for one in np.asarray(ids).tolist()]
