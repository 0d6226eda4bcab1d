"""Export results with all that they were made of as a Workflow Run RO-Crate."""

from carryover import crate
from carryover.workflow import command_line

if __name__ == "__main__":
    command_line.run(crate.main)
