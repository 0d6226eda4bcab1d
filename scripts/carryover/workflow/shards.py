"""Whether shards belong together, by what their records say was asked: of one experiment, each once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import xarray as xr

from carryover.errors import UserError
from carryover.provenance import store


def asked(shard: xr.Dataset) -> Mapping[str, Any]:
    """What the job was asked that made a shard: rule, wildcards, parameters and seeds; empty where it does not say."""
    return json.loads(shard.attrs.get(store.RECORD, "{}"))


def belonging(read: Mapping[Path, Sequence[xr.Dataset]], paths: Sequence[Path]) -> Sequence[xr.Dataset]:
    """The datasets that were read from each of these shards, one after the other, if they can be collected; UserError
    naming the file of one that does not belong to the others."""
    seen: dict[str, Path] = {}
    found = [(path, dataset) for path, datasets in read.items() for dataset in datasets]
    if twice := [path for path in read if paths.count(path) > 1]:
        raise UserError(f"{twice[0]} is given twice")
    first = asked(found[0][1])
    for path, dataset in found:
        if not dataset.sizes.get("run"):
            raise UserError(f"{path} holds no runs")
        record = asked(dataset)
        if not record:
            continue
        if record["rule"] == "pretrain":
            raise UserError(f"{path} holds pretrained networks, which are no runs to collect")
        for key in ("rule", "wildcards.experiment", "wildcards.measure"):
            here, there = (_part(one, key) for one in (record, first))
            if here != there:
                raise UserError(
                    f"{path} does not belong to {paths[0]}: its {key.rpartition('.')[2]} is {here}, not {there}"
                )
        key = json.dumps(record, sort_keys=True) + repr(_runs(dataset))
        if (twin := seen.setdefault(key, path)) != path:
            raise UserError(f"{path} and {twin} hold the same runs")
    return [dataset for _, dataset in found]


def pretrained(path: Path, experiment: str) -> xr.Dataset:
    """The networks that finetuning of an experiment starts from; UserError where they are none, or of another."""
    start = store.load(path)
    record = asked(start)
    if record and record["rule"] != "pretrain":
        raise UserError(f"--pretrained {path}: it was made by {record['rule']}, and holds no pretrained networks")
    other = _part(record, "wildcards.experiment")
    if other not in (None, experiment):
        raise UserError(f"--pretrained {path}: its networks are those of the experiment {other}, not of {experiment}")
    return start


def checked_seeds(seeds: Sequence[int]) -> Sequence[int]:
    """The seeds; UserError for those that no generator takes, and for one that is given twice."""
    for seed in seeds:
        if not 0 <= seed < 2**63:
            raise UserError(f"--seeds {seed}: a seed must be a whole number from 0 to 2^63 - 1")
    if len(set(seeds)) < len(seeds):
        raise UserError(f"--seeds {' '.join(map(str, seeds))}: each seed may be given once")
    return seeds


def _runs(shard: xr.Dataset) -> dict[str, list]:
    """What tells the runs of a shard from others."""
    return {
        str(name): values.values.tolist() for name, values in sorted(shard.coords.items()) if values.dims == ("run",)
    }


def _part(record: Mapping[str, Any], key: str) -> Any:
    value: Any = record
    for name in key.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
