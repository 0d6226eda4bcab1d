"""Draw one figure, as PNG, SVG and PDF."""

from pathlib import Path

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
import matplotlib.pyplot as plt

from carryover.config import plugins
from carryover.errors import UserError
from carryover.figures.drawing import finishing, style
from carryover.provenance import trace
from carryover.provenance.job_record import SCRIPTS, Job
from carryover.workflow import artifact_jobs


def add_style(parser):
    own = SCRIPTS.parent / "config" / "figures.mplstyle"
    parser.add_argument("--style", default=own, type=Path, metavar="FILE", help="matplotlib style")


def check_formats(arguments):
    """Refuse what argparse cannot: formats that are not drawn."""
    if wrong := [output for output in arguments.output if Path(output).suffix not in trace.KEYS]:
        raise UserError(f"--output {wrong[0]}: its suffix must be one of {', '.join(trace.KEYS)}.")


def main(argv):
    module, p, arguments = command_line.plugin(argv, "figures", "figure", __doc__, command_line.add_data, add_style)
    check_formats(arguments)
    plt.switch_backend("Agg")
    with (
        plugins.cycles_left_alone(),
        Job(
            rule="figure",
            parameters=p,
            wildcards=command_line.wildcards(arguments),
            inputs=[*arguments.data, arguments.style],
            outputs=arguments.output,
            modules=["figure", module.__name__],
        ) as job,
    ):
        style.use(arguments.style)
        drawn = artifact_jobs.made_of_roles(finishing.laid_out(module.draw), plt.Figure, arguments, p)
        with plt.rc_context({"figure.constrained_layout.use": False}):  # Matplotlib asks it again after every format
            drawn.set_layout_engine(None)
            for output in map(Path, arguments.output):
                drawn.savefig(job.path(output), metadata=trace.metadata(output.suffix, job.request_text))


if __name__ == "__main__":
    command_line.run(main)
