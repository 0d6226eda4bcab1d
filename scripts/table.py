"""Typeset one table, as Markdown and LaTeX."""

import pandas as pd

from carryover.figures.drawing import typesetting
from carryover.workflow import command_line, plugin_job


def main(argv):
    with plugin_job.started(argv, "table", __doc__, formats=typesetting.FORMATS) as (job, module, arguments):
        typesetting.save(plugin_job.of_data(module.rows, pd.DataFrame, arguments), job, *arguments.output)


if __name__ == "__main__":
    command_line.run(main)
