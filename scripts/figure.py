"""Draw one figure, as PNG, SVG and PDF."""

import importlib
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

from carryover import cli, parameters, store
from carryover.provenance import Job

# Nothing of when it was made, so that equal content gives equal bytes.
TIMELESS = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None, "ModDate": None}}


def read(path):
    """A dataset, or a table that ships with the project."""
    return pd.read_csv(path) if path.suffix == ".csv" else store.load(path)


def metadata(suffix, job):
    """The record's digest inside the figure itself."""
    key = {".png": "Description", ".svg": "Description", ".pdf": "Subject"}[suffix]
    return {**TIMELESS[suffix], key: f"Carryover request {job.request}"}


def main(argv):
    name = cli.chosen(argv, "plotting", "figure", __doc__)
    module = importlib.import_module(f"carryover.plotting.{name}")
    parser = cli.parser(f"figure.py {name}", __doc__)
    parser.add_argument("--roles", required=True, nargs="+", help="what each data file is to the figure")
    parser.add_argument("--data", required=True, nargs="+", type=Path, metavar="FILE", help="in the order of --roles")
    parser.add_argument("--style", required=True, type=Path, metavar="FILE", help="matplotlib style")
    parameters.add_arguments(parser, module.Parameters)
    arguments = parser.parse_args(argv[1:])
    p = parameters.from_arguments(module.Parameters, arguments)
    with Job(
        rule="figure",
        parameters=p,
        wildcards=cli.wildcards(arguments),
        inputs=[*arguments.data, arguments.style],
        outputs=arguments.output,
        modules=["figure", f"carryover.plotting.{name}"],
    ) as job:
        plt.style.use(arguments.style)
        drawn = module.draw(dict(zip(arguments.roles, map(read, arguments.data), strict=True)), p)
        for output in map(Path, arguments.output):
            drawn.savefig(job.path(output), metadata=metadata(output.suffix, job))


if __name__ == "__main__":
    cli.run(main)
