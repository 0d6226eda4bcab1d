"""Check configuration files before Snakemake reads them: say what is wrong, with file, line or key, and reason."""

import argparse

from carryover.workflow import startup


def main(argv):
    parser = argparse.ArgumentParser(prog="carryover check", description=__doc__, allow_abbrev=False)
    startup.add_configuration(parser, "files", nargs="*")
    arguments = parser.parse_args(argv)
    made = startup.sweep_of_files(arguments.files)
    made.check()
    counts = ", ".join(f"{len(made.config.get(section) or {})} {section}" for section in ("experiments", "figures"))
    print(f"{' '.join(arguments.files)}: {counts}, nothing wrong")
