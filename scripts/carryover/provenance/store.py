"""Results on disk: an xarray Dataset, or a list of them, per netCDF file, written whole or not at all, the same bytes
every time. Of a list, each dataset is a group of the file, `0`, `1`, ….

A file holds nothing of when or where it was made: equal data and equal versions of the netCDF library give equal bytes.

xarray is imported where it is needed, so that `sha256` costs nothing to import.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from carryover.errors import DataError
from carryover.provenance.writing import atomic

if TYPE_CHECKING:
    import xarray as xr

FORMAT = "carryover_format"
RECORD = "carryover_record"
VERSION = 1

_AGAIN = "delete it and run again"
# Level 4 of zlib: on weights as small as any higher level and as fast as level 1. Damaged chunks fail their checksum.
_PACKED = {"zlib": True, "complevel": 4, "shuffle": True, "fletcher32": True}


class MissingError(DataError):
    """There is no such file."""


def save(dataset: xr.Dataset | Sequence[xr.Dataset], path: str | Path, record: Mapping[str, Any] | None = None) -> None:
    """Write a dataset, or several, to `path` as compressed netCDF4, atomically and with deterministic bytes.

    `record` (JSON values, e.g. {"rule": …, "parameters": …}) is stored as text in the attribute `carryover_record`, in
    place of the one that a dataset has from the file it was read from.

    Raises ValueError, naming the variable or attribute, where a variable or coordinate has no `long_name` or `units`,
    or something has a type that netCDF does not store; DataError where the folder or file cannot be written.
    """
    with atomic(path) as unfinished:
        write(dataset, unfinished, record)


def write(
    dataset: xr.Dataset | Sequence[xr.Dataset], path: str | Path, record: Mapping[str, Any] | None = None
) -> None:
    """As `save`, but straight to `path`, for callers that put it in its place themselves."""
    parts = list(dataset) if isinstance(dataset, Sequence) else [dataset]
    for number, part in enumerate(parts):
        _check_labels(part)
        part = _prepared(part)
        part.attrs.pop(RECORD, None)
        part.attrs[FORMAT] = VERSION
        if record is not None:
            part.attrs[RECORD] = json.dumps(record, sort_keys=True, ensure_ascii=False, allow_nan=False)
        # No _FillValue: NaN is a value here, not a hole. Scalars and text of varying length take no filters in HDF5.
        encoding = {
            name: {"_FillValue": None, **(_PACKED if variable.ndim and variable.dtype.kind in "biuf" else {})}
            for name, variable in part.variables.items()
        }
        group = {"group": str(number), "mode": "a" if number else "w"} if len(parts) > 1 else {}
        try:
            part.to_netcdf(path, format="NETCDF4", engine="netcdf4", encoding=encoding, **group)
        except (OSError, RuntimeError) as error:
            raise DataError(f"cannot write into the folder {Path(path).parent}, is it full? {_brief(error)}") from error


def load(path: str | Path, select: Callable[[xr.Dataset], xr.Dataset] = lambda whole: whole) -> xr.Dataset:
    """The dataset in `path`, in memory, the file closed; `select` takes a part of it before values are read.

    Raises DataError, in one sentence that names the file and what to do, where it is missing, truncated, damaged, not
    netCDF, netCDF that `save` did not write or that holds several datasets, and where it lacks what `select` takes
    (KeyError).
    """
    first, *others = load_all(path, select)
    if others:
        raise DataError(f"{path} holds {1 + len(others)} datasets, where one is expected")
    return first


def load_all(
    path: str | Path, select: Callable[[xr.Dataset], xr.Dataset] = lambda whole: whole
) -> Sequence[xr.Dataset]:
    """As `load`, of a file with one dataset or several."""
    import xarray as xr

    path = Path(path)
    with regular(path):  # a missing file and a folder have errors of their own; netCDF tells no difference
        pass
    with ExitStack() as stack:
        try:  # times, masks and scales are left alone: units are for reading, and values come back as they went in
            groups = xr.open_groups(path, engine="netcdf4", decode_times=False, mask_and_scale=False)
        except Exception as error:
            raise _damaged(path, error) from None
        numbered = [name for name in groups if name.removeprefix("/").isdecimal()]
        names = sorted(numbered, key=lambda name: int(name[1:])) or ["/"]
        parts = [stack.enter_context(groups[name]) for name in names]
        for version in {part.attrs.get(FORMAT) for part in parts} - {VERSION}:
            written = "was not written by Carryover" if version is None else f"has format {version}"
            raise DataError(f"{path} {written}; this version of Carryover reads format {VERSION}: {_AGAIN}")
        try:
            selected = [select(part) for part in parts]
        except KeyError as error:
            raise DataError(f"{path} does not have what is to be taken of it: {error.args[0]}") from None
        except (OSError, RuntimeError) as error:  # it may read values
            raise _damaged(path, error) from None
        try:
            loaded = [part.load().drop_encoding() for part in selected]
        except Exception as error:
            raise _damaged(path, error) from None
    for dataset in loaded:
        dataset.attrs.pop(FORMAT, None)
    return loaded


def _damaged(path: Path, error: Exception) -> DataError:
    """The sentence for damage, which the library reports as OSError, RuntimeError, ValueError and more."""
    return DataError(f"{path} is not netCDF, or truncated or damaged: {_AGAIN} ({_brief(error)})")


def sha256(path: str | Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal, whatever its size. Raises DataError where it cannot be read."""
    with regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def regular(path: str | Path) -> Iterator[BinaryIO]:
    """A file to be read; DataError where it cannot be."""
    try:
        with open(path, "rb") as file:
            yield file
    except FileNotFoundError:
        raise MissingError(f"{path} is missing: run the step that makes it") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None


def _brief(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error).partition("\n")[0] or type(error).__name__


def _prepared(dataset: xr.Dataset) -> xr.Dataset:
    """Copy with variables and attributes sorted, in plain native types, without the encodings of an earlier file."""
    import xarray as xr

    variables = {
        name: xr.Variable(variable.dims, _plain(name, variable.values), _attributes(f"variable {name}", variable.attrs))
        for name, variable in sorted(dataset.variables.items())
    }
    coordinates = {name: variables.pop(name) for name in sorted(dataset.coords)}
    return xr.Dataset(variables, coordinates, _attributes("the dataset", dataset.attrs))


def _check_labels(dataset: xr.Dataset) -> None:
    for name, variable in dataset.variables.items():
        for label in ("long_name", "units"):
            if not isinstance(variable.attrs.get(label), str) or not variable.attrs[label]:
                kind = "coordinate" if name in dataset.coords else "variable"
                raise ValueError(f"{kind} {name} must have the text attribute {label} (units of pure numbers are 1)")


def _plain(name: str, values: np.ndarray) -> np.ndarray:
    """Native numbers, booleans or text of fixed width, as a file gives them back; ValueError for anything else."""
    if values.dtype.kind in "UT" or (values.dtype.kind == "O" and all(isinstance(v, str) for v in values.flat)):
        return values.astype(str)
    native = values.dtype.newbyteorder("=")
    if native.kind in "biu" or native in (np.float32, np.float64):
        return values.astype(native, copy=False)
    raise ValueError(f"variable {name} has type {values.dtype}: allowed are text, bool, integers, float32 and float64")


def _attributes(owner: str, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes sorted by name, as a file gives them back: text, texts, or a number or array of native type."""
    plain = {}
    for name, value in sorted(attributes.items()):
        items = np.atleast_1d(np.asarray(value))
        texts = all(isinstance(item, str) for item in np.ravel(np.asarray(value, dtype=object)))
        if items.ndim > 1 or not items.size or (not texts and items.dtype.kind not in "iuf"):
            allowed = "text, numbers and lists of one of them that are not empty"
            raise ValueError(f"attribute {name} of {owner} is {value!r}: allowed are {allowed}")
        items = [str(item) for item in items] if texts else items.astype(items.dtype.newbyteorder("="))
        plain[name] = items[0] if len(items) == 1 else items
    return plain
