"""The archive of a configuration: `check` lists the datasets that it lacks, `pack` adds finished ones."""

import argparse
import sys

from carryover import archive
from carryover.audit import project
from carryover.workflow import startup


def main(argv, root):
    """`root` is the folder of the project."""
    parser = argparse.ArgumentParser(prog="archive.py", description=__doc__, allow_abbrev=False)
    parser.add_argument("what", choices=("check", "pack"))
    project.add_configuration(parser)
    arguments = parser.parse_args(argv)
    config = project.configuration(arguments.configfile)
    audit = project.audit(config, root) if arguments.what == "pack" else None
    if wrong := list(archive.lacking(startup.valid_sweep(config, root), audit)):
        sys.exit("\n".join(f"archive: {one}" for one in wrong))
