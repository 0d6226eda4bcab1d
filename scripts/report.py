"""Put the figures, tables and claims of a results folder on one HTML page, with what their records say."""

from pathlib import Path

from carryover.audit import project
from carryover.config import papers
from carryover.provenance.job_record import Job
from carryover.report import page
from carryover.templates import rendering
from carryover.workflow import command_line

ROOT = Path(__file__).resolve().parents[1]


def main(argv):
    parser = command_line.parser("report.py", __doc__)
    parser.add_argument("results", metavar="FOLDER", help="the results to show")
    project.add_configuration(parser)
    arguments = parser.parse_args(argv)
    config = project.configuration(arguments.configfile)
    config = papers.resolved(config, ROOT / "config/papers")
    with Job(
        rule="report",
        parameters={section: config.get(section, {}) for section in ("papers", "figures", "tables")},
        wildcards=dict(arguments.wildcards),
        inputs=[*page.files(config, arguments.results).values(), *rendering.files("report")],
        outputs=arguments.output,
        modules=["report"],
    ) as job:
        for output in arguments.output:
            text = page.page(config, arguments.results, f"Carryover request {job.request}")
            job.path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    command_line.run(main)
