"""Which results are kept with the project: a list of them, beside what is kept and in the results folder where that is
unpacked."""

import csv
from dataclasses import dataclass
from pathlib import Path

from carryover.errors import UserError
from carryover.provenance import store, writing

LIST = "kept.csv"
_HEAD = ("path", "sha256", "bytes", "packed")


@dataclass(frozen=True)
class Kept:
    """A result by its path: its hash and size, and the bytes that it takes packed, 0 where its record alone is kept."""

    path: str
    sha256: str
    bytes: int
    packed: int


def read(folder):
    """{path: Kept} of the list in a folder, none where it has no list; UserError for one that cannot be read."""
    file = Path(folder, LIST)
    if not file.exists():
        return {}
    try:
        with store.regular(file) as binary:
            head, *rows = csv.reader(binary.read().decode().splitlines())
        if tuple(head) != _HEAD:
            raise ValueError("its columns are others")
        found = [Kept(path, sha256, int(size), int(packed)) for path, sha256, size, packed in rows]
    except (ValueError, csv.Error) as error:
        raise UserError(f"{file} is no list of kept results ({error}).") from None
    return {one.path: one for one in found}


def write(folder, kept):
    """The list in a folder, sorted by path."""
    with writing.atomic(Path(folder, LIST)) as unfinished, open(unfinished, "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(_HEAD)
        rows.writerows((one.path, one.sha256, one.bytes, one.packed) for _, one in sorted(kept.items()))
