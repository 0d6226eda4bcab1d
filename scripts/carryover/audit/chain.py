"""What stands in a results folder: every result with its job, its record and the hash of its bytes."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from carryover.config.artifacts import ON_DEMAND, SUFFIXES
from carryover.provenance import job_record, record_index, store
from carryover.workflow.sweep import Sweep, Wildcards

IGNORED = ("logs", "benchmarks", "audit.json", "audit.html")
"""Files and folders in a results folder that are no results."""


@dataclass
class Chain:
    """The results of one folder, as found.

    `jobs` is {path: (rule, wildcards)} of all files that the configuration makes, `records` {path: its record},
    `problems` {path: sentence} of what cannot be read or has an edited or another file's record, `paths` every result
    that is there or ought to be. `others` are results folders of other configurations inside this one, which are passed
    over. `hashes` is {path: SHA-256, None where there is no file} of all results and recorded inputs.
    """

    made: Sweep
    jobs: dict[str, tuple]
    records: dict[str, dict]
    problems: dict[str, str]
    paths: list[str]
    others: list[str]
    hashes: dict[str, str | None] = field(default_factory=dict)

    @property
    def lasting(self):
        """{path: record} without what is made on demand of all the others, such as the report."""
        return {path: one for path, one in sorted(self.records.items()) if one["rule"] not in ON_DEMAND.values()}

    def archived(self, path):
        """The archive's record of a result; None for a result that was computed here."""
        rule, wildcards = self.jobs.get(path, ("", None))
        return self.made.archive_record(wildcards) if rule == "unarchive" else None

    def inputs(self, path):
        """{input: {sha256, bytes, content}} by the record of a result."""
        return self.records.get(path, {}).get("inputs", {})

    def is_same_input(self, name, known):
        """Whether an input has the recorded bytes, or was made again with the recorded content."""
        content = self.records.get(name, {}).get("outputs", {}).get(name, {}).get("content")
        return self.hashes[name] == known["sha256"] or (content is not None and content == known.get("content"))


def gather(made, threads=None):
    """The `Chain` of a sweep's results; every file is hashed, in `threads` threads (default: one per core)."""
    jobs = {}
    for rule, wildcards, path in made.jobs():  # figures and tables have several formats
        suffixes = SUFFIXES.get(rule, (Path(path).suffix,))
        jobs |= {path.removesuffix(suffixes[0]) + suffix: (rule, wildcards) for suffix in suffixes}
    others = [folder.parent.as_posix() for folder in sorted(Path(made.results).glob("*/logs")) if folder.is_dir()]
    passed_over = tuple(f"{made.results}/{name}" for name in IGNORED) + tuple(f"{folder}/" for folder in others)
    found = {path.as_posix() for path in record_index.files(made.results)}
    found = {path for path in found if not path.startswith(passed_over) and not path.endswith(".saved")}
    on_demand = {f"{made.results}/{name}": rule for name, rule in ON_DEMAND.items()}
    jobs |= {path: (rule, Wildcards()) for path, rule in on_demand.items() if path in found}

    records, problems = {}, {}
    for path in sorted({path.removesuffix(".json") for path in found if path.endswith(".json")} | jobs.keys()):
        file = job_record.record_path(path)
        try:
            if file.exists() and (path in found or path in jobs or record_index.is_record(file)):
                found.discard(file.as_posix())
                record = job_record.whole(file)
                if path not in record["outputs"]:
                    raise store.DataError(f"{file} is the record of {', '.join(record['outputs'])}")
                records[path] = record
        except store.DataError as error:
            problems[path] = str(error)

    chain = Chain(made, jobs, records, problems, sorted({*jobs, *records, *problems, *found}), others)
    wanted = sorted({*chain.paths, *(name for record in records.values() for name in record["inputs"])})
    with ThreadPoolExecutor(threads) as pool:
        chain.hashes = dict(zip(wanted, pool.map(lambda path: _sha256(path, problems), wanted), strict=True))
    return chain


def root_digest(chain):
    """SHA-256 over the JSON list of [path, `record_digest`], sorted by path, of every record that can be read.

    Records of what is made on demand do not count: a report shows this digest, and its own record comes later.
    """
    parts = {path: job_record.record_digest(record) for path, record in chain.lasting.items()}
    return job_record.json_digest(sorted(parts.items()))


def _sha256(path, problems):
    """The hash of a file; None where there is none, or where it cannot be read, which is added to the problems."""
    try:
        return store.sha256(path)
    except store.MissingError:
        return None
    except store.DataError as error:
        problems.setdefault(path, str(error))
        return None
