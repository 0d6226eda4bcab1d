"""Check configuration files before Snakemake reads them: say what is wrong, with file, line or key, and reason."""

import argparse

from carryover.config.papers import SECTIONS
from carryover.workflow import startup


def main(argv):
    parser = argparse.ArgumentParser(prog="carryover check", description=__doc__, allow_abbrev=False)
    startup.add_configuration(parser, "files", nargs="*")
    arguments = parser.parse_args(argv)
    made = startup.sweep_of_files(arguments.files)
    made.check()
    sizes = {section: len(made.config.get(section) or {}) for section in SECTIONS}
    counts = ", ".join(f"{section} {count}" for section, count in sizes.items() if count) or "nothing to make"
    print(f"{' '.join(arguments.files)}: {counts}; nothing wrong")
