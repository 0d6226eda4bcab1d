"""What jobs took: the records beside their results, which say what was asked as well."""

from dataclasses import dataclass
from pathlib import Path

from carryover.config.artifacts import MADE_OF_DATA, STAGES
from carryover.errors import UserError
from carryover.provenance import job_record, record_index
from carryover.workflow.plan import work


@dataclass(frozen=True)
class Measured:
    """A job that ran: its `Work`, how long it took [s], its peak memory [MB], on which device ("cpu", or a GPU).

    `inside` is the part of the time that its record counts: without the start of Python and most imports. `processor`
    is the time of the processor [s].
    """

    work: work.Work
    seconds: float
    inside: float
    processor: float
    megabytes: float
    device: str


def read(folder, schema):
    """(the `Measured` jobs of a results folder, number of jobs passed over).

    Passed over is what is of a plug-in that the schema does not know, or was measured on what is missing. Raises
    UserError for a folder that does not exist and for a damaged record.
    """
    if not Path(folder).is_dir():
        raise UserError(f"--measured {folder}: there is no such folder; name a results folder")
    records = record_index.jobs(made.record for made in record_index.all_made(folder).values())
    jobs = [_job(Path(folder), record, schema) for record in records]
    return [job for job in jobs if job], jobs.count(None)


def _job(folder, record, schema):
    if not (done := _work(folder, record, schema)):
        return None
    spent, accelerator = record["volatile"], record["environment"]["accelerator"]
    inside, starting = spent["duration"], spent.get("starting", 0.0)  # records were without these times once
    inside += spent.get("resumed", {}).get("seconds", 0.0)
    return Measured(
        done, inside + starting, inside, spent.get("processor_time", inside), spent["peak_memory"] / 1e6,
        accelerator["name"] if accelerator else "cpu",
    )  # fmt: skip


def _work(folder, record, schema):
    """What a record says was asked; None for a plug-in that is not in the schema (any more)."""
    rule, asked, wildcards = record["rule"], record["parameters"], record["wildcards"]
    plugin = record["command"][1] if len(record["command"]) > 1 else ""
    try:
        if rule in STAGES:
            return work.stage(schema, rule, plugin, asked, len(record["seeds"]), wildcards.get("experiment", ""))
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
