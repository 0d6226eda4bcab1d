"""Claims about ReLU networks hold, fail or stay open as the runs that they are about say, and other runs do not."""

import numpy as np
import pytest

from carryover.provenance import store
from toy import relu_penalty_runs, relu_runs
from toy.made_up_runs import SEEDS, checks_of
from toy.relu_penalty_runs import penalty
from toy.relu_runs import nesting, richness, sharing

MADE = relu_runs.MADE | relu_penalty_runs.MADE


@pytest.mark.parametrize(("effect", "verdict"), [(1.0, "holds"), (-1.0, "fails"), (0.0, "undecided")])
@pytest.mark.parametrize("module", MADE, ids=str)
def test_every_claim_follows_its_effect(module, effect, verdict, tmp_path):
    checked = checks_of(module, MADE[module](effect))
    assert {name: found for name, found in checked["verdict"].to_series().items() if found != verdict} == {}
    assert (checked["seeds"] == len(SEEDS)).all()
    store.save(checked, tmp_path / "claims.nc")


def changed(data, name, change, **condition):
    """The data with one variable of the runs at a condition changed."""
    keep = np.logical_and.reduce([data[key].values == value for key, value in condition.items()])
    values = data[name].values.copy()
    values[keep] = change(values[keep])
    return data.assign({name: (data[name].dims, values)})


def worse(values):
    return values * 1e6


def better(values):
    return values / 1e6


TASK = {"samples": 64, "overlap": 1.0, "main_features": 1}
ONE_FAILS = [
    ("relu_sharing", "multi_task_shared", worse, {"protocol": "multi_task", "overlap": 1.0}),
    ("relu_sharing", "finetuning_shared", worse, {"protocol": "finetuning", "overlap": 1.0}),
    ("relu_sharing", "multi_task_first", worse, {"protocol": "multi_task", "overlap": 0.5}),
    ("relu_sharing", "feature_learning", better, {"protocol": "finetuning_kernel", "overlap": 0.0}),
    ("relu_sharing", "feature_learning_new", better, {"protocol": "finetuning_kernel", "overlap": 0.5}),
    ("relu_nesting", "no_rescaling_needed", better, TASK | {"protocol": "finetuning", "rescale": 0.1}),
    ("relu_nesting", "selection_over_lazy", better, TASK | {"protocol": "finetuning", "rescale": 10.0}),
    ("relu_nesting", "selection_over_kernel", better, TASK | {"protocol": "finetuning_kernel"}),
    ("relu_richness", "sparse", better, {"main_features": 6, "initial_scale": 1.0, "protocol": "single_task"}),
    ("relu_sharing", "correlated_0.9", worse, {"protocol": "finetuning", "overlap": 1.0, "correlation": 0.9}),
    ("relu_penalty_risk", "no_reversal", better, {"correlation": 0.8, "magnitude": 1.0, "protocol": "single_task"}),
]


@pytest.mark.parametrize(("module", "claim", "change", "condition"), ONE_FAILS, ids=[name for _, name, *_ in ONE_FAILS])
def test_the_runs_that_a_claim_is_about_decide_it(module, claim, change, condition):
    data = MADE[module](1.0)
    # What is changed a millionfold is left out as stopped short unless its loss goes along.
    risk = changed(changed(data["risk"], "risk_final", change, **condition), "loss", change, **condition)
    verdicts = checks_of(module, data | {"risk": risk})["verdict"].to_series()
    assert verdicts[claim] == "fails"


@pytest.mark.parametrize(
    ("module", "made", "stopped", "undecided"),
    [
        ("relu_sharing", sharing, {"protocol": "finetuning"},
         {"multi_task_first", "feature_learning", "feature_learning_new"}),
        ("relu_nesting", nesting, {"protocol": "finetuning", "rescale": 10.0}, {"selection_over_lazy"}),
        ("relu_nesting", nesting, {"protocol": "finetuning", "rescale": 10.0, "main_features": 6}, set()),
        ("relu_richness", richness, {"initial_scale": 1.0}, {"sparse", "dense", "sparsity"}),
        ("relu_penalty_risk", penalty, {"protocol": "single_task", "correlation": 0.8, "magnitude": 1.0},
         {"no_reversal", "loss_of_benefit"}),
    ],
)  # fmt: skip
def test_networks_that_were_stopped_short_are_no_evidence_of_being_worse(module, made, stopped, undecided):
    data = made(1.0, unfinished=lambda **point: stopped.items() <= point.items())
    checked = checks_of(module, data).to_dataframe()
    assert set(checked.index[checked["verdict"] == "undecided"]) == undecided
    assert set(checked.index[checked["seeds"] == 0]) == undecided
    assert set(checked["verdict"]) <= {"holds", "undecided"}
