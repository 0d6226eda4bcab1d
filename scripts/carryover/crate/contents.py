"""What a crate holds: results, everything that they were made of, their records, and the project."""

from pathlib import Path, PurePath

from carryover.errors import UserError
from carryover.provenance import store
from carryover.provenance.job_record import record_path
from carryover.provenance.record_index import all_made, made

PROJECT = (
    "Snakefile", "Makefile", "README.md", "LICENSE", "CITATION.cff",
    "config", "docs", "envs", "profiles", "resources", "rules", "scripts",
)  # fmt: skip


def gather(targets):
    """Follow results back to the data that they were made of.

    Parameters
    ----------
    targets : list of Path
        Results or their records, or folders of them, in the project's folder, which is the working folder.

    Returns
    -------
    records, files : dict
        {path: record} of every result, {path: SHA-256} of every file. Hashes of results and inputs are the records'.
        UserError where a target has no result with a record, or a file is not what the record says.
    """
    if not Path("Snakefile").is_file():
        raise UserError("there is no Snakefile here: export a crate in the folder of the project")
    todo = []
    for target in targets:
        result = target.with_suffix("") if target.suffix == ".json" else target
        todo += all_made(target).values() if target.is_dir() else [made(result)]
    records, files = {}, {}
    while todo:
        one = todo.pop()
        if one.name in records or one.record["rule"] == "crate":
            continue
        records[one.name] = one.record
        hashes = one.record["inputs"] | {one.name: one.facts}
        files |= {name: facts["sha256"] for name, facts in hashes.items()}
        todo += [made(name) for name in one.record["inputs"] if record_path(name).is_file()]
    if not records:
        raise UserError(f"{', '.join(map(str, targets))}: there is no result with a record to export")
    for name, sha256 in files.items():
        if store.sha256(name) != sha256:
            raise UserError(f"{name} is not what the records say: run again, or ask audit why")
    others = [*map(record_path, records), *project_files()]
    return records, {path.as_posix(): store.sha256(path) for path in others} | files


def place(name, sha256):
    """Path of a file in the crate: its own, or `external/` and its hash where it lies outside the project."""
    outside = PurePath(name).is_absolute() or ".." in PurePath(name).parts
    return f"external/{sha256[:16]}/{PurePath(name).name}" if outside else name


def project_files():
    """The project's own files, without archived datasets: a crate holds those that its results were made of."""
    for part in map(Path, PROJECT):
        for path in sorted(part.rglob("*")) if part.is_dir() else [part]:
            hidden = path.name.startswith(".") or "__pycache__" in path.parts
            if path.is_file() and not hidden and path.suffix != ".xz":
                yield path
