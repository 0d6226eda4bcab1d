"""`carryover trace`, for use without the installed package."""

from carryover.commands.trace import main
from carryover.workflow import command_line

if __name__ == "__main__":
    command_line.run(lambda argv: main(argv, "trace_figure.py"))
