"""Put all groups of checks together in one table, with the claims that they make up and their verdicts."""

from pathlib import Path

from carryover.claims.support import headlines
from carryover.claims.support import table as claims_table
from carryover.claims.support.checks import MEANINGS
from carryover.errors import UserError
from carryover.provenance import store
from carryover.provenance.job_record import Job
from carryover.report import claims_page
from carryover.templates import rendering
from carryover.workflow import command_line

# Of every claim of a group: MEANINGS except what older ones lack, and what `check_claims` adds.
NEEDED = ("claim", *(name for name in MEANINGS if name != "deviation"), "data", "portable")


def group(file):
    """A checked group of claims; UserError, naming the file, for a dataset of another kind."""
    found = store.load(file)
    lacking = [name for name in NEEDED if name not in found]
    if lacking or "verdict_alone" in found:
        why = f"it has no {lacking[0]}" if lacking else "it is a table of them"
        raise UserError(f"{file} is no group of claims, as check_claims.py makes one: {why}.")
    return found


def main(argv):
    parser = command_line.parser("claims_table.py", __doc__)
    parser.add_argument("groups", nargs="+", type=Path, metavar="GROUP", help="checked groups of claims")
    parser.add_argument("--beside", nargs="+", default=[], metavar="NAME=FILE", help="other tables of claims")
    arguments = parser.parse_args(argv)
    beside = {name: Path(file) for name, file in command_line.pairs(arguments.beside, "--beside").items()}
    with Job(
        rule="claims_table",
        wildcards=command_line.wildcards(arguments),
        inputs=[*arguments.groups, *beside.values(), *rendering.files("claims_table"), headlines.source()],
        outputs=arguments.output,
        modules=["claims_table"],
    ) as job:
        others = {name: claims_table.read(file) for name, file in beside.items()}
        table = claims_table.gathered({file.stem: group(file) for file in arguments.groups}, others)
        print(claims_page.summary(table))
        for output in map(Path, arguments.output):
            note = f"Carryover request {job.request}"
            if output.suffix == ".nc":
                job.save(table, output)
            elif output.suffix == ".md":
                job.path(output).write_text(f"{claims_page.markdown(table)}\n<!-- {note} -->\n", encoding="utf-8")
            else:
                job.path(output).write_text(claims_page.page(table, note), encoding="utf-8")


if __name__ == "__main__":
    command_line.run(main)
