"""The shards of an experiment, put together along their runs."""

import json

import numpy as np
import xarray as xr

from carryover.errors import UserError
from carryover.provenance import store


def request(shard):
    """The request of the job that made a shard: rule, wildcards, parameters and seeds; empty without a record."""
    return json.loads(shard.attrs.get(store.RECORD, "{}"))


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
