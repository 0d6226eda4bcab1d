"""What stands in a results folder: every artefact with its job and record, and the hash of every byte."""

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from carryover.audit import notes
from carryover.config.artifacts import MADE_OF_DATA, ON_DEMAND, SUFFIXES
from carryover.provenance import job_record, store
from carryover.provenance.code_digest import closure_files
from carryover.provenance.record_index import is_crate, is_record
from carryover.workflow.sweep import Sweep, Wildcards

# In a results folder, but no results: what Snakemake keeps there, and what `audit` writes itself.
NO_RESULTS = ("logs", "benchmarks", "audit.json", "audit.html")
# Folders between a result and the results folder, itself included, by rule.
_DEPTHS = {"pretrain": 4, "finetune": 4, "measure": 5, "collect": 2, "unarchive": 2, "curve": 2}
_DEPTHS |= {rule: 2 + kind.file.count("/") for rule, kind in MADE_OF_DATA.items()}


@dataclass
class Chain:
    """The artefacts of one results folder, as found.

    `jobs` is {path: (rule, wildcards)} of all that the configuration makes; `records` and `problems` hold, by path of
    the result, its record or the sentence why it cannot be read; `hashes` is {path: SHA-256, None where there is no
    file} of all results and of all inputs that a record names. `others` are the results folders of other configurations
    inside this one, `crates` exported ones; nothing below them is looked at. `unreadable` is {path: why} of files and
    folders that are there.
    """

    made: Sweep
    jobs: dict[str, tuple]
    records: dict[str, dict]
    problems: dict[str, str]
    paths: list[str]
    others: list[str]
    crates: list[str] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)
    hashes: dict[str, str | None] = field(default_factory=dict)
    _contents: dict[str, str | None] = field(default_factory=dict)
    _code: dict[tuple, dict] = field(default_factory=dict)

    @property
    def lasting(self):
        """{path: record} of all but what is made on demand, which is made of all the others."""
        return {path: one for path, one in sorted(self.records.items()) if one["rule"] not in ON_DEMAND.values()}

    def same(self, path, known):
        """Whether a file has the bytes or the content that `known` = {sha256, content} says."""
        return self.hashes.get(path) == known["sha256"] or self.reencoded(path, known)

    def reencoded(self, path, known):
        """Whether a file has other bytes than `known` says, and the same content."""
        if self.hashes.get(path) == known["sha256"]:
            return False
        return "content" in known and self.hashes.get(path) is not None and self.content(path) == known["content"]

    def content(self, path):
        """The content digest of a file; None where it is not netCDF of ours."""
        if path not in self._contents:
            try:
                self._contents[path] = store.content_digest(path)
            except store.DataError:
                self._contents[path] = None
        return self._contents[path]

    def code(self, path):
        """{file: digest} of the code that the job of an artefact would run now."""
        modules = tuple(self.made.modules(*self.jobs[path]))  # many jobs have the same
        if modules not in self._code:
            self._code[modules] = closure_files(self.made.scripts, *modules)
        return self._code[modules]

    def archived(self, path):
        """The archive's record of a result; None where the archive is not what it was made of."""
        rule, wildcards = self.jobs.get(path, ("", None))
        return self.made.archive_record(wildcards) if rule == "unarchive" else None

    def inputs(self, path):
        """{input: {sha256, bytes, content}} by the record of an artefact."""
        return self.records.get(path, {}).get("inputs", {})


def gather(made, threads=None):
    """The `Chain` of the results of a sweep, with every file hashed in `threads` threads (by default one per core)."""
    jobs = {path: tuple(job) for *job, path in _outputs(made)}
    files, crates, unreadable = _found(made.results)
    on_demand = {f"{made.results}/{name}": (rule, Wildcards()) for name, rule in ON_DEMAND.items()}
    jobs |= {path: job for path, job in on_demand.items() if path in files}
    targets = {file.removesuffix(".json") for file in files if file.endswith(".json") and _is_record(file, files, jobs)}
    targets |= {path for path in jobs if os.path.isfile(f"{path}.json")}  # behind a link to a folder as well
    records, problems = {}, {}
    for path in sorted(targets):
        try:
            records[path] = _checked(path, job_record.whole(job_record.record_path(path)))
        except store.DataError as error:
            problems[path] = str(error)
    plain = files - {f"{path}.json" for path in targets}
    others = _other_results(made.results, records, jobs)
    below = tuple(f"{folder}/" for folder in others)
    paths = [path for path in jobs.keys() | targets | plain | unreadable.keys() if not path.startswith(below)]
    found = {path: records[path] for path in paths if path in records}
    chain = Chain(made, jobs, found, problems, sorted(paths), others, crates, unreadable)
    wanted = sorted({*paths, *(name for path in paths for name in chain.inputs(path))})
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        chain.hashes = dict(zip(wanted, pool.map(partial(_sha256, unreadable), wanted), strict=True))
    return chain


def root_digest(chain):
    """SHA-256 over the JSON list of [path, `record_digest`], sorted by path, of every record that can be read.

    Records of what is made on demand do not count: a report shows this digest, and its own record comes later.
    """
    parts = {path: job_record.record_digest(record) for path, record in chain.lasting.items()}
    return job_record.json_digest(sorted(parts.items()))


def notes_digest(chain):
    """SHA-256 over the JSON list of [path, `notes.digest`], sorted by path, of what has notes; None where nothing has.

    The root digest leaves notes out, so that a result may be accepted without another root.
    """
    parts = {path: notes.digest(record) for path, record in chain.records.items() if record.get("notes")}
    return job_record.json_digest(sorted(parts.items())) if parts else None


def _outputs(made):
    """(rule, wildcards, path) of every file that a job makes: figures and tables have several formats."""
    for rule, wildcards, path in made.jobs():
        suffixes = SUFFIXES.get(rule, (Path(path).suffix,))
        yield from ((rule, wildcards, path.removesuffix(suffixes[0]) + suffix) for suffix in suffixes)


def _found(results):
    """What is below the folder: files that may be results or records, crates, and {folder that cannot be read: why}."""
    files, crates, unreadable = set(), [], {}

    def refused(error):
        unreadable[error.filename] = f"cannot be read: {error.strerror}"

    for folder, folders, names in os.walk(results, onerror=refused):
        top = folder == results
        if is_crate(folder, names, results):
            crates.append(folder)
            folders.clear()
            continue
        folders[:] = [n for n in folders if not n.startswith(".") and not n.endswith(".saved")]
        if top:
            folders[:] = [name for name in folders if name not in NO_RESULTS]
        files |= {f"{folder}/{n}" for n in names if not n.startswith(".") and not (top and n in NO_RESULTS)}
    return files, crates, unreadable


def _is_record(file, files, jobs):
    """Whether a JSON file is, or should be, the record of a result."""
    result = file.removesuffix(".json")
    if result in files or result in jobs:
        return True
    with suppress(store.DataError):  # then it is a file like any other, which cannot be read
        return is_record(file)
    return False


def _checked(path, record):
    """The record, if it is of this result; store.DataError if not."""
    if path not in record["outputs"]:
        others = ", ".join(sorted(record["outputs"]))
        raise store.DataError(f"{path}.json is the record of {others}: put both in their places, or run again")
    return record


def _other_results(results, records, jobs):
    """Results folders inside this one, as `results/paper` is: another configuration's, by what their records say.

    No folder in which a job of ours writes is among them, whatever a record there says.
    """
    roots = set()
    for path, record in records.items():
        parents = Path(path).parents
        depth = _DEPTHS.get(record["rule"], 0)
        if path not in jobs and 0 < depth <= len(parents):
            roots.add(parents[depth - 1].as_posix())
    inside = {root for root in roots if root.startswith(f"{results}/")}
    ours = {parent.as_posix() for path in jobs for parent in Path(path).parents} if inside else set()
    return sorted(inside - ours)


def _sha256(unreadable, path):
    """The hash of a file; None where there is none, or where it cannot be read, which is added to `unreadable`."""
    try:
        return store.sha256(path)
    except store.MissingError:
        return None
    except store.DataError as error:
        unreadable.setdefault(path, str(error).removeprefix(f"{path} "))
        return None
