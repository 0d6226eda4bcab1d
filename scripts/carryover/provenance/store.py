"""Files of results, written whole or not at all: an xarray Dataset, or a list of them, per netCDF file.

Of a list, each dataset is a group of the file, `0`, `1`, …. A file holds nothing of when or where it was made: equal
data and equal versions of the netCDF library give equal bytes.

The Snakefile imports this module, so xarray and pandas are imported where they are needed.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carryover.errors import DataError, UserError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

FORMAT = "carryover_format"
RECORD = "carryover_record"
VERSION = 1
UNFINISHED: set[Path] = set()
"""Files that `atomic` has begun, which whoever ends this process by force removes."""
# Level 4 of zlib: on weights as small as any higher level and as fast as level 1. Damaged chunks fail their checksum.
_COMPRESSION = {"zlib": True, "complevel": 4, "shuffle": True, "fletcher32": True}


def save(dataset: xr.Dataset | Sequence[xr.Dataset], path: str | Path, record: Mapping[str, Any] | None = None) -> None:
    """Write a dataset, or several, straight to `path` as compressed netCDF4, with deterministic bytes.

    Parameters
    ----------
    record
        JSON values (`{"rule": …}`), stored as text in the attribute `carryover_record`, in place of the one that a
        dataset has from the file it was read from.

    Raises
    ------
    UserError
        Naming the variable or coordinate without a `long_name` or `units`, or what has a type that netCDF lacks.
    DataError
        Where the folder or file cannot be written.
    """
    parts = list(dataset) if isinstance(dataset, Sequence) else [dataset]
    for number, part in enumerate(parts):
        part = _sort_variables(part)
        part.attrs.pop(RECORD, None)
        part.attrs[FORMAT] = VERSION
        if record is not None:
            part.attrs[RECORD] = json.dumps(record, sort_keys=True, ensure_ascii=False, allow_nan=False)
        # No _FillValue: NaN is a value here. Scalars and text of varying length take no filters in HDF5.
        encoding: Any = {
            name: {"_FillValue": None, **(_COMPRESSION if variable.ndim and variable.dtype.kind in "biuf" else {})}
            for name, variable in part.variables.items()
        }
        group: Any = {"group": str(number), "mode": "a" if number else "w"} if len(parts) > 1 else {}
        try:
            part.to_netcdf(path, format="NETCDF4", engine="netcdf4", encoding=encoding, **group)
        except (OSError, RuntimeError) as error:
            raise DataError(f"cannot write into the folder {Path(path).parent}{space_left(path)}: {error}") from error


def load(path: str | Path) -> xr.Dataset:
    """The dataset in `path`; as `load_all`, and DataError for several."""
    first, *others = load_all(path)
    if others:
        raise DataError(f"{path} holds {1 + len(others)} datasets, where one is expected")
    return first


def load_all(
    path: str | Path, select: Callable[[xr.Dataset], xr.Dataset | None] = lambda whole: whole
) -> Sequence[xr.Dataset]:
    """The datasets in `path`, in memory, the file closed; `select` takes a part of each before values are read, or
    None, which leaves it out.

    Raises DataError for a file that is missing, damaged or not written by `save`, and whatever `select` raises.
    """
    import xarray as xr

    with regular(path), ExitStack() as stack:  # netCDF does not tell a missing file from a damaged one
        try:  # times, masks and scales are left alone: values come back as they went in
            groups = xr.open_groups(path, engine="netcdf4", decode_times=False, mask_and_scale=False)
            numbered = sorted((name for name in groups if name[1:].isdecimal()), key=lambda name: int(name[1:]))
            parts = [stack.enter_context(groups[name]) for name in numbered or ["/"]]
        except Exception as error:  # the library reports damage as OSError, RuntimeError, ValueError and more
            raise _damage_error(path, error) from None
        if {part.attrs.get(FORMAT) for part in parts} != {VERSION}:
            raise DataError(f"{path} was not written by this version of Carryover: move it away and run again")
        chosen = [select(part) for part in parts]
        try:
            loaded = [part.load().drop_encoding() for part in chosen if part is not None]
        except Exception as error:
            raise _damage_error(path, error) from None
    for dataset in loaded:
        dataset.attrs.pop(FORMAT, None)
    return loaded


def _damage_error(path: str | Path, error: Exception) -> DataError:
    """The DataError to raise for the library's `error` on a file. HDF5 reports a damaged and a locked file alike, so a
    lock is tried here."""
    reason = str(error).partition("\n")[0]
    with regular(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return DataError(f"{path} is open for writing in another program, which locks it: wait for that to end")
        except OSError as unsupported:
            why = f"its file system supports no locks ({unsupported.strerror}): set HDF5_USE_FILE_LOCKING=FALSE"
            return DataError(f"{path} cannot be opened, for {why}")
    return DataError(f"{path} is not netCDF, or truncated or damaged: delete it and run again ({reason})")


def read_table(path: str | Path, **options: Any) -> pd.DataFrame:
    """A CSV file as a data frame, by `pandas.read_csv` with its options; DataError for a file of another format."""
    import pandas as pd

    with regular(path) as file:
        try:
            return pd.read_csv(file, encoding="utf-8-sig", **options)
        except ValueError as error:
            raise DataError(f"{path} is no table with commas: {' '.join(str(error).split())}") from None


def sha256(path: str | Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal; DataError where it cannot be read."""
    with regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_or_none(path: str | Path) -> str | None:
    """The `sha256` of a file; None where there is none that can be read."""
    with suppress(DataError):
        return sha256(path)
    return None


def space_left(path: str | Path) -> str:
    """' (0.1 MB are left on its disk)' of the disk of a path, which may be full, or '' if there is no such folder."""
    with suppress(OSError):
        return f" ({shutil.disk_usage(Path(path).absolute().parent).free / 1e6:,.1f} MB are left on its disk)"
    return ""


def regular(path: str | Path) -> io.BufferedReader:
    """A regular file, opened to read bytes, which the caller closes; DataError where it cannot be opened."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # opening a named pipe would block until another process writes
            raise DataError(f"{path} is no regular file")
        return open(path, "rb")
    except FileNotFoundError:
        if os.path.islink(path):
            raise DataError(f"{path} is a link to {os.readlink(path)}, where there is nothing") from None
        raise DataError(f"{path} is missing: run the step that makes it") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None


def _sort_variables(dataset: xr.Dataset) -> xr.Dataset:
    """Copy with variables and attributes in the order of their names, without the encodings of an earlier file."""
    import xarray as xr

    for name, variable in dataset.variables.items():
        for label in ("long_name", "units"):
            if not isinstance(variable.attrs.get(label), str) or not variable.attrs[label]:
                raise UserError(f"variable {name} must have the text attribute {label} (units of pure numbers are 1)")
        if variable.dtype.kind not in "biufUTO":
            raise UserError(f"variable {name} has type {variable.dtype}, which netCDF does not store")
    variables = {
        name: xr.Variable(variable.dims, variable.values, dict(sorted(variable.attrs.items())))
        for name, variable in sorted(dataset.variables.items(), key=lambda item: str(item[0]))
    }
    coordinates = {name: variables.pop(name) for name in sorted(dataset.coords, key=str)}
    return xr.Dataset(variables, coordinates, dict(sorted(dataset.attrs.items())))


@contextmanager
def atomic(*paths: str | Path) -> Iterator[list[Path]]:
    """Yield empty temporary files `.<name>.tmp<process><suffix>` next to `paths`. When the block ends, they replace the
    files at `paths`, or are deleted if it raised an exception.

    Whatever happens, each path has its old file or the complete new one. No file is replaced before the block has
    written all. Missing parent folders are created. Temporary files of other processes for the same paths are removed,
    since these were probably killed; one that still runs fails when its file is missing. Raises DataError where files
    cannot be written.
    """
    places = [Path(path) for path in paths]
    unfinished = [place.with_name(f".{place.name}.tmp{os.getpid()}{place.suffix}") for place in places]
    try:
        for place, file in zip(places, unfinished, strict=True):
            place.parent.mkdir(parents=True, exist_ok=True)
            for left in os.listdir(place.parent):
                if left.startswith(f".{place.name}.tmp"):
                    place.with_name(left).unlink(missing_ok=True)
            UNFINISHED.add(file)
            file.touch()
    except OSError as error:
        raise DataError(f"cannot write into the folder {place.parent}: {error.strerror}") from error
    try:
        yield unfinished
        for place, file in zip(places, unfinished, strict=True):
            try:
                with open(file, "rb+") as finished:
                    os.fsync(finished.fileno())  # the bytes first, so that a power cut cannot empty it
                os.replace(file, place)
            except OSError as error:
                raise DataError(f"cannot write {place}: {error.strerror}") from error
    finally:
        for file in unfinished:
            file.unlink(missing_ok=True)
            UNFINISHED.discard(file)
