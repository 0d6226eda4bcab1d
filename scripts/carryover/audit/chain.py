"""Every result of a results folder, with its job, its record and the hash of its bytes."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from carryover.config.artifacts import ON_DEMAND, SUFFIXES
from carryover.errors import DataError
from carryover.provenance import job_record, record_index, store
from carryover.provenance.plain_json import json_digest
from carryover.workflow.requests import Request
from carryover.workflow.sweep import Sweep

IGNORED = ("logs", "benchmarks", "audit.json", "audit.html")
"""Files and folders in a results folder that are no results."""


@dataclass
class Chain:
    """The results of one folder, as found.

    `requests` is {path: Request} of all files that the configuration makes, `records` {path: its record}, `problems`
    {path: sentence} of what cannot be read or has an edited or another file's record, `paths` every result that exists
    or ought to. `others` are results folders of other configurations inside this one, which are passed over. `hashes`
    is {path: SHA-256, None where there is no file} of all results and recorded inputs.
    """

    sweep: Sweep
    requests: dict[str, Request]
    records: dict[str, dict]
    problems: dict[str, str]
    paths: list[str]
    others: list[str]
    hashes: dict[str, str | None] = field(default_factory=dict)

    @property
    def lasting(self):
        """{path: record} without what is made on demand of all the others, such as the report."""
        return {path: one for path, one in sorted(self.records.items()) if one["rule"] not in ON_DEMAND.values()}

    @property
    def root(self):
        """SHA-256 over the JSON list of [path, `record_digest`], sorted by path, of every lasting record."""
        return json_digest([[path, job_record.record_digest(one)] for path, one in self.lasting.items()])

    def archived(self, path):
        """The archive's record of a result; None for a result that was computed here."""
        request = self.requests.get(path)
        return request.record if request and request.rule == "unarchive" else None

    def inputs(self, path):
        """{input: {sha256, bytes}} by the record of a result."""
        return self.records.get(path, {}).get("inputs", {})


def gather(sweep, threads=None):
    """The `Chain` of a sweep's results; every file is hashed, in `threads` threads (default: one per core)."""
    requests = {}
    for rule, wildcards, path in sweep.jobs():  # figures and tables have several formats
        suffixes = SUFFIXES.get(rule, (Path(path).suffix,))
        request = sweep.request(rule, wildcards)
        requests |= {path.removesuffix(suffixes[0]) + suffix: request for suffix in suffixes}
    others = [folder.parent.as_posix() for folder in sorted(Path(sweep.results).glob("*/logs")) if folder.is_dir()]
    passed_over = tuple(f"{sweep.results}/{name}" for name in IGNORED) + tuple(f"{folder}/" for folder in others)
    found = {path.as_posix() for path in record_index.files(sweep.results)}
    found = {path for path in found if not path.startswith(passed_over) and not path.endswith(".saved")}
    on_demand = {f"{sweep.results}/{name}": rule for name, rule in ON_DEMAND.items()}
    requests |= {path: sweep.request(rule, {}) for path, rule in on_demand.items() if path in found}

    records, problems = {}, {}
    for path in sorted({path.removesuffix(".json") for path in found if path.endswith(".json")} | requests.keys()):
        file = job_record.record_path(path)
        try:
            if file.exists() and (path in found or path in requests or record_index.is_record(file)):
                found.discard(file.as_posix())
                record = job_record.whole(file)
                if path not in record["outputs"]:
                    raise DataError(f"{file} is the record of {', '.join(record['outputs'])}")
                records[path] = record
        except DataError as error:
            problems[path] = str(error)

    chain = Chain(sweep, requests, records, problems, sorted({*requests, *records, *problems, *found}), others)
    wanted = sorted({*chain.paths, *(name for record in records.values() for name in record["inputs"])})
    with ThreadPoolExecutor(threads) as pool:
        chain.hashes = dict(zip(wanted, pool.map(lambda path: _sha256(path, problems), wanted), strict=True))
    return chain


def _sha256(path, problems):
    """The hash of a file; None where there is none, or where it cannot be read, which is added to the problems."""
    try:
        return store.sha256(path)
    except store.MissingError:
        return None
    except DataError as error:
        problems.setdefault(path, str(error))
        return None
