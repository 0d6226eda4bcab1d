"""Results that are kept with the project: `pack` puts whole experiments into a folder, `unpack` takes them out."""

import argparse
from pathlib import Path

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
from carryover.audit import project
from carryover.kept import packing
from carryover.workflow import startup

ROOT = Path(__file__).resolve().parents[1]


def main(argv):
    made = argparse.ArgumentParser(prog="kept.py", description=__doc__, allow_abbrev=False)
    made.add_argument("what", choices=("pack", "unpack"), help="put results into the folder, or take them out of it")
    made.add_argument("folder", help="the folder of kept results, such as resources/kept/paper")
    project.add_configuration(made)
    arguments = made.parse_args(argv)
    sweep = startup.valid_sweep(project.configuration(arguments.configfile), ROOT)
    if arguments.what == "unpack":
        paths = packing.unpack(sweep, arguments.folder)
        print(f"{len(paths)} datasets of {arguments.folder} are in {sweep.results}; snakemake kept draws what they say")
        return
    for experiment, why in packing.pack(sweep, arguments.folder).items():
        print(f"{experiment}: left out, {why}")


if __name__ == "__main__":
    command_line.run(main)
