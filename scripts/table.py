"""Typeset one table, as Markdown and LaTeX."""

import pandas as pd

from carryover.figures.drawing import typesetting
from carryover.workflow import command_line, plugin_job


def main(argv):
    started = plugin_job.started(argv, "table", "figures.tables", __doc__, formats=typesetting.FORMATS)
    with started as (job, module, p, arguments):
        typesetting.save(plugin_job.of_data(module.rows, pd.DataFrame, arguments, p), job, *arguments.output)


if __name__ == "__main__":
    command_line.run(main)
