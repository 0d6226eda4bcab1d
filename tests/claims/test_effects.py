"""Claims hold, fail or stay open as the runs that they are about say, and other runs do not."""

import pytest

from carryover.provenance import store
from toy import diagonal_runs, relu_penalty_runs, relu_runs, teacher_runs
from toy.made_up_runs import OPPOSITE, SEEDS, checks_of
from toy.relu_penalty_runs import penalty
from toy.relu_runs import nesting, richness, sharing

MADE = relu_runs.MADE | relu_penalty_runs.MADE | diagonal_runs.MADE | teacher_runs.MADE


@pytest.mark.parametrize(("effect", "verdict"), [(1.0, "holds"), (-1.0, "fails"), (0.0, "undecided")])
@pytest.mark.parametrize("module", MADE, ids=str)
def test_every_claim_follows_its_effect(module, effect, verdict, tmp_path):
    checked = checks_of(module, MADE[module](effect))
    other = dict.fromkeys(("least_similar", "least_small"), OPPOSITE[verdict])  # which claim that the effect is absent
    found = checked["verdict"].to_series().to_dict()
    assert found == dict.fromkeys(found, verdict) | {name: other[name] for name in other.keys() & found.keys()}
    assert (checked["seeds"] == len(SEEDS)).all()
    store.save(checked, tmp_path / "claims.nc")


@pytest.mark.parametrize(
    ("module", "made", "stopped", "undecided"),
    [
        ("relu_sharing", sharing, {"protocol": "finetuning"},
         {"multi_task_first", "feature_learning_new", "feature_learning_at_0", "feature_learning_at_0.5",
          "feature_learning_at_1"}),
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
