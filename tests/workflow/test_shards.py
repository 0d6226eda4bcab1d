"""Shards that do not belong together are refused by name, before anything is collected of them or trained on them."""

import json
from pathlib import Path

import pytest
import xarray as xr

from carryover.errors import UserError
from carryover.provenance import store
from carryover.provenance.store import RECORD
from carryover.workflow.shards import belonging, checked_seeds, pretrained


def shard(rule="measure", experiment="a", seeds=(0, 1), **wildcards):
    record = {"rule": rule, "wildcards": {"experiment": experiment, **wildcards}, "parameters": {}, "seeds": []}
    return xr.Dataset(coords={"seed": ("run", list(seeds))}, attrs={RECORD: json.dumps(record)})


def together(*shards, names=None):
    paths = [Path(name) for name in names or (f"{number}.nc" for number in range(len(shards)))]
    return belonging(dict(zip(paths, map(list, zip(shards, strict=True)), strict=True)), paths)


def test_shards_of_one_experiment_belong_together():
    own = shard(), shard(seeds=(2, 3)), shard(seeds=(2, 3), point="other")
    others = xr.Dataset({"risk": ("run", [1.0])}), xr.Dataset({"risk": ("run", [1.0])})  # without records
    for shards in (own, others):
        assert together(*shards) == list(shards)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (shard(), r"1\.nc and 0\.nc hold the same runs"),
        (shard(seeds=()), r"1\.nc holds no runs"),
        (shard("pretrain"), r"1\.nc holds pretrained networks"),
        (shard("finetune"), r"1\.nc does not belong to 0\.nc: its rule is finetune, not measure"),
        (shard(experiment="b"), r"1\.nc does not belong to 0\.nc: its experiment is b, not a"),
        (shard(measure="norms"), r"1\.nc does not belong to 0\.nc: its measure is norms, not None"),
    ],
)
def test_what_does_not_belong_is_named(other, said):
    with pytest.raises(UserError, match=said):
        together(shard(), other)


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (shard("pretrain", "b"), "--pretrained b.nc: its networks are those of the experiment b, not of a"),
        (shard("finetune"), "--pretrained b.nc: it was made by finetune, and holds no pretrained networks"),
    ],
)
def test_networks_to_start_from_are_pretrained_ones_of_the_experiment(start, said, monkeypatch):
    for fine in (shard("pretrain"), xr.Dataset()):
        monkeypatch.setattr(store, "load", lambda path, fine=fine: fine)
        assert pretrained(Path("b.nc"), "a") is fine
    monkeypatch.setattr(store, "load", lambda path: start)
    with pytest.raises(UserError, match=said.replace(".", r"\.")):
        pretrained(Path("b.nc"), "a")


@pytest.mark.parametrize(
    ("seeds", "said"),
    [([0, 0], "--seeds 0 0: each seed may be given once"), ([-1], "--seeds -1: a seed"), ([2**70], "--seeds 11805916")],
)
def test_seeds_are_given_once_and_are_ones_that_generators_take(seeds, said):
    checked_seeds([0, 2**63 - 1])
    with pytest.raises(UserError, match=said):
        checked_seeds(seeds)
