"""`carryover check` of the project that this script belongs to."""

from pathlib import Path

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
from carryover.commands.check import main

if __name__ == "__main__":
    command_line.run(lambda argv: main(argv, "check.py", Path(__file__).resolve().parents[1]))
