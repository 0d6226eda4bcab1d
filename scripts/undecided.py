"""`carryover undecided`, for use without the installed package."""

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
from carryover.commands.undecided import main

if __name__ == "__main__":
    command_line.run(lambda argv: main(argv, "undecided.py"))
