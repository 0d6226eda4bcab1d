"""The shards of an experiment, measured and put together along their runs."""

import json

import numpy as np
import xarray as xr

from carryover.config import parameters
from carryover.errors import UserError
from carryover.provenance import store
from carryover.workflow.plugin_job import naming_what_is_missing


def request(shard):
    """The request of the job that made a shard: rule, wildcards, parameters and seeds; empty without a record."""
    return json.loads(shard.attrs.get(store.RECORD, "{}"))


def measured(module, p, path):
    """A measure of each dataset of a shard that it applies to.

    A measure that only selects (`SELECTS = True`) gets datasets whose values are not read yet.
    """
    if getattr(module, "SELECTS", False):
        return store.load_all(path, lambda part: module.measure(part, p))
    conditions, found = type(p).APPLIES_TO, []
    for part in store.load_all(path):
        axes = {axis: part[axis].values[0] for axis in conditions if axis in part.coords}
        if parameters.applies(conditions, axes):
            with naming_what_is_missing(module.measure, [path]):
                found.append(module.measure(part, p))
    return found


def also_read(module, path):
    """The files that a measure reads besides the shard: those that attributes of the shard, its `READS`, name."""
    names = getattr(module, "READS", ())
    parts = store.load_all(path, lambda part: part[[]]) if names else []
    return list(dict.fromkeys(f for part in parts for name in names for f in parameters.files(part.attrs.get(name))))


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


def check(shards):
    """Refuse {path: datasets} that are no runs of one experiment, or that hold the same runs twice; UserError."""
    first, seen = None, {}
    for path, datasets in shards.items():
        for dataset in datasets:
            made = request(dataset)
            kind = [made.get("rule"), made.get("wildcards", {}).get("experiment")]
            first = first or (path, kind)
            if not dataset.sizes.get("run") or kind[0] == "pretrain":
                raise UserError(f"{path} holds no finetuned runs")
            if made and kind != first[1]:
                raise UserError(f"{path} and {first[0]} are of different experiments or rules")
            runs = {name: one.values.tolist() for name, one in dataset.coords.items() if one.dims == ("run",)}
            if made and seen.setdefault(json.dumps([made, runs], sort_keys=True), path) != path:
                raise UserError(f"{path} holds the same runs as another shard")
