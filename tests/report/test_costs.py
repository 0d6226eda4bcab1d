"""What undecided claims cost is what the records upstream of them took, for the seeds that are missing."""

import math

import numpy as np
import pytest
import xarray as xr

from carryover.report import costs
from carryover.report.costs import Cost

TABLE = xr.Dataset(
    {
        "would_decide": ("claim", ["more seeds", "more seeds", "no number of seeds", ""]),
        "seeds_needed": ("claim", [10.0, 5.0, np.inf, np.nan]),
        "seeds": ("claim", [4, 3, 4, 4]),
    },
    coords={"claim": ["a/one", "b/two", "a/three", "a/four"]},
)


def record(rule, inputs, seconds=100.0, experiment=None, seeds=(), outputs="x"):
    return {
        "rule": rule,
        "inputs": dict.fromkeys(inputs),
        "outputs": dict.fromkeys([outputs]),
        "seeds": list(seeds),
        "wildcards": {"experiment": experiment} if experiment else {},
        "volatile": {"processor_time": seconds},
    }


def made():
    """`b` is made of one experiment, `a` of this one and another; 100 s of collecting and checking are no seed's."""
    inputs = {
        "r/claims.nc": record("claims_table", ["r/claims/a.nc", "r/claims/b.nc", "scripts/page.j2"]),
        "r/claims/a.nc": record("check_claims", ["r/x/risk.nc", "r/y/risk.nc", "resources/published.csv"]),
        "r/claims/b.nc": record("check_claims", ["r/y/risk.nc"]),
        "r/x/risk.nc": record("collect", ["r/x/measure/0.nc"]),
        "r/x/measure/0.nc": record("measure", ["r/x/finetune/0.nc"], 1.0, "x"),
        "r/x/finetune/0.nc": record("finetune", ["r/x/pretrain/0.nc"], 6.0, "x", range(4)),
        "r/x/pretrain/0.nc": record("pretrain", [], 1.0, "x", range(4)),
        "r/y/risk.nc": record("collect", ["r/y/finetune/0.nc", "r/y/finetune/1.nc"]),
        "r/y/finetune/0.nc": record("finetune", [], 10.0, "y", [0, 1]),
        "r/y/finetune/1.nc": record("finetune", [], 5.0, "y", [2]),
    }
    for name, one in inputs.items():
        one["outputs"] = {name: None}
    return inputs


def test_seeds_cost_what_those_there_are_have_taken():
    found = costs.costs(TABLE, "r/claims.nc", made())
    assert {claim: (one.missing, dict(one.seed)) for claim, one in found.items()} == {
        "a/one": (6, {"x": 2.0, "y": 5.0}), "b/two": (2, {"y": 5.0}),
    }  # fmt: skip
    assert (found["a/one"].seconds, str(found["b/two"])) == (42.0, "at most 10.0 s")
    assert costs.together(found.values()) == 42.0


def test_training_that_went_on_counts_as_a_whole():
    records = made()
    records["r/y/finetune/1.nc"]["volatile"]["resumed"] = {"starts": 1, "seconds": 30.0}
    assert costs.costs(TABLE, "r/claims.nc", records)["b/two"].seed == {"y": 15.0}


@pytest.mark.parametrize("lost", ["r/claims/b.nc", "r/y/risk.nc", "r/y/finetune/1.nc"])
def test_without_a_record_the_cost_is_not_known(lost):
    records = made()
    del records[lost]
    found = costs.costs(TABLE, "r/claims.nc", records)
    assert math.isnan(found["b/two"].seconds)
    assert str(found["b/two"]) == "cost not known"
    assert "Of 1 claim the cost is not known" in costs.sentence(found) or found["a/one"].seed is None


def test_an_experiment_gets_its_seeds_once_for_all_claims():
    several = [Cost(10, {"x": 1.0, "y": 1.0}), Cost(20, {"x": 1.0}), Cost(5, {"z": 2.0})]
    assert costs.together(several) == 20 + 10 + 10
