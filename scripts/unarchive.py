"""Unpack an archived dataset, which stands in the place of a collected one."""

from carryover import archive
from carryover.workflow import command_line

if __name__ == "__main__":
    command_line.run(archive.unarchive)
