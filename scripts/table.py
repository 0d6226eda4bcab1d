"""Typeset one table, as Markdown and LaTeX."""

import pandas as pd

from carryover.report import typesetting
from carryover.workflow import command_line, plugin_job


def main(argv):
    with plugin_job.open_job(argv, "table", __doc__) as (job, rows, arguments):
        typesetting.save(plugin_job.of_data(rows, pd.DataFrame, arguments), job, *arguments.output)


if __name__ == "__main__":
    command_line.run(main)
