"""How results differ from what a run would make now, by the keys, parameters and code in their records."""

import json
from base64 import urlsafe_b64encode
from collections import Counter
from pathlib import Path

from carryover import archive
from carryover.provenance.code_digest import closure_files
from carryover.provenance.job_record import plain

METADATA = Path(".snakemake/metadata")


def trained_anew(sweep):
    """A sentence on each experiment that the archive, if the configuration names one, lacks as the configuration asks
    for it."""
    mismatches = {}
    for experiment, measure in sweep.datasets() if sweep.archive else ():
        if found := archive.mismatch(sweep, experiment, measure):
            mismatches.setdefault(experiment, found)
    yield from (f"{experiment} is trained: {found}" for experiment, found in mismatches.items())


def differences(sweep):
    """Sentences on results whose recorded keys are not today's: what a run makes again and why, and what it keeps.

    Snakemake runs again what its metadata tells. It has none of results that were copied here, and keeps them.
    """
    again, kept = Counter(), Counter()
    for output, (rule, wildcards) in sweep.job_of.items():
        record, request = _record(output), sweep.request(rule, wildcards)
        if record is None or recorded_key(record) == request.key:
            continue
        causes = [
            *changed_parameters(request, record),
            *changed_inputs(request, record),
            *changed_code(request, record),
        ]
        counter = again if _has_metadata(output) else kept
        counter.update((rule, cause) for cause in causes[:1])  # without a cause of its own, the change is upstream
    yield from (f"{rule}, {count} job(s): {cause}" for (rule, cause), count in again.items())
    for (rule, cause), count in kept.items():
        yield f"{count} {rule} result(s) are not what would be made now: {cause}."
    if kept:
        rules = " ".join(sorted({rule for rule, _ in kept}))
        yield f"Snakemake has no metadata of them and keeps them; to make them anew: snakemake -R {rules}"


def _record(output):
    """The record of a result; None where none can be read, which an audit reports."""
    try:
        record = json.loads(Path(f"{output}.json").read_bytes())
        return record if {"command", "parameters", "seeds", "inputs", "code"} <= record.keys() else None
    except (OSError, ValueError, AttributeError, RecursionError):
        return None


def _has_metadata(output):
    """Whether Snakemake has metadata of a file: under its path in base64, in folders where the name gets too long."""
    name = urlsafe_b64encode(output.encode()).decode()
    parts = [name[i : i + 254] for i in range(0, len(name), 254)]
    return METADATA.joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1]).exists()


def recorded_key(record):
    """The key on the command line of a job; empty where it was run by hand."""
    command = record["command"]
    return command[command.index("--key") + 1] if "--key" in command[:-1] else ""


def changed_inputs(request, record):
    yield from (f"it is made of {path} now" for path in request.inputs if path not in record["inputs"])


def changed_parameters(request, record):
    """Sentences on plug-ins that are not in the record, and on parameters and seeds with another value there."""
    yield from (f"it runs {module} now" for module in request.modules if module not in record["code"]["modules"])
    before = dict(_values({"seeds": record["seeds"], **record["parameters"]}))
    now = dict(_values(plain({"seeds": request.seeds, **dict(request.parameters)})))
    changed = [path for path in now if path in before and before[path] != now[path]]
    # Points that are trained together share most parameters.
    yield from dict.fromkeys(f"{path[-1]} {_words(before[path])} → {_words(now[path])}" for path in changed)


def _values(value, path=()):
    """((name, …), value) of everything in nested sections, and in lists of them."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        yield path, value
        return
    for name, item in value.items():
        yield from _values(item, (*path, name))


def _words(value):
    return " ".join(map(str, value if isinstance(value, list) else [value])) or "empty"


def changed_code(request, record):
    """Sentences on source files that differ from the record."""
    before, now = record["code"]["files"], closure_files(request.sweep.scripts, *request.modules)
    for file in sorted(before.keys() | now.keys()):
        if before.get(file) != now.get(file):
            yield f"scripts/{file} has changed"
