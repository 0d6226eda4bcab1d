"""Say what a configuration costs before it runs: time and memory of every stage, from jobs that were measured."""

import argparse
from pathlib import Path

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
from carryover.audit import project
from carryover.workflow import startup
from carryover.workflow.plan import measured, overhead, table
from carryover.workflow.plan.rates import Rates

ROOT = Path(__file__).resolve().parents[1]
READING = f"""Time is by the clock, with the start of Python in it; on several cores all jobs run side by side, none
faster than the longest. measured: this very job was, with the same parameters and number of seeds. modelled: by the
law of its kind in the second table; ×/÷ is one standard deviation. MB: the largest job; ≥ where that was not measured.
evening: {table.EVENING // 3600} h on {table.CORES[0]} cores suffice. What is made of data is taken to cost the same
at any size of its data."""


def main(argv):
    parser = argparse.ArgumentParser(prog="plan.py", description=__doc__, allow_abbrev=False)
    project.add_configuration(parser)
    parser.add_argument(
        "--measured",
        nargs="+",
        metavar="FOLDER",
        help="results folders to take times from (default: the configuration's and results)",
    )
    arguments = parser.parse_args(argv)
    made = startup.valid_sweep(project.configuration(arguments.configfile), ROOT)
    folders = arguments.measured or [
        folder for folder in dict.fromkeys([made.results, "results"]) if Path(folder).is_dir()
    ]
    jobs = []
    for folder in folders:
        known, passed_over = measured.read(folder, made.schema)
        jobs += known
        print(f"{folder}: {len(known)} measured jobs, {passed_over} passed over.")
        if known:
            print(f"Overhead there, all that is neither training nor measuring:\n\n{overhead.text(known)}")
    if not jobs:
        print("Nothing was measured yet: run a small configuration first (make), or name --measured FOLDER.")
    here = Rates([job for job in jobs if job.device == "cpu"])
    there = Rates([job for job in jobs if table.GPU in job.device])
    print(f"\n{table.text(table.rows(made, here, there))}\n{READING}\n")
    for device, rates in (("one core", here), (f"one {table.GPU}", there)):
        if rates.fits:
            print(f"On {device}:\n\n{table.laws(rates)}")


if __name__ == "__main__":
    command_line.run(main)
