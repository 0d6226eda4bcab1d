"""Put figures, tables, claims and what the records say of them on one HTML page."""

from pathlib import Path

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
from carryover.audit import project
from carryover.provenance.job_record import Job
from carryover.report import contents, page
from carryover.templates import rendering

ROOT = Path(__file__).resolve().parents[1]


def main(argv):
    parser = command_line.parser("report.py", __doc__)
    parser.add_argument("results", metavar="FOLDER", help="the results to show")
    project.add_configuration(parser)
    arguments = parser.parse_args(argv)
    config = project.configuration(arguments.configfile, arguments.results)
    audit = project.audit(config, ROOT, threads=1)
    config = audit.chain.made.config  # with the papers
    gathered = contents.gather(config, audit)
    with Job(
        rule="report",
        parameters={section: config.get(section, {}) for section in ("papers", "figures", "tables")},
        wildcards=command_line.wildcards(arguments),
        inputs=[*gathered.files, *rendering.files("report")],
        outputs=arguments.output,
        modules=["report"],
    ) as job:
        for output in arguments.output:
            text = page.page(gathered, f"Carryover request {job.request}")
            job.path(output).write_text(text, encoding="utf-8", errors="backslashreplace")  # names of strays


if __name__ == "__main__":
    command_line.run(main)
