"""The archive of a configuration: `check` lists what it lacks of it, `pack` adds finished datasets."""

import argparse
import sys

from carryover import archive
from carryover.audit import project
from carryover.errors import UserError, sentence
from carryover.workflow import startup


def main(argv, root):
    """`root` is the folder of the project."""
    parser = argparse.ArgumentParser(prog="archive.py", description=__doc__, allow_abbrev=False)
    parser.add_argument("what", choices=("check", "pack"))
    project.add_configuration(parser)
    arguments = parser.parse_args(argv)
    config, wrong = project.configuration(arguments.configfile), []
    sweep = startup.valid_sweep(config, root)
    if not (folder := sweep.config.get("archive")):
        raise UserError("the configuration names no archive: add archive: FOLDER.")
    audit = project.audit(config, root) if arguments.what == "pack" else None
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
