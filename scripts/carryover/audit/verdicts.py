"""One verdict on each result, with its cause by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from carryover.config.artifacts import ON_DEMAND
from carryover.errors import UserError
from carryover.provenance import environment
from carryover.provenance.code_digest import closure_files
from carryover.workflow.differences import changed_parameters, recorded_key

VERDICTS = ("ALTERED", "MISSING", "UNRECORDED", "STALE", "OK")
"""Worst first."""
NAMED = 3
"""Files that a cause names at most."""


@dataclass(frozen=True)
class Finding:
    """The verdict on one result.

    `cause` is why it is not OK: those of STALE results begin with input, code, configuration or software. `remarks` are
    on what is OK. A `warning` is STALE by other software alone, which neither fails an audit nor goes downstream.
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
    installed, closures, known = environment.installed_versions(), {}, set(chain.paths)
    graph = TopologicalSorter({path: [name for name in chain.inputs(path) if name in known] for path in chain.paths})
    try:
        order = list(graph.static_order())
    except CycleError as error:
        raise UserError(f"records name each other as inputs: {', '.join(error.args[1])}") from None
    for path in order:
        record, archived = chain.records.get(path), chain.archived(path)
        verdict, cause = _condition(chain, path, archived)
        causes, warnings, own = [cause] if cause else [], [], [path]
        if verdict == "OK" and not archived:
            causes = [*_changed_inputs(chain, path, roots), *_changes(chain, path, closures)]
            upstream = sorted({root for name in chain.inputs(path) for root in roots.get(name, ())})
            if upstream and not causes:
                causes, own = [f"input: {_few(upstream)} upstream"], upstream
            if not causes and recorded_key(record) not in ("", chain.requests[path].key):
                causes = ["configuration: other flags"]
            warnings = list(_software(record["environment"], installed))
            verdict = "STALE" if causes or warnings else "OK"
        if causes:
            roots[path] = own
        rule = chain.requests[path].rule if path in chain.requests else (record or {}).get("rule", "")
        remarks = [f"archived, made at commit {archived['commit'][:12]}"] if archived else []
        said, warning = "; ".join(causes + warnings), bool(warnings) and not causes
        findings[path] = Finding(path, rule, verdict, said, remarks, warning)
    return findings


def _condition(chain, path, archived):
    """(verdict, cause) of a result by its own bytes and record."""
    record, digest = chain.records.get(path), chain.hashes[path]
    no_job = "" if path in chain.requests else ", and no job makes it"
    if path in chain.problems:
        return "ALTERED", chain.problems[path]
    if digest is None:
        return "MISSING", f"no file{no_job}"
    if record is None:
        return "UNRECORDED", f"no record{no_job}"
    if digest != record["outputs"][path]["sha256"]:
        return "ALTERED", f"sha256 {record['outputs'][path]['sha256'][:12]}…, now {digest[:12]}…"
    if archived and digest != archived["unpacked"]["sha256"]:
        return "ALTERED", "it is not the archived dataset"
    return "OK", ""


def _changed_inputs(chain, path, roots):
    """What is wrong with inputs that are not in trouble upstream."""
    for name, known in chain.inputs(path).items():
        if name not in roots and chain.hashes[name] != known["sha256"]:
            missing = chain.hashes[name] is None
            yield f"input: {name} {'is missing' if missing else 'is not the one it was made of'}"


def _changes(chain, path, closures):
    """What of code and configuration is not as the record has it."""
    if path not in chain.requests:
        yield "configuration: no job makes it; for the results of an overlay name its files with --configfile"
        return
    record, request = chain.records[path], chain.requests[path]
    modules = tuple(request.modules)
    if modules not in closures:  # many jobs have the same
        closures[modules] = closure_files(chain.sweep.scripts, *modules)
    now, before = closures[modules], record["code"]["files"]
    if files := sorted(f"scripts/{file}" for file in before.keys() | now.keys() if before.get(file) != now.get(file)):
        yield f"code: {_few(files)} changed"
    yield from (f"configuration: {one}" for one in changed_parameters(request, record))
    if request.rule not in ON_DEMAND.values():  # these need not show everything
        needed, used = set(request.inputs), set(record["inputs"])
        if other := sorted(needed - used | used - needed - set(request.files)):
            yield f"configuration: other results go into it now, the first being {other[0]}"


def _software(before, installed):
    """Packages with another version here than in the `environment` of a record.

    Packages that are not installed here are not compared, nor those of a job that ran in a conda environment.
    """
    now = {"python": environment.python(), **installed}
    versions = {} if before["conda"] else {"python": before["python"], **before["versions"]}
    for name, version in versions.items():
        if now.get(name, version) != version:
            yield f"software: {name} {version} → {now[name]}"


def _few(names):
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
