"""The console command `carryover`, which runs one of the library's commands.

Without an installation it is the folder: `python scripts/carryover trace figure.png`.
"""

import argparse
import importlib
import sys
from pathlib import Path

if not __package__:  # Python's path begins with this folder, not with its parent, in which the library lies
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from carryover.errors import UserError
from carryover.workflow import command_line

COMMANDS = {
    "diagnose": "say what finetuning did to the features of a network, from its activations before and after",
    "forecast": "say whether pretraining will help a task, before any training",
    "rescale": "find the factor on a pretrained network's weights with which finetuning scores best in validation",
    "replay": "train a published run of Feature reuse again from its seed",
    "check": "say what is wrong with configuration files, before Snakemake reads them",
    "audit": "compare every result of a project with its record, the configuration, the code and the software",
    "trace": "say which code, configuration, seeds and data a figure was made of",
}


def dispatch(argv):
    """Run the command that the first word names, with the words after it."""
    parser = argparse.ArgumentParser(
        prog="carryover", description="What does pretraining leave behind for finetuning?", allow_abbrev=False
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, meaning in COMMANDS.items():
        commands.add_parser(name, help=meaning, add_help=False)
    name = parser.parse_args(argv[:1]).command
    try:
        command = importlib.import_module(f"carryover.commands.{name}")
    except ModuleNotFoundError as error:
        needed = f"carryover {name} needs the package {error.name}, which is not installed"
        raise UserError(f'{needed}: in Carryover\'s folder, `pip install ".[workflow]"` brings it') from None
    command.main(argv[1:])


def main():
    command_line.run(dispatch)


if __name__ == "__main__":
    main()
