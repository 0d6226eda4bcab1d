"""Put all groups of claims together in one table, with verdicts that count how many claims are tested."""

from pathlib import Path

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
from carryover.analysis import claims_table
from carryover.errors import UserError
from carryover.provenance import store
from carryover.provenance.job_record import Job
from carryover.report import claims_page
from carryover.templates import rendering


def write(table, output, job):
    """The table in the format that the suffix of an output asks for; UserError for another suffix."""
    if output.suffix == ".nc":
        job.save(table, output)
        return
    note = f"Carryover request {job.request}"
    if output.suffix == ".html":
        text = claims_page.page(table, note)
    elif output.suffix == ".md":
        text = f"{claims_page.markdown(table)}\n<!-- {note} -->\n"
    else:
        raise UserError(f"--output {output}: its suffix must be one of .nc, .md, .html.")
    job.path(output).write_text(text, encoding="utf-8")


def main(argv):
    parser = command_line.parser("claims_table.py", __doc__)
    parser.add_argument("groups", nargs="+", type=Path, metavar="GROUP", help="checked groups of claims")
    arguments = parser.parse_args(argv)
    with Job(
        rule="claims_table",
        wildcards=command_line.wildcards(arguments),
        inputs=[*arguments.groups, *rendering.files("claims_table")],
        outputs=arguments.output,
        modules=["claims_table"],
    ) as job:
        table = claims_table.gathered({group.stem: store.load(group) for group in arguments.groups})
        print(claims_page.summary(table))
        for output in map(Path, arguments.output):
            write(table, output, job)


if __name__ == "__main__":
    command_line.run(main)
