"""Export results with all that they were made of as a Workflow Run RO-Crate."""

from pathlib import Path

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
from carryover.crate import contents, description, writing
from carryover.errors import UserError
from carryover.provenance.job_record import Job
from carryover.provenance.writing import new_folder


def write(gathered, output):
    """A new folder, in its place only when it is whole."""
    if output.exists():
        raise UserError(f"--output {output}: it is there already; remove it, or name another")
    with new_folder(output) as unfinished:
        writing.write_folder(description.describe(gathered), gathered, unfinished)


def main(argv):
    parser = command_line.parser("crate.py", __doc__)
    parser.add_argument("targets", nargs="+", type=Path, metavar="RESULT", help="results, or folders of them")
    arguments = parser.parse_args(argv)
    gathered = contents.gather(arguments.targets)
    if len(arguments.output) != 1:
        raise UserError("--output must be one folder, or one file that ends in .zip")
    output = Path(arguments.output[0])
    if output.suffix != ".zip":
        write(gathered, output)
        return
    read = [one.file for one in gathered.results.values()]
    with Job(rule="crate", inputs=read, outputs=[output], modules=["crate"]) as job:
        writing.write_zip(description.describe(gathered), gathered, job.path(output))


if __name__ == "__main__":
    command_line.run(main)
