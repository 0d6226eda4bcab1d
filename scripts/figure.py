"""Draw one figure, as PNG and PDF."""

import gc

import matplotlib.pyplot as plt

from carryover.figures.drawing import style
from carryover.workflow import command_line, plugin_job


def main(argv):
    gc.disable()  # a sixth of the time: drawing makes many objects and little garbage
    plt.switch_backend("Agg")
    with plugin_job.started(argv, "figure", __doc__, files=[style.FILE]) as (job, draw, arguments):
        style.use(style.FILE)
        style.save(plugin_job.of_data(draw, plt.Figure, arguments), job, *arguments.output)


if __name__ == "__main__":
    command_line.run(main)
