"""Files that are written whole or not at all (standard library only)."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from carryover.errors import DataError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a full disk, of a user's share of it, and of a file that may be no larger."""


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, with its suffix; it takes the place of `path` when the block ends well.

    Whatever happens, `path` is the old file or the whole new one; an exception removes the temporary, and what a
    killed process left is removed by the next that writes the same file. Raises DataError, naming the folder, where
    it cannot be written.
    """
    with temporary(path) as unfinished:
        yield unfinished
        settle(unfinished, path)


@contextmanager
def temporary(path: str | Path) -> Iterator[Path]:
    """Yield an empty file `.<stem>.tmp<process><suffix>` beside `path`, in a folder that is made if need be.

    It is removed at the end, unless `settle` has put it in the place of `path`. Raises as `atomic`.
    """
    path = Path(path)
    unfinished = _unfinished(path)
    with _cleaned(unfinished):
        unfinished.write_bytes(b"")
        yield unfinished


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """As `atomic`, for a folder that is not there yet."""
    path = Path(path)
    unfinished = _unfinished(path)
    with _cleaned(unfinished):
        unfinished.mkdir()
        yield unfinished
        unfinished.rename(path)


def settle(unfinished: Path, path: str | Path) -> None:
    """Put a finished temporary in the place of `path`, its bytes on disk first so that a power cut cannot empty it."""
    with open(unfinished, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(unfinished, path)


def _unfinished(path: Path) -> Path:
    """The temporary path of this process, in its folder, without those of dead processes of this machine."""
    head, tail = f".{path.stem}.tmp", path.suffix
    if os.path.lexists(path) and not path.is_file():
        raise DataError(f"{path} is no regular file, in whose place a result could be put: give it another name")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for name in os.listdir(path.parent):
            owner = name.removeprefix(head).removesuffix(tail)
            if name == f"{head}{owner}{tail}" and owner.isdecimal() and not _alive(int(owner)):
                _remove(path.with_name(name))
    except OSError as error:
        raise DataError(f"cannot write into the folder {path.parent}: {error.strerror}") from error
    return path.with_name(f"{head}{os.getpid()}{tail}")


@contextmanager
def _cleaned(unfinished: Path) -> Iterator[None]:
    """Remove a temporary in the end; a folder that cannot be written, or a full disk, is said in one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL or str(error.filename) == str(unfinished):
            raise DataError(f"cannot write into the folder {unfinished.parent}: {error.strerror}") from error
        raise
    finally:
        _remove(unfinished)


def _remove(unfinished: Path) -> None:
    if unfinished.is_dir():
        shutil.rmtree(unfinished, ignore_errors=True)
    with suppress(OSError):
        unfinished.unlink()


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError as error:
        return error.errno == errno.EPERM
    return True
