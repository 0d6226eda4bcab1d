"""The archive of a configuration: `check` lists the datasets that it lacks, `pack` adds finished ones."""

import argparse
import sys
from pathlib import Path

from carryover import archive
from carryover.audit import project
from carryover.errors import UserError, sentence
from carryover.workflow import command_line, startup

ROOT = Path(__file__).resolve().parents[1]


def main(argv):
    parser = argparse.ArgumentParser(prog="archive.py", description=__doc__, allow_abbrev=False)
    parser.add_argument("what", choices=("check", "pack"))
    project.add_configuration(parser)
    arguments = parser.parse_args(argv)
    config, wrong = project.configuration(arguments.configfile), []
    sweep = startup.valid_sweep(config, ROOT)
    if not (folder := sweep.config.get("archive")):
        raise UserError("the configuration names no archive: add archive: FOLDER.")
    audit = project.audit(config, ROOT) if arguments.what == "pack" else None
    for dataset in sweep.datasets():
        try:
            if audit and not sweep.archived(*dataset):
                archive.pack(sweep, audit, *dataset)
            elif mismatch := archive.mismatch(sweep, *dataset):
                raise UserError(mismatch)
            else:
                archive.packed(folder, *dataset)
        except UserError as error:
            wrong.append(f"archive: {sentence(error)}")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    command_line.run(main)
