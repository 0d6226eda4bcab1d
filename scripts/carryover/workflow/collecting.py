"""The shards of an experiment, measured and put together along their runs."""

from pathlib import Path

import numpy as np
import xarray as xr

from carryover import labels
from carryover.config import parameters, plugins
from carryover.provenance import store
from carryover.workflow import command_line
from carryover.workflow.plugin_job import also_read, naming_what_is_missing, returned


def main(argv):
    """`collect.py SHARD … --family NAME [--measure NAME OPTIONS] --output FILE`: finetuned shards are measured."""
    parser = command_line.parser("collect.py", "Put the shards of an experiment together along their runs.")
    parser.add_argument("shards", nargs="+", type=Path, metavar="SHARD", help="shards, in the order of their runs")
    parser.add_argument("--measure", metavar="MEASURE", choices=plugins.names("measures"), help="measure these "
                        "finetuned shards; its own flags may follow")  # fmt: skip
    parser.add_argument("--family", required=True, choices=plugins.names("families"), help="whose runs these are")
    arguments, words = parser.parse_known_args(argv)
    name, measure, model, others = arguments.measure, None, parameters.Model, []
    modules = [f"carryover/families/{arguments.family}/labels.json"]
    if name:
        measure, model = plugins.function_of("measures", name), parameters.model_of("measures", name)
        others = also_read(measure, arguments.shards)
        modules.append(measure.__module__)
    p = command_line.options(model, words, "collect.py")
    with command_line.job(
        "collect",
        arguments,
        inputs=[*arguments.shards, *others],
        modules=modules,
        parameters={"family": arguments.family, **({"measure": name, "options": p} if measure else {})},
        portable="rounding" if measure and not _selects(measure) else "bits",
    ) as job:
        shards = (measured(measure, p, path) if measure else store.load_all(path) for path in arguments.shards)
        job.save(labels.labelled(collect([part for parts in shards for part in parts]), arguments.family))


def measured(measure, p, path):
    """A measure of each dataset of a shard that it applies to.

    A measure that only selects gets datasets whose values are not read yet.
    """
    if _selects(measure):
        return store.load_all(path, lambda part: measure(part, p))
    conditions, found = type(p).APPLIES_TO, []
    for part in store.load_all(path):
        axes = {axis: part[axis].values[0] for axis in conditions if axis in part.coords}
        if parameters.applies(conditions, axes):
            with naming_what_is_missing(measure, [path]):
                found.append(returned(measure, xr.Dataset, measure(part, p)))
    return found


def _selects(measure):
    """Whether a measure only selects: its module says `SELECTS = True`."""
    return getattr(plugins.load(measure.__module__), "SELECTS", False)


def collect(parts):
    """One dataset with the runs of all shards, one after the other; a coordinate that a shard lacks is NaN, or empty
    text, there."""
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
