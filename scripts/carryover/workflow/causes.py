"""Why results are not what a run would make now, by the keys, parameters and code in their records."""

from collections import Counter
from contextlib import suppress

from carryover.config import parameters
from carryover.config.artifacts import ON_DEMAND
from carryover.errors import DataError
from carryover.provenance import job_record
from carryover.provenance.code_digest import closure_files

_NAMED = 3
"""Files that a cause names at most."""


def notes(sweep):
    """Sentences on what a run trains although there is an archive, and on results that are not what it would make.

    Snakemake runs them again by its metadata. It has none of results that were copied here, and keeps them.
    """
    mismatches = {}
    for experiment, measure in sweep.datasets() if sweep.archive else ():
        if found := sweep.mismatch(experiment, measure):
            mismatches.setdefault(experiment, found)
    yield from (f"{experiment} is trained: {found}" for experiment, found in mismatches.items())
    differing = Counter()
    for output, request in sweep.jobs.items():
        if request.rule in ON_DEMAND:
            continue
        with suppress(DataError):  # a result without a record, or with a damaged one, is an audit's to report
            record = job_record.read(job_record.record_path(output))
            for cause in causes(record, request)[:1]:  # without one, the change is upstream
                differing[request.rule, cause] += 1
    yield from (f"{rule}, {count} job(s): {cause}." for (rule, cause), count in differing.items())
    if differing:
        rules = " ".join(sorted({rule for rule, _ in differing}))
        yield f"Snakemake keeps results that were copied without its metadata; to make them anew: snakemake -R {rules}"


def recorded_key(record):
    """The key on the command line of a job; empty where it was run by hand."""
    command = record["command"]
    return command[command.index("--key") + 1] if "--key" in command[:-1] else ""


def causes(record, request):
    """Sentences on the code and configuration that are not as a record has them; none where the change is upstream."""
    if recorded_key(record) == request.key:
        return []
    before, now = record["code"]["files"], closure_files(request.sweep.scripts, *request.modules)
    edited = [f"scripts/{file}" for file in sorted(before.keys() | now.keys()) if before.get(file) != now.get(file)]
    found = [f"code: {few(edited)} changed"] if edited else []
    found += [f"configuration: it runs {name} now" for name in request.modules if name not in record["code"]["modules"]]
    then, asked = (
        {"seeds": record["seeds"], **record["parameters"]},
        {"seeds": request.seeds, **dict(request.parameters)},
    )
    found += dict.fromkeys(  # points that are trained together share most parameters
        f"configuration: {path[-1]} {old} → {new}"
        for path, old, new in parameters.differences(then, job_record.plain(asked), common=True)
    )
    if request.rule not in ON_DEMAND:  # these need not show everything
        new = [path for path in request.inputs if path not in record["inputs"]]
        found += [f"configuration: it is made of {path} now" for path in new[:1]]
    return found


def few(names):
    """The first of several names, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
