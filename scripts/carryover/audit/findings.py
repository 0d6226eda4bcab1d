"""An audit: each result of a results folder against its record, the configuration, the code and the software."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from carryover.config.artifacts import ON_DEMAND
from carryover.errors import DataError
from carryover.provenance import environment, job_record, store
from carryover.workflow.causes import causes, few, recorded_key

VERDICTS = ("ALTERED", "MISSING", "UNRECORDED", "STALE", "OK")
"""Worst first."""
NO_JOB = "configuration: no job makes it; for the results of an overlay name its files with --configfile"
_IGNORED = ("logs", "audit.html")
"""Files and folders in a results folder that are no results."""


@dataclass(frozen=True)
class Finding:
    """The verdict on one result.

    `cause` is why it is not OK: those of STALE results begin with input, code, configuration or software. A `remark` is
    on what is OK. A `warning` is STALE by other software alone, which neither fails an audit nor goes downstream.
    """

    path: str
    rule: str
    verdict: str
    cause: str
    remark: str = ""
    warning: bool = False


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Attributes
    ----------
    findings : {path: Finding}
        Of every result that exists or that the configuration makes.
    requests, records
        {path: Request} of every file that the configuration makes, {path: record} of every result that has one.
    others
        Results folders of other configurations inside this one, which are passed over.
    """

    findings: dict
    requests: dict
    records: dict
    others: list

    @property
    def lasting(self):
        """{path: record} without what is made on demand of all the others, such as the report."""
        return {path: one for path, one in sorted(self.records.items()) if one["rule"] not in ON_DEMAND}

    @property
    def root(self):
        """SHA-256 over the JSON list of [path, `record_digest`], sorted by path, of every lasting record."""
        digests = [[path, job_record.record_digest(record)] for path, record in self.lasting.items()]
        return job_record.json_digest(digests)


def audit(sweep):
    """The `Audit` of the results of a `Sweep`; reads every byte."""
    others = [folder.parent.as_posix() for folder in sorted(Path(sweep.results).glob("*/logs")) if folder.is_dir()]
    passed_over = tuple(f"{sweep.results}/{name}" for name in _IGNORED) + tuple(f"{folder}/" for folder in others)
    files = {path.as_posix() for path in Path(sweep.results).rglob("[!.]*") if path.is_file()}
    files = {path for path in files if not path.startswith(passed_over)}
    # In the order of jobs: each result after those that it was made of.
    requests = {path: request for request in sweep.jobs.values() for path in request.outputs
                if path in files or request.rule not in ON_DEMAND}  # fmt: skip
    records, problems = _records(sorted(path for path in files if path.endswith(".json")))
    results = {path for path in files if not path.endswith(".json")} | records.keys() | problems.keys()
    paths = [*sorted(results - requests.keys()), *requests]
    names = sorted({*paths, *(name for record in records.values() for name in record["inputs"])})
    with ThreadPoolExecutor() as pool:
        hashes = dict(zip(names, pool.map(store.sha256_or_none, names), strict=True))

    findings, roots = {}, {}  # roots: the results in which the trouble of a path begins
    for path in paths:
        record, request = records.get(path), requests.get(path)
        archived = request and request.record
        verdict, cause = _condition(path, record, request, archived, hashes[path], problems)
        found, warnings, begins = [cause] if cause else [], [], [path]
        if verdict == "OK" and not archived:
            found, upstream = _outdated(record, request, hashes, roots)
            warnings, begins = list(_software(record["environment"])), upstream or [path]
            verdict = "STALE" if found or warnings else "OK"
        if found:
            roots[path] = begins
        rule = request.rule if request else (record or {}).get("rule", "")
        remark = f"archived, made at commit {archived['commit'][:12]}" if archived else ""
        findings[path] = Finding(path, rule, verdict, "; ".join(found + warnings), remark, bool(warnings) and not found)
    return Audit(findings, requests, records, others)


def _records(files):
    """({path: record}, {path: sentence} of records that cannot be read) of the results of record files."""
    records, problems = {}, {}
    for file in files:
        path = file.removesuffix(".json")
        try:
            record = job_record.read(file)
            if path not in record["outputs"]:
                raise DataError(f"{file} is the record of {', '.join(record['outputs'])}")
            records[path] = record
        except DataError as error:
            problems[path] = str(error)
    return records, problems


def _condition(path, record, request, archived, digest, problems):
    """(verdict, cause) of a result by its own bytes and record."""
    no_job = "" if request else ", and no job makes it"
    if path in problems:
        return "ALTERED", problems[path]
    if digest is None:
        return "MISSING", f"no file that can be read{no_job}"
    if record is None:
        return "UNRECORDED", f"no record{no_job}"
    if digest != (known := record["outputs"][path]["sha256"]):
        return "ALTERED", f"sha256 {known[:12]}…, now {digest[:12]}…"
    if archived and digest != archived["unpacked"]["sha256"]:
        return "ALTERED", "it is not the archived dataset"
    return "OK", ""


def _outdated(record, request, hashes, roots):
    """(why a result is not what a run would make now, the results upstream with which that begins) by its record."""
    own = [f"input: {name} is {'missing' if hashes[name] is None else 'not the one it was made of'}"
           for name, known in record["inputs"].items()
           if name not in roots and hashes[name] != known["sha256"]]  # fmt: skip
    own += causes(record, request) if request else [NO_JOB]
    if own:
        return own, []
    if upstream := sorted({root for name in record["inputs"] for root in roots.get(name, ())}):
        return [f"input: {few(upstream)} upstream"], upstream
    other_flags = request and recorded_key(record) not in ("", request.key)
    return ["configuration: other flags"] if other_flags else [], []


def _software(before):
    """Packages with another version here than in the `environment` of a record.

    Packages that are not installed here are not compared, nor those of a job that ran in a conda environment.
    """
    if before["conda"]:
        return
    now = {name: environment.installed_version(name) for name in before["versions"]} | {"python": environment.python()}
    for name, version in {"python": before["python"], **before["versions"]}.items():
        if now[name] not in (None, version):
            yield f"software: {name} {version} → {now[name]}"
