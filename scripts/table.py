"""Typeset one table, as Markdown and LaTeX."""

from pathlib import Path

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
import pandas as pd
from tabulate import tabulate

from carryover.errors import UserError
from carryover.provenance.job_record import Job
from carryover.workflow import artifact_jobs

# {suffix: (tabulate's name of the format, a comment in it)}
FORMATS = {".md": ("github", "<!-- {} -->"), ".tex": ("latex_booktabs", "% {}")}


def typeset(rows, suffix, job):
    """A data frame of texts as one file's text, with the digest of the job's request in a comment at its end."""
    style, comment = FORMATS[suffix]
    if suffix == ".md":
        rows = rows.map(_without_bars).rename(columns=_without_bars)
    body = tabulate(rows, headers="keys", tablefmt=style, showindex=False, disable_numparse=True)
    if suffix == ".tex":
        body = body.replace("\N{MINUS SIGN}", "$-$")  # LaTeX has no such letter
    return f"{body}\n\n{comment.format(f'Carryover request {job.request}')}\n"


def _without_bars(text):
    """A cell in which no bar ends the cell."""
    return text.replace("|", r"\|")


def check_formats(arguments):
    """Refuse what argparse cannot: formats that are not typeset."""
    for output in arguments.output:
        if Path(output).suffix not in FORMATS:
            raise UserError(f"--output {output}: its suffix must be one of {', '.join(FORMATS)}.")


def main(argv):
    module, p, arguments = command_line.plugin(argv, "figures.tables", "table", __doc__, command_line.add_data)
    check_formats(arguments)
    with Job(
        rule="table",
        parameters=p,
        wildcards=command_line.wildcards(arguments),
        inputs=arguments.data,
        outputs=arguments.output,
        modules=["table", module.__name__],
    ) as job:
        rows = artifact_jobs.made_of_roles(module.rows, pd.DataFrame, arguments, p)
        for output in map(Path, arguments.output):
            job.path(output).write_text(typeset(rows, output.suffix, job), encoding="utf-8")


if __name__ == "__main__":
    command_line.run(main)
