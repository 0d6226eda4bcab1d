"""The archive of a configuration: `check` lists what it lacks of it, `pack` adds finished datasets."""

import argparse
import sys
from pathlib import Path

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
from carryover import archive
from carryover.audit import project
from carryover.errors import UserError, sentence
from carryover.workflow import startup

ROOT = Path(__file__).resolve().parents[1]


def check(sweep, experiment, measure):
    """UserError where the archive lacks a dataset as the configuration asks for it."""
    if found := archive.mismatch(sweep, experiment, measure):
        raise UserError(found)
    archive.packed(sweep.config["archive"], experiment, measure)


def pack(sweep, audit, experiment, measure):
    """Add a dataset to the archive; UserError where an audit finds that it is not what would be made now."""
    path = f"{sweep.results}/{experiment}/{measure}.nc"
    if (finding := audit.findings[path]).verdict not in ("OK", "STALE-ENV"):
        raise UserError(f"{path} is {finding.verdict} ({finding.cause}): run Snakemake first.")
    made_of, names = {}, [path]
    while names:
        if (name := names.pop()) in audit.chain.records:
            made_of[name] = audit.chain.records[name]
            names += made_of[name]["inputs"].keys() - made_of.keys()
    seconds = {}
    for one in sorted(made_of.values(), key=lambda record: int(record["wildcards"].get("block", 0))):
        points = seconds.setdefault(one["rule"], {})
        points.setdefault(one["wildcards"].get("point", "all"), []).append(processor_seconds(one["volatile"]))
    whole = made_of[path]
    known = {
        "request": archive.request(sweep, experiment, measure),
        **(whole["git"] or {"commit": "unknown", "dirty": True}),
        "python": whole["environment"]["python"],
        "versions": {n: v for one in made_of.values() for n, v in one["environment"]["versions"].items()},
        "device": " ".join(sorted({one["environment"]["device"] for one in made_of.values()})),
        "seconds": seconds,
    }
    archive.save(sweep.config["archive"], known, Path(path).read_bytes())


def processor_seconds(spent):
    """What a job took of the processor, without its start, by the `volatile` part of its record."""
    own = spent["processor_time"] - spent["starting"] if "processor_time" in spent else spent["duration"]
    return round(own + spent.get("resumed", {}).get("seconds", 0), 2)


def main(argv):
    parser = argparse.ArgumentParser(prog="archive.py", description=__doc__, allow_abbrev=False)
    parser.add_argument("what", choices=("check", "pack"))
    project.add_configuration(parser)
    arguments = parser.parse_args(argv)
    config, wrong = project.configuration(arguments.configfile), []
    sweep = startup.valid_sweep(config, ROOT)
    if not sweep.config.get("archive"):
        raise UserError("the configuration names no archive: add archive: FOLDER.")
    audit = project.audit(config, ROOT) if arguments.what == "pack" else None
    for dataset in sweep.datasets():
        try:
            check(sweep, *dataset) if audit is None or sweep.archived(*dataset) else pack(sweep, audit, *dataset)
        except UserError as error:
            wrong.append(f"archive: {sentence(error)}")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    command_line.run(main)
