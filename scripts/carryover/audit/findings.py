"""An audit: each result of a results folder against its record, the configuration, the code and the software."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from carryover.config.artifacts import ON_DEMAND
from carryover.errors import DataError
from carryover.provenance import environment, job_record, store
from carryover.workflow.causes import causes, edited_files, few, key_of

VERDICTS = ("ALTERED", "MISSING", "UNRECORDED", "STALE", "OK")
"""Worst first."""
NO_JOB = "configuration: no job makes it; for the results of an overlay name its files with --configfile"


class Finding(NamedTuple):
    """The verdict on one result, or on one job that was run again.

    `cause` is why it is not OK: those of STALE results begin with input, code, configuration or software. Of an
    archived dataset that is OK it is the commit that made it, and of a pinned one the code that changed since. `fails`
    says whether it fails the audit. A result that is STALE by other software alone is a warning: neither the audit nor
    any result downstream fails by it.
    """

    verdict: str
    path: str
    rule: str
    cause: str
    fails: bool


@dataclass(frozen=True)
class Audit:
    """What an audit found: {path: Finding} of every result that exists or that the configuration makes, {path: Request}
    of every file that it makes, and {path: record} of every result that has one. `others` are results folders of other
    configurations inside this one, which are passed over."""

    findings: dict
    requests: dict
    records: dict
    others: list

    @property
    def lasting(self):
        """{path: record} without what is made on demand of all the others, such as the report."""
        return {path: record for path, record in sorted(self.records.items()) if record["rule"] not in ON_DEMAND}

    @property
    def root(self):
        """SHA-256 over the JSON list of [path, `record_digest`], sorted by path, of every lasting record."""
        digests = [[path, job_record.record_digest(record)] for path, record in self.lasting.items()]
        return job_record.json_digest(digests)


def audit(sweep):
    """The `Audit` of the results of a `workflow.sweep.Sweep`; reads every byte."""
    # A folder with logs is a results folder.
    others = [folder.parent.as_posix() for folder in sorted(Path(sweep.results).glob("*/logs")) if folder.is_dir()]
    passed_over = (f"{sweep.results}/logs", f"{sweep.results}/audit.html", *(f"{folder}/" for folder in others))
    files = (path.as_posix() for path in Path(sweep.results).rglob("[!.]*") if path.is_file())
    results = {file.removesuffix(".json") for file in files if not file.startswith(passed_over)}
    # In the order of jobs: each result after those that it was made of.
    requests = {path: request for request in sweep.jobs.values() for path in request.outputs
                if path in results or request.rule not in ON_DEMAND}  # fmt: skip
    pool = ThreadPoolExecutor()
    try:
        list(pool.map(sweep.sha256, results))  # which remembers them
    finally:  # a signal waits for the files at hand alone
        pool.shutdown(wait=False, cancel_futures=True)

    roots: dict = {}  # {path that fails: the results upstream, or itself, in which its trouble begins}
    findings: dict = {}
    records: dict = {}
    for path in [*sorted(results - requests.keys()), *requests]:
        request = requests.get(path)
        verdict, cause, record = _condition(path, request, sweep.sha256(path))
        fails, begins = verdict != "OK", [path]
        if record:
            records[path] = record
        if verdict == "OK" and not cause:  # and not archived
            reasons, upstream = _find_outdated(record, request, sweep.sha256, roots)
            software = list(_software(record["environment"]))
            fails, begins = bool(reasons), upstream or begins
            verdict, cause = "STALE" if reasons or software else "OK", "; ".join(reasons + software)
            if verdict == "OK" and request and request.pins and (edited := edited_files(record, request)):
                versions = ", ".join(sorted({*request.pins.values()}))
                cause = f"pinned by version {versions}; since then {few(edited)} changed"
        if fails:
            roots[path] = begins
        rule = request.rule if request else (record or {}).get("rule", "")
        findings[path] = Finding(verdict, path, rule, cause, fails)
    return Audit(findings, requests, records, others)


def _condition(path, request, sha256):
    """(verdict, cause, record) of the result at `path` by its own bytes and record alone.

    `request` is its `Request`, None where no job makes it. `sha256` is that of its bytes, None where they cannot be
    read. The cause of an archived dataset is never empty; the record is None where none can be trusted.
    """
    file, no_job = job_record.record_path(path), "" if request else ", and no job makes it"
    try:
        record = job_record.read(file) if os.path.lexists(file) else None
    except DataError as error:
        return "ALTERED", str(error), None
    if record and path not in record["outputs"]:
        return "ALTERED", f"{file} is the record of {', '.join(record['outputs'])}", None
    if sha256 is None:
        return "MISSING", f"{_unreadable(path)}{no_job}", record
    if record is None:
        return "UNRECORDED", f"no record{no_job}", None
    if sha256 != (known := record["outputs"][path]["sha256"]):
        return "ALTERED", f"sha256 {known[:12]}…, now {sha256[:12]}…", record
    if archived := request and request.record:
        if sha256 != archived["unpacked"]["sha256"]:
            return "ALTERED", "it is not the archived dataset", record
        return "OK", f"archived, made at commit {archived['commit'][:12]}", record
    return "OK", "", record


def _unreadable(path):
    """The reason, as text, why the result at `path` could not be read, so that it has no SHA-256."""
    if not os.path.lexists(path):
        return "no file"
    try:
        store.regular(path).close()
    except DataError as error:
        return str(error)
    return "it could not be read"  # it can be now: the error in `audit` was temporary


def _find_outdated(record, request, sha256, roots):
    """(sentences on why a result is out of date, paths of the results upstream that cause it), by its record.

    Both are empty for a result that is up to date. `sha256` is a function of a path. `roots` are those of `audit`,
    {path that fails the audit: results in which the failure begins}, of all results before this one.
    """
    # Inputs in `roots` fail the audit themselves: the results in which that begins are named below instead.
    sentences = [f"input: {name} is {'missing' if sha256(name) is None else 'not the one it was made of'}"
           for name, known in record["inputs"].items()
           if name not in roots and sha256(name) != known["sha256"]]  # fmt: skip
    sentences += causes(record, request) if request else [NO_JOB]
    if sentences:
        return sentences, []
    if upstream := sorted({root for name in record["inputs"] for root in roots.get(name, ())}):
        return [f"input: {few(upstream)} upstream"], upstream
    # Code, parameters and inputs agree, but not the key of the job: its flags differ. Jobs run by hand have no key.
    other_flags = request and key_of(record) not in ("", request.key)
    return ["configuration: other flags"] if other_flags else [], []


def _software(before):
    """Yield a sentence on each package with another version here than in the `environment` of a record.

    Packages that are not installed here are not compared, nor those of a job that ran in a conda environment: its
    versions are not those of this process.
    """
    if before["conda"]:
        return
    now = {name: environment.version_of(name) for name in before["versions"]} | {"python": environment.python()}
    for name, version in {"python": before["python"], **before["versions"]}.items():
        if now[name] not in (None, version):
            yield f"software: {name} {version} → {now[name]}"
