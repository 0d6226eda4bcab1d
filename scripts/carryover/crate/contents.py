"""What goes into a crate: results, all that they were made of, their records, and the project that made them."""

import os
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from carryover.config.artifacts import MADE_OF_DATA
from carryover.errors import UserError
from carryover.provenance import code_digest, store
from carryover.provenance.job_record import record_path
from carryover.provenance.record_index import Made, all_made, files, jobs, made

PROJECT = (
    "Snakefile", "Makefile", "README.md", "LICENSE", "CITATION.cff",
    "config", "docs", "envs", "profiles", "resources", "rules", "scripts",
)  # fmt: skip
# What jobs make, by its suffix; the page of an audit lies there too.
_SUFFIXES = {".nc", *(suffix for kind in MADE_OF_DATA.values() for suffix in kind.suffixes)} - {".html"}


@dataclass
class Contents:
    """Files and jobs of a crate.

    `files` is {path in the crate: (file, its SHA-256)}; of a result and of an input it is the hash in the records.
    `jobs` holds one record of each job; `names` is {path in a record: path in the crate}.
    """

    results: dict[str, Made] = field(default_factory=dict)
    files: dict[str, tuple[Path, str]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    @property
    def jobs(self):
        return jobs(one.record for _, one in sorted(self.results.items()))

    def add(self, name, file, sha256):
        """A file by its path in the records."""
        self.names[name] = where = place(name, sha256)
        if not Path(file).is_file():
            raise store.unreadable(file, FileNotFoundError())
        if self.files.setdefault(where, (Path(file), sha256))[1] != sha256:
            raise UserError(f"{name} is not what every record says: ask audit why")


def place(name, sha256):
    """Where a crate has a file, by its path in the records; one from outside the project has a room by its hash."""
    inside = not PurePath(name).is_absolute() and ".." not in PurePath(name).parts
    return name if inside else f"external/{sha256[:16]}/{PurePath(name).name}"


def gather(targets):
    """The `Contents` for results: `targets` are files, their records, or folders; paths are below the working folder.

    Raises UserError where the folder is no project, for the workflow is part of the crate, where a record is missing or
    damaged, an input has changed since it was read, or the code is no longer that of the records.
    """
    if not Path("Snakefile").is_file():
        raise UserError("there is no Snakefile here: export a crate in the folder of the project")
    contents, open_ends = Contents(), [one for target in targets for one in _named(Path(target))]
    rooms = {PurePath(one.name).parts[0] for one in open_ends}
    while open_ends:
        one = open_ends.pop()
        if one.name in contents.results or one.record["rule"] == "crate":
            continue
        contents.results[one.name] = one
        contents.add(one.name, one.file, one.facts["sha256"])
        record = record_path(one.file)
        contents.add(str(record_path(one.name)), record, store.sha256(record))
        for name, facts in one.record["inputs"].items():
            if _is_result(name, rooms):
                open_ends.append(made(name))
            contents.add(name, name, facts["sha256"])
    if not contents.results:
        raise UserError(f"{', '.join(map(str, targets))}: there is no result with a record to export")
    check_code(contents.jobs, "scripts")
    for path in _project_files():
        if path.as_posix() not in contents.files:
            contents.add(path.as_posix(), path, store.sha256(path))
    return contents


def _named(target):
    """The results that one word of the command line names."""
    if ".." in PurePath(os.path.relpath(target)).parts[:1]:
        raise UserError(f"{target} is not in {Path.cwd()}: export a crate in the folder of its own project")
    if not target.is_dir():
        if not target.exists() and not record_path(target).exists():
            raise store.unreadable(target, FileNotFoundError())
        return [made(target.with_suffix("") if target.suffix == ".json" else target)]
    for path in files(target):
        if path.suffix in _SUFFIXES and path.is_file() and not record_path(path).is_file():
            raise UserError(f"{path} has no record: delete it and run again, or ask audit")
    return list(all_made(target).values())


def _is_result(name, rooms):
    """Whether a job made an input: it has a record, or must have one, standing among results."""
    if record_path(name).is_file():
        return True
    if PurePath(name).parts[0] in rooms:
        if not Path(name).exists():
            raise store.unreadable(name, FileNotFoundError())
        raise UserError(f"{name} has no record: delete it and run again, or ask audit")
    return False


def check_code(jobs, scripts):
    """UserError where the code in a folder is not the one that ran: a crate of the two would lie."""
    now = {}
    for record in jobs:
        modules = tuple(record["code"]["modules"])
        if modules not in now:
            now[modules] = code_digest.closure_files(scripts, *modules)
        changed = dict(set(now[modules].items()) ^ set(record["code"]["files"].items()))
        if changed:
            first = min(record["outputs"])
            raise UserError(f"scripts/{min(changed)} is not the code that made {first}: run again, or ask audit")


def _project_files():
    """The project's own files, without archived datasets: a crate has those that it is of."""
    for part in map(Path, PROJECT):
        for path in sorted(part.rglob("*")) if part.is_dir() else [part]:
            own = "__pycache__" not in path.parts and not path.name.startswith(".") and path.suffix != ".xz"
            if path.is_file() and own:
                yield path
