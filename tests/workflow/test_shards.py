"""Shards that do not belong together are refused by name, before anything is collected of them."""

import json

import pytest
import xarray as xr

from carryover.errors import UserError
from carryover.provenance.store import RECORD
from carryover.workflow import collecting


def shard(rule="finetune", experiment="a", seeds=(0, 1), **wildcards):
    record = {"rule": rule, "wildcards": {"experiment": experiment, **wildcards}, "parameters": {}, "seeds": []}
    return xr.Dataset(coords={"seed": ("run", list(seeds))}, attrs={RECORD: json.dumps(record)})


def test_shards_of_one_experiment_belong_together():
    collecting.check({"0.nc": [shard(), shard(seeds=(2, 3))], "1.nc": [shard(seeds=(2, 3), point="other")]})
    without_records = xr.Dataset({"risk": ("run", [1.0])})
    collecting.check({"0.nc": [without_records], "1.nc": [without_records]})


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (shard(), "1.nc holds the same runs as another shard"),
        (shard(seeds=()), "1.nc holds no finetuned runs"),
        (shard("pretrain"), "1.nc holds no finetuned runs"),
        (shard("measure"), "1.nc and 0.nc are of different experiments or rules"),
        (shard(experiment="b"), "1.nc and 0.nc are of different experiments or rules"),
    ],
)
def test_what_does_not_belong_is_named(other, said):
    with pytest.raises(UserError, match=said):
        collecting.check({"0.nc": [shard()], "1.nc": [other]})
