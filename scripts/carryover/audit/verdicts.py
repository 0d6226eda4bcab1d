"""One verdict on each result, with its cause by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from carryover.errors import UserError
from carryover.provenance import environment
from carryover.provenance.code_digest import closure_files
from carryover.workflow import startup

VERDICTS = ("ALTERED", "MISSING", "UNRECORDED", "STALE", "OK")
"""Worst first."""
NAMED = 3
"""Upstream results that a cause names at most."""


@dataclass(frozen=True)
class Finding:
    """The verdict on one result.

    Attributes
    ----------
    cause
        Why it is not OK: of STALE results, each cause begins with input, code, configuration or software.
    remarks
        What else is said of a result that is OK.
    warning
        Whether other software is all that makes it STALE; this neither fails an audit nor goes downstream.
    """

    path: str
    rule: str
    verdict: str
    cause: str
    remarks: Sequence[str] = ()
    warning: bool = False


def judge(chain):
    """{path: Finding} of every result of a `Chain`, each after what it was made of.

    Raises UserError where records name each other as inputs, and for code that cannot be read.
    """
    findings, roots = {}, {}  # roots: the results in which the trouble of a path begins
    installed, closures = environment.installed_versions(), {}
    known = set(chain.paths)
    graph = TopologicalSorter({path: [name for name in chain.inputs(path) if name in known] for path in chain.paths})
    try:
        order = list(graph.static_order())
    except CycleError as error:
        raise UserError(f"records name each other as inputs: {', '.join(error.args[1])}") from None
    for path in order:
        record, archived = chain.records.get(path), chain.archived(path)
        verdict, causes = _condition(chain, path, archived)
        above = sorted({root for name in chain.inputs(path) for root in roots.get(name, ())})
        if verdict == "OK" and not archived:
            causes = [f"input: {name} {why}" for name, why in _changed_inputs(chain, path, roots)]
            causes += _changes(chain, path, closures)
            if not causes and above:
                more = [f"and {len(above) - NAMED} more"] if len(above) > NAMED else []
                causes = [f"input: {', '.join([*above[:NAMED], *more])} upstream"]
            elif not causes:
                above = []
            verdict = "STALE" if causes else verdict
        if verdict != "OK":
            roots[path] = above if above and causes[0].endswith(" upstream") else [path]
        software = [f"software: {one}" for one in _software(record["environment"], installed)] if record else []
        warning = verdict == "OK" and bool(software) and not archived
        rule = chain.jobs[path][0] if path in chain.jobs else (record or {}).get("rule", "")
        remarks = [f"archived, made at commit {archived['commit'][:12]}"] if archived else []
        cause = "; ".join([*causes, *(software if verdict == "STALE" or warning else ())])
        findings[path] = Finding(path, rule, "STALE" if warning else verdict, cause, remarks, warning)
    return findings


def _condition(chain, path, archived):
    """(verdict, causes) of a result by its own bytes and record."""
    record, digest = chain.records.get(path), chain.hashes[path]
    no_job = "" if path in chain.jobs else ", and no job makes it"
    if path in chain.problems:
        return "ALTERED", [chain.problems[path]]
    if digest is None:
        return "MISSING", [f"no file{no_job}"]
    if record is None:
        return "UNRECORDED", [f"no record{no_job}"]
    if digest != record["outputs"][path]["sha256"]:
        return "ALTERED", [f"sha256 {record['outputs'][path]['sha256'][:12]}…, now {digest[:12]}…"]
    if archived and digest != archived["unpacked"]["sha256"]:
        return "ALTERED", ["it is not the archived dataset"]
    return "OK", []


def _changed_inputs(chain, path, roots):
    """(input, what is wrong with it) of the inputs that are not in trouble upstream."""
    for name, known in chain.inputs(path).items():
        if name not in roots and not chain.is_same_input(name, known):
            missing = chain.hashes[name] is None
            yield name, chain.problems.get(name, "is missing") if missing else "is not the one it was made of"


def _changes(chain, path, closures):
    """Sentences on code and configuration that are not as the record has them."""
    if path not in chain.jobs:
        return ["configuration: no job makes it; for the results of an overlay name its files with --configfile"]
    made, record, (rule, wildcards) = chain.made, chain.records[path], chain.jobs[path]
    modules = tuple(made.modules(rule, wildcards))
    now, then = closures.get(modules) or closure_files(made.scripts, *modules), record["code"]["files"]
    closures[modules] = now
    files = sorted(file for file in then.keys() | now.keys() if then.get(file) != now.get(file))
    changed = [f"code: scripts/{file} has changed" for file in files]
    return changed + [f"configuration: {one}" for one in startup.changed_parameters(made, rule, wildcards, record)]


def _software(then, installed):
    """Packages with another version here than in the `environment` of a record, with both versions.

    Packages that are not installed here are not compared, nor those of a job that ran in a conda environment.
    """
    python = environment.python()
    if then["conda"]:
        return
    if then["python"] != python:
        yield f"{then['python']} → {python}"
    for name, version in then["versions"].items():
        if installed.get(name, version) != version:
            yield f"{name} {version} → {installed[name]}"
