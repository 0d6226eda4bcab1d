"""Check or fill the archive of a configuration."""

from pathlib import Path

from carryover.commands.archive import main
from carryover.workflow import command_line

if __name__ == "__main__":
    command_line.run(lambda argv: main(argv, Path(__file__).resolve().parents[1]))
