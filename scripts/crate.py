"""Export results with all that they were made of as a Workflow Run RO-Crate."""

from pathlib import Path

from carryover.crate import describe, gather
from carryover.errors import UserError
from carryover.provenance.job_record import Job
from carryover.workflow import command_line


def main(argv):
    parser = command_line.parser("crate.py", __doc__)
    parser.add_argument("targets", nargs="+", type=Path, metavar="RESULT", help="results, or folders of them")
    arguments = parser.parse_args(argv)
    if [output.suffix for output in arguments.output] != [".zip"]:
        raise UserError("--output must be one file that ends in .zip")
    records, files = gather(arguments.targets)
    with Job(rule="crate", inputs=sorted(records), outputs=arguments.output, modules=["crate"]) as job:
        describe(records, files).write_zip(job.path(arguments.output[0]))


if __name__ == "__main__":
    command_line.run(main)
