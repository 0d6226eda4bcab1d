"""`carryover diagnose`, for the rule and for use without the installed package."""

from carryover.commands.diagnose import main
from carryover.workflow import command_line

if __name__ == "__main__":
    command_line.run(lambda argv: main(argv, "diagnose.py", "diagnose"))
