"""Tables as Markdown and LaTeX."""

from tabulate import tabulate

FORMATS = {".md": ("github", "<!-- {} -->"), ".tex": ("latex_booktabs", "% {}")}
"""{suffix: (tabulate's name of the format, a comment in it)}"""


def typeset(rows, suffix, note):
    """A data frame of texts as one file's text, with a note in a comment at its end."""
    style, comment = FORMATS[suffix]
    if suffix == ".md":  # a bar ends a cell
        rows = rows.map(lambda text: text.replace("|", r"\|")).rename(columns=lambda text: text.replace("|", r"\|"))
    body = tabulate(rows, headers="keys", tablefmt=style, showindex=False, disable_numparse=True)
    if suffix == ".tex":
        body = body.replace("\N{MINUS SIGN}", "$-$")  # LaTeX has no such letter
    return f"{body}\n\n{comment.format(note)}\n"


def save(rows, job, *outputs):
    """Write a table as outputs of a `Job`, in the formats of their suffixes."""
    for output in outputs:
        text = typeset(rows, output.suffix, f"Carryover request {job.request}")
        job.path(output).write_text(text, encoding="utf-8")
