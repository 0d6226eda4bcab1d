"""The archive of a configuration: `check` lists the datasets that it lacks, `pack` adds finished ones."""

import argparse
import sys

from carryover import archive
from carryover.audit import project
from carryover.workflow import command_line, startup


def main(argv):
    parser = argparse.ArgumentParser(prog="archive.py", description=__doc__, allow_abbrev=False)
    parser.add_argument("what", choices=("check", "pack"))
    project.add_configuration(parser)
    arguments = parser.parse_args(argv)
    config, root = project.configuration(arguments.configfile), project.root()
    audit = project.audit(config, root) if arguments.what == "pack" else None
    if wrong := list(archive.lacking(startup.valid_sweep(config, root), audit)):
        sys.exit("\n".join(f"archive: {one}" for one in wrong))


if __name__ == "__main__":
    command_line.run(main)
