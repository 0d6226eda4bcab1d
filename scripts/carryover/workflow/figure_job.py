"""Drawing one figure, in several formats."""

import gc

import matplotlib.pyplot as plt

from carryover.figures.drawing import style
from carryover.provenance.job_record import KEYS
from carryover.workflow import plugin_job


def main(argv):
    """`figure.py PLOT --roles ROLE … --data FILE … --output FILE … OPTIONS`."""
    gc.disable()  # a sixth of the time: drawing makes many objects and little garbage
    plt.switch_backend("Agg")
    kwargs = {"add": _add, "inputs": lambda _, arguments: [*arguments.data, arguments.style], "formats": KEYS}
    with plugin_job.started(argv, "figure", "Draw one figure, as PNG and PDF.", **kwargs) as (job, draw, arguments):
        style.use(arguments.style)
        style.save(plugin_job.of_data(draw, plt.Figure, arguments), job, *arguments.output)


def _add(parser):
    plugin_job.add_data(parser)
    style.add_style(parser)
