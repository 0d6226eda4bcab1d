"""Note in the records of results that the difference which `audit` finds in them, as it is now, is harmless."""

import argparse
from pathlib import Path

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
from carryover.audit import notes, project
from carryover.provenance import job_record

ROOT = Path(__file__).resolve().parents[1]


def main(argv):
    made = argparse.ArgumentParser(prog="accept.py", description=__doc__, allow_abbrev=False)
    made.add_argument("files", nargs="+", metavar="FILE", help="results")
    made.add_argument("--reason", required=True, help="why the difference is harmless; `audit` shows it")
    project.add_configuration(made)
    arguments = made.parse_args(argv)
    findings = project.audit(project.configuration(arguments.configfile), ROOT).findings
    paths = list(dict.fromkeys(job_record.shown(file) for file in arguments.files))
    notes.accept(findings, arguments.reason, paths)
    for path in paths:
        print(f"{path}: {findings[path].verdict} accepted: {findings[path].cause}")


if __name__ == "__main__":
    command_line.run(main)
