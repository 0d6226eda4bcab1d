"""Where recorded batches go: into a netCDF file one by one, or into memory."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import netCDF4
import numpy as np

from carryover.diagnosis.activations.sources import NAMED
from carryover.errors import UserError

_CHUNK = 2**20  # numbers that are stored together
_LEGAL = re.compile(r"\w[\w.:@-]{0,200}")  # a "/" would be a group of the file


class Sink(ABC):
    """Checks batches and keeps them by layer, with `sample_id` where samples have names."""

    def __init__(self) -> None:
        self.samples = 0
        self._units: dict[str, int] = {}
        self._named = False

    def append(self, batch: Mapping[str, np.ndarray], ids: Sequence | None) -> None:
        """Raises UserError where a batch does not go with those before it."""
        counts = {name: len(values) for name, values in batch.items()}
        if len(set(counts.values())) > 1:
            raise UserError(f"names must be submodules with the same number of samples, got {counts}")
        count = next(iter(counts.values()))
        if ids is not None and len(ids) != count:
            raise UserError(f"sample_id must name each of the {count} samples, got {len(ids)}")
        if not self.samples:
            self._units, self._named = {name: values.shape[1] for name, values in batch.items()}, ids is not None
            self.create(batch)
        if (ids is not None) != self._named:
            raise UserError("sample_id must be given in every call or in none")
        if apart := self._units.keys() ^ batch.keys():
            raise UserError(f"names must be submodules that every call reaches, and {min(apart)} is not one")
        for name, values in batch.items():
            if values.shape[1] != self._units[name]:
                raise UserError(
                    f"{name} must have the same units in every call, but has {self._units[name]} and "
                    f"{values.shape[1]}: for batches padded to different lengths take reduce='mean', or pad all of "
                    f"them to one length"
                )
        text = {} if ids is None else {"sample_id": np.array([str(one) for one in np.asarray(ids).tolist()])}
        self.keep({**batch, **text}, slice(self.samples, self.samples + count))
        self.samples += count

    def create(self, batch: Mapping[str, np.ndarray]) -> None:  # noqa: B027
        """Make room for batches like the first, where that is needed."""

    @abstractmethod
    def keep(self, arrays: Mapping[str, np.ndarray], rows: slice) -> None:
        """Store arrays (samples, …) by layer, and names of samples, as these rows."""


class Memory(Sink):
    """Keeps batches in memory; `recording` is all of them by layer."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: dict[str, list[np.ndarray]] = {}

    def keep(self, arrays: Mapping[str, np.ndarray], rows: slice) -> None:
        for name, values in arrays.items():
            self._parts.setdefault(name, []).append(values)

    @property
    def recording(self) -> dict[str, np.ndarray]:
        self._parts = {name: [np.concatenate(parts)] for name, parts in self._parts.items()}
        return {name: parts[0] for name, parts in self._parts.items()}


class File(Sink):
    """Appends batches along the dimension `sample` of a netCDF file."""

    def __init__(self, file: netCDF4.Dataset) -> None:
        super().__init__()
        self._file, self._keys = file, {"sample_id": "sample_id"}

    def create(self, batch: Mapping[str, np.ndarray]) -> None:
        self._file.createDimension("sample", None)
        for place, (name, values) in enumerate(batch.items()):
            units = values.shape[1]
            self._keys[name] = key = name if _LEGAL.fullmatch(name) else f"layer number {place}"
            self._file.createDimension(f"unit of {key}", units)
            chunks = (max(1, min(len(values), _CHUNK // units)), units)
            dimensions = ("sample", f"unit of {key}")
            made = self._file.createVariable(key, "f4", dimensions, chunksizes=chunks, fill_value=False)
            made.setncatts({"long_name": f"activations of {name}", "units": "1", NAMED: name})
        if self._named:
            ids = self._file.createVariable("sample_id", str, ("sample",))
            ids.setncatts({"long_name": "name of the sample", "units": "1"})

    def keep(self, arrays: Mapping[str, np.ndarray], rows: slice) -> None:
        for name, values in arrays.items():
            self._file[self._keys[name]][rows] = values.astype(object) if name == "sample_id" else values
