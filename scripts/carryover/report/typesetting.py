"""Tables of texts in GitHub's Markdown and in LaTeX."""

from tabulate import tabulate


def save(table, job, *outputs):
    """Write a data frame of texts as outputs of a `Job`, in the formats of their suffixes, with the job's note."""
    for output in outputs:
        make, comment = (markdown, "<!-- {} -->") if output.suffix == ".md" else (latex, "% {}")
        text = f"{make(table.to_numpy(), table.columns)}\n\n{comment.format(job.note)}\n"
        job.path(output).write_text(text, encoding="utf-8")


def markdown(rows, heads):
    """A table of texts in Markdown, where a bar in a text would end its cell."""
    heads, *rows = ([text.replace("|", r"\|") for text in row] for row in (heads, *rows))
    return tabulate(rows, heads, "github", disable_numparse=True)


def latex(rows, heads):
    """A table of texts in LaTeX, which has no letter for the minus sign."""
    return tabulate(rows, heads, "latex_booktabs", disable_numparse=True).replace("\N{MINUS SIGN}", "$-$")
