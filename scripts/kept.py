"""Results that are kept with the project, in the folder that a configuration names: `pack` puts whole experiments
there, `unpack` takes them out."""

import argparse
import sys
from pathlib import Path

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
from carryover.audit import project
from carryover.errors import sentence
from carryover.kept import packing, reading
from carryover.workflow import startup

ROOT = Path(__file__).resolve().parents[1]


def main(argv):
    made = argparse.ArgumentParser(prog="kept.py", description=__doc__, allow_abbrev=False)
    made.add_argument("what", choices=("pack", "unpack"), help="put results into the folder, or take them out of it")
    project.add_configuration(made)
    arguments = made.parse_args(argv)
    sweep = startup.valid_sweep(project.configuration(arguments.configfile), ROOT)
    folder = reading.folder(sweep)
    if arguments.what == "unpack":
        paths = packing.unpack(sweep)
        print(f"Of {folder}, datasets in {sweep.results}: {len(paths)}; `snakemake kept` makes what is made of them.")
        return
    left_out = packing.pack(sweep)
    for experiment, why in left_out.items():
        print(f"{experiment}: left out, {sentence(why)}")
    print(f"Experiments that {folder} keeps: {len(reading.experiments(sweep))}.")
    sys.exit(1 if left_out else 0)


if __name__ == "__main__":
    command_line.run(main)
