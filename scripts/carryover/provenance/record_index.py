"""The records under a folder of results, and what was made of what."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from carryover.errors import UserError
from carryover.provenance import job_record, store


@dataclass(frozen=True)
class Made:
    """A result: its file, its name (the path that its record has) and its record."""

    file: Path
    name: str
    record: dict

    @property
    def facts(self):
        """{sha256, bytes, …} of the result, by its record."""
        return self.record["outputs"][self.name]


def made(file, below="."):
    """The result in `file`. Raises UserError where the record beside it cannot be read, or is not of that file.

    `below` is a folder around it: what follows of its path must be the end of a path in the record, so that results
    that were moved or copied as a whole keep their records.
    """
    file = Path(file)
    record = job_record.whole(job_record.record_path(file))
    end = file.relative_to(below).parts if file.is_relative_to(below) else file.parts
    names = [name for name in record["outputs"] if Path(name).parts[-len(end) :] == end]
    if len(names) != 1:
        named = ", ".join(record["outputs"])
        raise UserError(
            f"{job_record.record_path(file)} is the record of {named}: name results as their records do, "
            "from the folder in which they were made, or name the whole folder of results"
        )
    return Made(file, names[0], record)


def all_made(results):
    """{name: Made} of all results under the folder `results` that have a record, by name.

    Raises UserError where there is no such folder, or one of the records is damaged.
    """
    if not Path(results).is_dir():
        raise UserError(f"{results} is no folder: name the one with the results")
    records = [path for path in files(results) if path.suffix == ".json" and path.is_file() and is_record(path)]
    found = [made(path.with_suffix(""), below=results) for path in records]
    return {one.name: one for one in found}


def files(results):
    """All files under a folder, sorted, without hidden ones."""
    found = []
    for folder, folders, names in os.walk(results):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(folder, name) for name in names if not name.startswith(".")]
    return sorted(found)


def is_record(path):
    """Whether a file is a record, or was one before it was cut off. Raises DataError where it cannot be read."""
    with store.regular(path) as file:  # keys are sorted, so a record begins with this
        return re.match(rb'{\s*"carryover_record"', file.read(1000)) is not None


def jobs(records):
    """One record of each job: a figure's formats are outputs of one."""
    return list({tuple(sorted(record["outputs"])): record for record in records}.values())


def commits(records):
    """Commits of the code, `<commit> with changes` where tracked files differed, sorted; none outside a repository."""
    states = {(record["git"]["commit"], record["git"]["dirty"]) for record in records if record["git"]}
    return [commit + (" with changes" if dirty else "") for commit, dirty in sorted(states)]
