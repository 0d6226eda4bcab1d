"""Draw one figure, as PNG, SVG and PDF."""

import gc
from pathlib import Path

import matplotlib.pyplot as plt

from carryover.figures.drawing import layout, style
from carryover.provenance.job_record import KEYS, SCRIPTS
from carryover.workflow import command_line, plugin_job
from carryover.workflow.plugin_job import add_data, of_data


def add_style(parser):
    own = SCRIPTS.parent / "config" / "figures.mplstyle"
    parser.add_argument("--style", default=own, type=Path, metavar="FILE", help="matplotlib style")


def main(argv):
    plt.switch_backend("Agg")
    started = plugin_job.started(argv, "figure", "figures", __doc__, add_data, add_style, formats=KEYS)
    with started as (job, module, p, arguments):
        style.use(arguments.style)
        drawn = of_data(layout.laid_out(module.draw), plt.Figure, arguments, p)
        with plt.rc_context({"figure.constrained_layout.use": False}):  # Matplotlib asks it again after every format
            drawn.set_layout_engine(None)
            for output in map(Path, arguments.output):
                drawn.savefig(job.path(output), metadata=job.figure_metadata(output.suffix))


if __name__ == "__main__":
    gc.disable()  # a sixth of the time: drawing makes many objects and little garbage
    command_line.run(main)
