"""Export results with all that they were made of as a Workflow Run RO-Crate."""

from pathlib import Path

from carryover.crate import contents, description
from carryover.errors import UserError
from carryover.provenance.job_record import Job
from carryover.provenance.writing import new_folder
from carryover.workflow import command_line


def main(argv):
    parser = command_line.parser("crate.py", __doc__)
    parser.add_argument("targets", nargs="+", type=Path, metavar="RESULT", help="results, or folders of them")
    arguments = parser.parse_args(argv)
    if len(arguments.output) != 1 or Path(arguments.output[0]).is_dir():
        raise UserError("--output must be one file that ends in .zip, or one folder that is not there yet")
    output = Path(arguments.output[0])
    records, files = contents.gather(arguments.targets)
    crate = description.describe(records, files)
    if output.suffix == ".zip":
        with Job(rule="crate", inputs=sorted(records), outputs=[output], modules=["crate"]) as job:
            crate.write_zip(job.path(output))
    else:
        with new_folder(output) as unfinished:
            crate.write(unfinished)


if __name__ == "__main__":
    command_line.run(main)
