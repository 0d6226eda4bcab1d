"""Draw one figure, as PNG, SVG and PDF."""

import importlib
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

from carryover import cli, parameters, store
from carryover.errors import UserError
from carryover.provenance import Job

# Nothing of when it was made, so that equal content gives equal bytes.
TIMELESS = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None, "ModDate": None}}


class Roles(dict):
    """Datasets by what they are to the figure."""

    def __missing__(self, role):
        raise UserError(f"this figure draws data of the role {role}; it was given: {', '.join(self)}.")


def read(path):
    """A dataset, or a table that ships with the project."""
    return pd.read_csv(path) if path.suffix == ".csv" else store.load(path)


def metadata(suffix, job):
    """The record's digest inside the figure itself."""
    key = {".png": "Description", ".svg": "Description", ".pdf": "Subject"}[suffix]
    return {**TIMELESS[suffix], key: f"Carryover request {job.request}"}


def check(arguments):
    """Refuse what argparse cannot: data that do not pair with roles, and formats that are not drawn."""
    roles, data = len(arguments.roles), len(arguments.data)
    if roles != data:
        raise UserError(f"--roles and --data must name as many things each: they name {roles} and {data}.")
    for output in arguments.output:
        if Path(output).suffix not in TIMELESS:
            raise UserError(f"--output {output}: its suffix must be one of {', '.join(TIMELESS)}.")


def main(argv):
    name = cli.chosen(argv, "plotting", "figure", __doc__)
    module = importlib.import_module(f"carryover.plotting.{name}")
    parser = cli.parser(f"figure.py {name}", __doc__)
    cli.add_data(parser)
    parser.add_argument("--style", required=True, type=Path, metavar="FILE", help="matplotlib style")
    parameters.add_arguments(parser, module.Parameters)
    arguments = parser.parse_args(argv[1:])
    p = parameters.from_arguments(module.Parameters, arguments)
    check(arguments)
    with Job(
        rule="figure",
        parameters=p,
        wildcards=cli.wildcards(arguments),
        inputs=[*arguments.data, arguments.style],
        outputs=arguments.output,
        modules=["figure", f"carryover.plotting.{name}"],
    ) as job:
        plt.style.use(arguments.style)
        drawn = module.draw(Roles(zip(arguments.roles, map(read, arguments.data), strict=True)), p)
        drawn.draw_without_rendering()  # lays it out, once for all formats
        with plt.rc_context({"figure.constrained_layout.use": False}):
            drawn.set_layout_engine(None)
        for output in map(Path, arguments.output):
            drawn.savefig(job.path(output), metadata=metadata(output.suffix, job))


if __name__ == "__main__":
    cli.run(main)
