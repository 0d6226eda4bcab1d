"""Put the shards of an experiment together along their runs: measured ones, or what is selected of finetuned ones.

A measure that only selects (`SELECTS = True` in its plug-in) takes less time than a job takes to start.
"""

import importlib
from pathlib import Path

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
import numpy as np
import xarray as xr

from carryover.config import plugins
from carryover.errors import UserError
from carryover.provenance import store
from carryover.provenance.job_record import Job
from carryover.workflow import coordinate_labels, shards


def collect(parts):
    """One dataset with the shards' runs one after the other; what a shard lacks is NaN, or empty text, there."""
    known = {name: shard[name] for shard in parts for name in shard.coords if shard[name].dims == ("run",)}
    nothing = {name: "" if values.dtype.kind in "UO" else np.nan for name, values in known.items()}
    filled = [
        shard.assign_coords({n: ("run", [nothing[n]] * shard.sizes["run"]) for n in known.keys() - shard.coords.keys()})
        for shard in parts
    ]
    together = xr.concat(filled, dim="run", join="outer", combine_attrs="drop_conflicts")
    for name, values in known.items():
        together[name].attrs = values.attrs
    return together


def selecting(name):
    """The plug-in of a measure that only selects; UserError for any other name."""
    known = name in plugins.names("measures")
    module = importlib.import_module(f"carryover.measures.{name}") if known else None
    if not getattr(module, "SELECTS", False):
        raise UserError(f"--select {name}: there is no measure of this name that only selects.")
    return module


def main(argv):
    parser = command_line.parser("collect.py", __doc__)
    parser.add_argument("shards", nargs="+", type=Path, metavar="SHARD", help="shards, in the order of their runs")
    parser.add_argument("--select", metavar="MEASURE", help="the measure that selects what is wanted of these shards")
    parser.add_argument("--family", required=True, help="the family whose runs these are")
    arguments = parser.parse_args(argv)
    module = selecting(arguments.select) if arguments.select else None
    with Job(
        rule="collect",
        parameters={"family": arguments.family, **({"select": arguments.select} if module else {})},
        wildcards=command_line.wildcards(arguments),
        inputs=arguments.shards,
        outputs=arguments.output,
        modules=["collect", *filter(None, (module and module.__name__, coordinate_labels.module(arguments.family)))],
        portable="bits",
    ) as job:
        select = (lambda shard: module.measure(shard, module.Parameters())) if module else (lambda shard: shard)
        loaded = [store.load(shard, select) for shard in arguments.shards]
        together = collect(shards.belonging(arguments.shards, loaded))
        job.save(coordinate_labels.named(together, arguments.family))


if __name__ == "__main__":
    command_line.run(main)
