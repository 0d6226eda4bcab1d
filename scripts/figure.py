"""Draw one figure, as PNG, SVG and PDF."""

import gc

import matplotlib.pyplot as plt

from carryover.figures.drawing import style
from carryover.provenance.job_record import KEYS
from carryover.workflow import command_line, plugin_job


def inputs(_, arguments):
    return [*arguments.data, arguments.style]


def main(argv):
    plt.switch_backend("Agg")
    adding = plugin_job.add_data, style.add_style
    started = plugin_job.started(argv, "figure", "figures", __doc__, *adding, formats=KEYS, inputs=inputs)
    with started as (job, module, p, arguments):
        style.use(arguments.style)
        drawn = plugin_job.of_data(module.draw, plt.Figure, arguments, p)
        style.save(drawn, job, *arguments.output)


if __name__ == "__main__":
    gc.disable()  # a sixth of the time: drawing makes many objects and little garbage
    command_line.run(main)
