"""Check whether today's code still gives the archived values of the papers' scale."""

import sys

from carryover.audit.papers_check import main
from carryover.workflow import command_line

if __name__ == "__main__":
    command_line.run(lambda argv: sys.exit(not main(argv)))
