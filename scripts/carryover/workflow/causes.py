"""Why results are out of date, by the keys, parameters and code in their records.

`sweep` is a `workflow.sweep.Sweep`, `request` a `workflow.requests.Request` for what the configuration asks now, and
`record` the record of its result as `job_record.read` returns it (keys: docs/provenance.md).
"""

from base64 import b64encode
from collections import Counter
from contextlib import suppress
from pathlib import Path

from carryover.config import parameters
from carryover.config.artifacts import ON_DEMAND
from carryover.errors import DataError
from carryover.provenance import job_record

_METADATA = Path(".snakemake/metadata")  # where Snakemake has a file for each result, by its name in base 64
_NAMED = 3
"""Files that a cause names at most."""


def notes(sweep):
    """Yield sentences on experiments trained although there is an archive, and on results that are out of date.

    Snakemake reruns results by its metadata. It has none of results that were copied here, and does not rerun them:
    where there are such, a sentence says how to.
    """
    mismatches: dict = {}
    for experiment, measure in sweep.datasets() if sweep.archive else ():
        if reason := sweep.mismatch(experiment, measure):
            mismatches.setdefault(experiment, reason)
    yield from (f"{experiment} is trained: {reason}" for experiment, reason in mismatches.items())
    differing: Counter = Counter()
    copied = set()  # rules
    for output, request in sweep.jobs.items():
        if request.rule in ON_DEMAND:
            continue
        with suppress(DataError):  # a result without a record, or with a damaged one, is an audit's to report
            record = job_record.read(job_record.record_path(output))
            for cause in causes(record, request)[:1]:  # without one, the change is upstream
                differing[request.rule, cause] += 1
                if not _METADATA.joinpath(b64encode(output.encode()).decode()).exists():
                    copied.add(request.rule)
    yield from (f"{rule}, {count} job(s): {cause}." for (rule, cause), count in differing.items())
    if copied:
        rules = " ".join(sorted(copied))
        yield f"Snakemake keeps results that were copied without its metadata; to make them anew: snakemake -R {rules}"


def key_of(record):
    """The key on the command line of a job; empty where it was run by hand."""
    command = record["command"]
    return command[command.index("--key") + 1] if "--key" in command[:-1] else ""


def causes(record, request):
    """A list of sentences on the code and configuration that differ from a record; empty where the keys agree, or
    where the change is upstream."""
    if key_of(record) == request.key:
        return []
    edited = edited_files(record, request)
    sentences = [f"code: {few(edited)} changed"] if edited else []
    sentences += [
        f"configuration: it runs {name} now" for name in request.modules if name not in record["code"]["modules"]
    ]
    # Seeds are compared as parameters are; `plain` gives the request the types of JSON, as the record has them.
    recorded, requested = (
        {"seeds": record["seeds"], **record["parameters"]},
        {"seeds": request.seeds, **dict(request.parameters)},
    )
    sentences += dict.fromkeys(  # points that are trained together share most parameters
        f"configuration: {path[-1]} {old} → {new}"
        for path, old, new in parameters.differences(recorded, job_record.plain(requested), common=True)
    )
    if request.rule not in ON_DEMAND:  # these need not show everything
        new = [path for path in request.inputs if path not in record["inputs"]]
        sentences += [f"configuration: it is made of {path} now" for path in new[:1]]
    return sentences


def edited_files(record, request):
    """The files of the code of a job that are others than in its record."""
    before, now = record["code"]["files"], request.sweep.code_files(*request.modules)
    return [f"scripts/{file}" for file in sorted(before.keys() | now.keys()) if before.get(file) != now.get(file)]


def few(names):
    """The first of several names, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
