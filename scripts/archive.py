"""The archive that a configuration names: `check` says what of it is not as the configuration asks, `pack` adds finished
datasets to it."""

import argparse
import sys
from pathlib import Path

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
from carryover import archive
from carryover.audit import project
from carryover.errors import UserError, sentence
from carryover.provenance import job_record, store
from carryover.workflow import startup
from carryover.workflow.upstream import Upstream

ROOT = Path(__file__).resolve().parents[1]


def check(sweep, experiment, measure):
    """UserError where the archive lacks a dataset as the configuration asks for it."""
    if found := archive.mismatch(sweep, experiment, measure):
        raise UserError(found)
    archive.packed(sweep.config["archive"], experiment, measure)


def pack(sweep, experiment, measure):
    """Add a dataset to the archive, unless it has it; UserError where it is not finished as the configuration asks."""
    if sweep.archived(experiment, measure):
        return check(sweep, experiment, measure)
    path, found = f"{sweep.results}/{experiment}/{measure}.nc", {}
    gather(sweep, Upstream(sweep).jobs, path, found)
    if store.sha256(path) != found[path]["outputs"][path]["sha256"]:
        raise UserError(f"{path} is not what its record says.")
    seconds = {}
    for one in sorted(found.values(), key=lambda record: int(record["wildcards"].get("block", 0))):
        points = seconds.setdefault(one["rule"], {}).setdefault(one["wildcards"].get("point", "all"), [])
        points.append(processor_seconds(one["volatile"]))
    git = found[path]["git"] or {"commit": "unknown", "dirty": True}
    known = {
        "request": archive.request(sweep, experiment, measure),
        **git,
        "python": found[path]["environment"]["python"],
        "versions": {n: v for one in found.values() for n, v in one["environment"]["versions"].items()},
        "device": " ".join(sorted({one["environment"]["device"] for one in found.values()})),
        "seconds": seconds,
        "unpacked": found[path]["outputs"][path],
    }
    archive.save(sweep.config["archive"], known, Path(path).read_bytes())


def gather(sweep, jobs, path, found):
    """Add {path: record} of a result and of all that it was made of; UserError where one is not as it is asked for now."""
    if path in found:
        return
    record = found[path] = job_record.whole(job_record.record_path(path))
    for change in startup.changed_parameters(sweep, *jobs[path], record):
        raise UserError(f"{path} is not what the configuration asks for ({change}): run Snakemake first.")
    for name in record["inputs"].keys() & jobs.keys():
        gather(sweep, jobs, name, found)
        if found[name]["outputs"][name]["sha256"] != record["inputs"][name]["sha256"]:
            raise UserError(f"{name} is not the one that {path} was made of: run Snakemake first.")


def processor_seconds(spent):
    """What a job took of the processor, without its start, by the `volatile` part of its record."""
    own = spent["processor_time"] - spent["starting"] if "processor_time" in spent else spent["duration"]
    return round(own + spent.get("resumed", {}).get("seconds", 0), 2)


def main(argv):
    parser = argparse.ArgumentParser(prog="archive.py", description=__doc__, allow_abbrev=False)
    parser.add_argument("what", choices=("check", "pack"))
    project.add_configuration(parser)
    arguments = parser.parse_args(argv)
    sweep, wrong = startup.valid_sweep(project.configuration(arguments.configfile), ROOT), []
    if not sweep.config.get("archive"):
        raise UserError("the configuration names no archive: add archive: FOLDER.")
    for dataset in sweep.datasets():
        try:
            {"check": check, "pack": pack}[arguments.what](sweep, *dataset)
        except UserError as error:
            wrong.append(f"archive: {sentence(error)}")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    command_line.run(main)
