"""Typeset one table, as Markdown and LaTeX."""

import pandas as pd
from tabulate import tabulate

from carryover.workflow import command_line, plugin_job

FORMATS = {".md": ("github", "<!-- {} -->"), ".tex": ("latex_booktabs", "% {}")}
"""{suffix: (tabulate's name of the format, a comment in it)}"""


def main(argv):
    with plugin_job.started(argv, "table", __doc__) as (job, rows, arguments):
        found = plugin_job.of_data(rows, pd.DataFrame, arguments)
        for output in arguments.output:
            job.path(output).write_text(typeset(found, output.suffix, job.note), encoding="utf-8")


def typeset(rows, suffix, note):
    """A data frame of texts as one file's text, with a note in a comment at its end."""
    style, comment = FORMATS[suffix]
    if suffix == ".md":  # a bar ends a cell
        rows = rows.map(lambda text: text.replace("|", r"\|")).rename(columns=lambda text: text.replace("|", r"\|"))
    body = tabulate(rows, headers="keys", tablefmt=style, showindex=False, disable_numparse=True)
    if suffix == ".tex":
        body = body.replace("\N{MINUS SIGN}", "$-$")  # LaTeX has no such letter
    return f"{body}\n\n{comment.format(note)}\n"


if __name__ == "__main__":
    command_line.run(main)
