"""The archive of a configuration: which datasets it lacks, and finished ones added."""

from carryover.commands.archive import main
from carryover.workflow import command_line

if __name__ == "__main__":
    command_line.run(main)
