"""Put all groups of checks together in one table, with the claims that they make up and their verdicts."""

from pathlib import Path

from carryover.claims.support import headlines
from carryover.claims.support import table as claims_table
from carryover.provenance import store
from carryover.provenance.job_record import Job
from carryover.report import claims_page
from carryover.templates import rendering
from carryover.workflow import command_line


def main(argv):
    parser = command_line.parser("claims_table.py", __doc__)
    parser.add_argument("groups", nargs="+", type=Path, metavar="GROUP", help="checked groups of claims")
    parser.add_argument(
        "--others", nargs="+", type=command_line.pair, default=[], metavar="NAME=FILE", help="other tables of claims"
    )
    arguments = parser.parse_args(argv)
    others = {name: Path(file) for name, file in arguments.others}
    with Job(
        rule="claims_table",
        wildcards=dict(arguments.wildcards),
        inputs=[*arguments.groups, *others.values(), *rendering.files("claims_table"), headlines.source()],
        outputs=arguments.output,
        modules=["claims_table"],
    ) as job:
        others = {name: claims_table.read(file) for name, file in others.items()}
        table = claims_table.gathered({file.stem: store.load(file) for file in arguments.groups}, others)
        print(claims_page.summary(table))
        for output in arguments.output:
            if output.suffix == ".nc":
                job.save(table, output)
            else:
                write = claims_page.markdown if output.suffix == ".md" else claims_page.page
                job.path(output).write_text(write(table, f"Carryover request {job.request}"), encoding="utf-8")


if __name__ == "__main__":
    command_line.run(main)
