"""Files that are written whole or not at all, and what a full disk is called (standard library only).

Libraries have other words for it: netCDF says "Permission denied" or "HDF error", PyTorch that a stream failed.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from carryover.errors import DataError, UserError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a disk that is full, of a user's share of it that is, and of a file that may be no larger."""
_ROOM = 2**20  # bytes: less of it than any library asks for at once is left on a disk that is full


class NoSpace(DataError):
    """A disk is full; the message names the file that does not fit."""


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, with its suffix; it takes the place of `path` when the block ends well.

    Whatever happens, `path` is the old file or the whole new one; an exception removes the temporary, and what a
    killed process left is removed by the next that writes the same file. Raises DataError, naming the folder, where
    it cannot be made or written, and NoSpace, naming the file, where the disk is full.
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
    if os.path.lexists(path) and not path.is_file():
        raise DataError(f"{path} is no regular file, in whose place a result could be put: give it another name")
    with _beside(path, _empty) as unfinished:
        yield unfinished


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """As `atomic`, for a folder that is not there yet."""
    with _beside(Path(path), Path.mkdir) as unfinished:
        yield unfinished
        unfinished.rename(path)


@contextmanager
def _beside(path: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    unfinished = path.with_name(f".{path.stem}.tmp{os.getpid()}{path.suffix}")
    try:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _sweep(path)
            make(unfinished)
        except OSError as error:
            raise DataError(f"cannot write into the folder {path.parent}: {error.strerror}") from error
        yield unfinished
    except Exception as error:
        refuse_full_disk(error, unfinished, path)
        raise
    finally:
        _remove(unfinished)


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def refuse_other_than_utf8(*words: object) -> None:
    """UserError for the name of a file, or another word, that is no text: neither netCDF nor a record can hold it."""
    for word in map(str, words):
        try:
            word.encode()
        except UnicodeEncodeError:
            raise UserError(f"{word!a} is no text in UTF-8: give it another name") from None


def settle(unfinished: Path, path: str | Path) -> None:
    """Put a finished temporary in the place of `path`, its bytes on disk first so that a power cut cannot empty it."""
    try:
        with open(unfinished, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}") from error


def refuse_full_disk(error: BaseException, unfinished: Path, path: str | Path) -> None:
    """Raise NoSpace, naming `path`, if that is why its temporary could not be written, whatever the `error` says."""
    causes = [error]
    while cause := causes[-1].__cause__ or causes[-1].__context__:
        causes.append(cause)
    if any(isinstance(cause, NoSpace) for cause in causes):
        return
    failed = [cause for cause in causes if isinstance(cause, OSError | RuntimeError)]
    told = next((cause for cause in failed if getattr(cause, "errno", None) in FULL), None)
    code = told.errno if isinstance(told, OSError) else _full(unfinished) if failed else None
    if code:
        other = str(getattr(told, "filename2", None) or getattr(told, "filename", None) or unfinished)  # 2: of a copy
        name = path if other.startswith(str(unfinished)) else other
        raise NoSpace(f"cannot write {name}: {os.strerror(code)}") from error


def _full(unfinished: Path) -> int | None:
    """The error of writing more into a temporary, or beside what is in a folder, where it is of a full disk."""
    probe = unfinished / ".probe" if unfinished.is_dir() else unfinished
    try:
        with open(probe, "ab") as file:
            file.write(bytes(_ROOM))
            os.fsync(file.fileno())
    except OSError as error:
        return error.errno if error.errno in FULL else None
    return None


def _sweep(path: Path) -> None:
    """Remove the temporaries of `path` that belong to no living process of this machine.

    Should one belong to a process of another machine, that one fails when it finds its file gone; nothing is mixed.
    """
    head, tail = f".{path.stem}.tmp", path.suffix
    for name in os.listdir(path.parent):
        owner = name.removeprefix(head).removesuffix(tail)
        if name == f"{head}{owner}{tail}" and owner.isdecimal() and not _alive(int(owner)):
            _remove(path.with_name(name))


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
