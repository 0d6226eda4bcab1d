"""Typeset one table, as Markdown and LaTeX."""

import pandas as pd

from carryover.figures.drawing.typesetting import FORMATS, typeset
from carryover.workflow import command_line, plugin_job
from carryover.workflow.plugin_job import add_data, of_data


def main(argv):
    started = plugin_job.started(argv, "table", "figures.tables", __doc__, add_data, formats=FORMATS)
    with started as (job, module, p, arguments):
        rows = of_data(module.rows, pd.DataFrame, arguments, p)
        for output in arguments.output:
            text = typeset(rows, output.suffix, f"Carryover request {job.request}")
            job.path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    command_line.run(main)
