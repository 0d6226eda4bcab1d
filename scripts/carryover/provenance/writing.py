"""Files that are written whole or not at all (standard library only)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from carryover.errors import DataError


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, with its suffix; it takes the place of `path` when the block ends well.

    Whatever happens, `path` is the old file or the whole new one. Raises DataError where it cannot be written.
    """
    with temporary(path) as unfinished:
        yield unfinished
        settle(unfinished, path)


@contextmanager
def temporary(path: str | Path) -> Iterator[Path]:
    """Yield an empty file `.<stem>.tmp<process><suffix>` beside `path`; parents are made.

    It is removed at the end, unless `settle` has put it in the place of `path`. What a killed process left there is
    removed as well; should that process live, it fails when it finds its file gone.
    """
    path = Path(path)
    head, tail = f".{path.stem}.tmp", path.suffix
    unfinished = path.with_name(f"{head}{os.getpid()}{tail}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for name in os.listdir(path.parent):
            if name.startswith(head) and name == head + name.removeprefix(head).removesuffix(tail) + tail:
                path.with_name(name).unlink(missing_ok=True)
        unfinished.touch()
    except OSError as error:
        raise DataError(f"cannot write into the folder {path.parent}: {error.strerror}") from error
    try:
        yield unfinished
    finally:
        unfinished.unlink(missing_ok=True)


def settle(unfinished: Path, path: str | Path) -> None:
    """Put a finished temporary in the place of `path`, its bytes on disk first so that a power cut cannot empty it."""
    try:
        with open(unfinished, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}") from error
