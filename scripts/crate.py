"""Export results with all that they were made of as a Workflow Run RO-Crate."""

from pathlib import Path

from carryover import crate
from carryover.workflow import command_line


def main(argv):
    parser = command_line.parser("crate.py", __doc__)
    parser.add_argument("targets", nargs="+", type=Path, metavar="RESULT", help="results, or folders of them")
    arguments = parser.parse_args(argv)
    crate.export(arguments.targets, *arguments.output)


if __name__ == "__main__":
    command_line.run(main)
