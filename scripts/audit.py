"""`carryover audit` of the project that this script belongs to."""

from carryover.commands.audit import main
from carryover.workflow import command_line

if __name__ == "__main__":
    command_line.run(main)
