"""The archive of a configuration: `check` lists the datasets that it lacks, `pack` adds finished ones."""

import argparse
import sys

from carryover import archive
from carryover.audit import findings
from carryover.workflow import startup


def main(argv):
    parser = argparse.ArgumentParser(prog="archive.py", description=__doc__, allow_abbrev=False)
    parser.add_argument("what", choices=("check", "pack"))
    startup.add_configuration(parser)
    arguments = parser.parse_args(argv)
    sweep = startup.sweep_of_files(arguments.configfile)
    audit = findings.audit(sweep) if arguments.what == "pack" else None
    if wrong := list(archive.lacking(sweep, audit)):
        sys.exit("\n".join(f"archive: {one}" for one in wrong))
