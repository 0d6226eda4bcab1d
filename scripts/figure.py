"""Draw one figure, as PNG, SVG and PDF."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from carryover import cli
from carryover.errors import UserError
from carryover.ingredients import read
from carryover.provenance import Job

# Nothing of when it was made, so that equal content gives equal bytes.
TIMELESS = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None, "ModDate": None}}


def metadata(suffix, job):
    """The record's digest inside the figure itself."""
    key = {".png": "Description", ".svg": "Description", ".pdf": "Subject"}[suffix]
    return {**TIMELESS[suffix], key: f"Carryover request {job.request}"}


def add_style(parser):
    parser.add_argument("--style", required=True, type=Path, metavar="FILE", help="matplotlib style")


def check_formats(arguments):
    """Refuse what argparse cannot: formats that are not drawn."""
    for output in arguments.output:
        if Path(output).suffix not in TIMELESS:
            raise UserError(f"--output {output}: its suffix must be one of {', '.join(TIMELESS)}.")


def main(argv):
    module, p, arguments = cli.plugin(argv, "plotting", "figure", __doc__, cli.add_data, add_style)
    check_formats(arguments)
    with Job(
        rule="figure",
        parameters=p,
        wildcards=cli.wildcards(arguments),
        inputs=[*arguments.data, arguments.style],
        outputs=arguments.output,
        modules=["figure", module.__name__],
    ) as job:
        plt.style.use(arguments.style)
        drawn = module.draw(cli.by_role(arguments, read), p)
        drawn.draw_without_rendering()  # lays it out, once for all formats
        with plt.rc_context({"figure.constrained_layout.use": False}):
            drawn.set_layout_engine(None)
        for output in map(Path, arguments.output):
            drawn.savefig(job.path(output), metadata=metadata(output.suffix, job))


if __name__ == "__main__":
    cli.run(main)
