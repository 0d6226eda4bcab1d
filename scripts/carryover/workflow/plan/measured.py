"""What jobs took: Snakemake's benchmark files, and the records beside the results, which say what was asked."""

import csv
from dataclasses import dataclass
from pathlib import Path

from carryover.config.artifacts import MADE_OF_DATA, STAGES
from carryover.errors import UserError
from carryover.provenance import job_record
from carryover.workflow.plan import work

_SUFFIXES = (".nc", ".png", ".md")


@dataclass(frozen=True)
class Measured:
    """A job that ran: its `Work`, how long it took [s], its peak memory [MB], on which device ("cpu", or a GPU).

    `inside` is the part of the time that its record counts: without the start of Python and most imports.
    """

    work: work.Work
    seconds: float
    inside: float
    megabytes: float
    device: str


def read(folder, schema):
    """(the `Measured` jobs of a results folder, number of benchmarks passed over).

    Passed over is what has no record beside its result, and what is of a plug-in that the schema does not know. Raises
    UserError for a folder that does not exist and for a damaged benchmark or record.
    """
    if not Path(folder).is_dir():
        raise UserError(f"--measured {folder}: there is no such folder; name a results folder with benchmarks/ in it")
    files = sorted(Path(folder, "benchmarks").rglob("*.tsv"))
    jobs = [job for job in (_job(Path(folder), file, schema) for file in files) if job]
    return jobs, len(files) - len(jobs)


def _job(folder, file, schema):
    record = _record(folder, file.relative_to(folder / "benchmarks").with_suffix(""))
    done = record and _work(folder, record, schema)
    if not done:
        return None
    seconds, megabytes = _benchmark(file)
    accelerator = record["environment"]["accelerator"]
    inside = min(record["volatile"]["duration"], seconds)
    return Measured(done, seconds, inside, megabytes, accelerator["name"] if accelerator else "cpu")


def _record(folder, name):
    """The record of the result to which a benchmark belongs, if there is one."""
    if name.parent.name == "collect":
        name = name.parent.parent / name.name
    for suffix in _SUFFIXES:
        path = job_record.record_path(f"{folder / name}{suffix}")
        if path.is_file():
            return job_record.read(path)
    return None


def _work(folder, record, schema):
    """What a record says was asked; None for a plug-in that is not in the schema (any more)."""
    rule, asked, wildcards = record["rule"], record["parameters"], record["wildcards"]
    plugin = record["command"][1] if len(record["command"]) > 1 else ""
    try:
        if rule in STAGES:
            return work.stage(schema, rule, plugin, asked, len(record["seeds"]))
        if rule == "measure":
            shard = folder / wildcards["experiment"] / STAGES[-1] / wildcards["point"] / f"{wildcards['block']}.nc"
            path = job_record.record_path(shard)
            finetuned = path.is_file() and _work(folder, job_record.read(path), schema)
            return work.measure(schema, plugin, asked, finetuned) if finetuned else None
        if rule == "curve":
            return work.plugin(schema, rule, "curves", plugin, asked)
        if rule in MADE_OF_DATA:
            return work.of_data(schema, rule, plugin, asked)
    except KeyError:
        return None
    if rule == "collect":
        return work.collect(len(record["inputs"]), "select" in asked)
    return work.Work((rule,), (), {})


def _benchmark(file):
    """(seconds, megabytes): means over the repeats in a benchmark file; 0 MB where Snakemake was too late to look."""
    try:
        with file.open(newline="") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t"))
        seconds = sum(float(row["s"]) for row in rows) / len(rows)
        return seconds, max(0.0 if row["max_rss"] in ("NA", "-") else float(row["max_rss"]) for row in rows)
    except (OSError, ValueError, TypeError, KeyError, ZeroDivisionError):
        raise UserError(f"{file} is not a benchmark as Snakemake writes it: delete it") from None
