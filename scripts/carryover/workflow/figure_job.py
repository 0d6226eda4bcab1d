"""Drawing one figure, in several formats."""

import gc

import matplotlib.pyplot as plt

from carryover.figures.drawing import style
from carryover.workflow import plugin_job


def main(argv):
    """`figure.py PLOT --roles ROLE … --data FILE … --output FILE … OPTIONS`."""
    gc.disable()  # a sixth of the time: drawing makes many objects and little garbage
    plt.switch_backend("Agg")
    files = [style.FILE]
    with plugin_job.started(argv, "figure", "Draw one figure, as PNG and PDF.", files=files) as (job, draw, arguments):
        style.use(style.FILE)
        style.save(plugin_job.of_data(draw, plt.Figure, arguments), job, *arguments.output)
