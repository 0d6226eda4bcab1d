"""Claims about ReLU networks hold, fail or stay open as the runs that they are about say, and other runs do not."""

import numpy as np
import pytest

from carryover.claims import (
    relu_clusters,
    relu_dimensionality,
    relu_least_penalty,
    relu_nesting,
    relu_penalty_risk,
    relu_richness,
    relu_sharing,
)
from carryover.config.parameters import model_of
from carryover.errors import UserError
from carryover.provenance import store
from toy import relu_penalty_runs, relu_runs
from toy.made_up_runs import SEEDS
from toy.relu_penalty_runs import least_penalty, penalty
from toy.relu_runs import clusters, nesting, richness, sharing

MADE = relu_runs.MADE | relu_penalty_runs.MADE


@pytest.mark.parametrize(("effect", "verdict"), [(1.0, "holds"), (-1.0, "fails"), (0.0, "undecided")])
@pytest.mark.parametrize("module", MADE, ids=lambda module: module.__name__.rsplit(".")[-1])
def test_every_claim_follows_its_effect(module, effect, verdict, tmp_path):
    checked = module.check(MADE[module](effect), model_of(*module.__name__.split(".")[1:])())
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
    (relu_sharing, "multi_task_shared", worse, {"protocol": "multi_task", "overlap": 1.0}),
    (relu_sharing, "finetuning_shared", worse, {"protocol": "finetuning", "overlap": 1.0}),
    (relu_sharing, "multi_task_first", worse, {"protocol": "multi_task", "overlap": 0.5}),
    (relu_sharing, "feature_learning", better, {"protocol": "finetuning_kernel", "overlap": 0.0}),
    (relu_sharing, "feature_learning_new", better, {"protocol": "finetuning_kernel", "overlap": 0.5}),
    (relu_nesting, "no_rescaling_needed", better, TASK | {"protocol": "finetuning", "rescale": 0.1}),
    (relu_nesting, "selection_over_lazy", better, TASK | {"protocol": "finetuning", "rescale": 10.0}),
    (relu_nesting, "selection_over_kernel", better, TASK | {"protocol": "finetuning_kernel"}),
    (relu_richness, "sparse", better, {"main_features": 6, "initial_scale": 1.0, "protocol": "single_task"}),
    (relu_sharing, "correlated_0.9", worse, {"protocol": "finetuning", "overlap": 1.0, "correlation": 0.9}),
    (relu_penalty_risk, "no_reversal", better, {"correlation": 0.8, "magnitude": 1.0, "protocol": "single_task"}),
]


@pytest.mark.parametrize(("module", "claim", "change", "condition"), ONE_FAILS, ids=[name for _, name, *_ in ONE_FAILS])
def test_the_runs_that_a_claim_is_about_decide_it(module, claim, change, condition):
    data = MADE[module](1.0)
    # What is changed a millionfold is left out as stopped short unless its loss goes along.
    risk = changed(changed(data["risk"], "risk_final", change, **condition), "loss", change, **condition)
    verdicts = module.check(data | {"risk": risk}, model_of(*module.__name__.split(".")[1:])())["verdict"].to_series()
    assert verdicts[claim] == "fails"


def test_the_claims_on_clusters_are_each_about_their_own_runs():
    data = clusters(1.0)

    def failing(role, name, change, **condition):
        altered = data | {role: changed(data[role], name, change, **condition)}
        verdicts = relu_clusters.check(altered, model_of("claims", "relu_clusters")())["verdict"].to_series()
        return set(verdicts.index[verdicts != "holds"])

    assert failing("regimes", "inertia", lambda x: x + 0.1, initial_scale=1e-3, samples=1024) == {
        "rich_sparse", "less_sparse_between",
    }  # fmt: skip
    assert failing("regimes", "effective_clusters", lambda x: -x, main_features=1000) == {"clusters_grow"}
    assert failing("overlap", "effective_clusters", lambda x: x * 1.3, overlap=0.5, correlation=1.0) == {
        "multi_task_uses_unique"
    }
    assert failing("overlap", "effective_clusters", lambda x: x * 0.6, overlap=1.0, correlation=1.0) == {
        "multi_task_uses_unique"
    }
    assert failing("overlap", "alignment", lambda x: x - 0.1, protocol="multi_task") == {"multi_task_aligns"}
    assert failing("overlap", "inertia", lambda x: x + 0.1, protocol="finetuning", overlap=0.0) == {
        "finetuning_as_sparse"
    }
    assert failing("nested", "inertia", lambda x: x * 0.1, protocol="finetuning", rescale=10.0) == {
        "lazy_not_nested", "lazy_less_nested",
    }  # fmt: skip
    assert failing("nested", "inertia", lambda x: x * 0.1, protocol="multi_task") == {"multi_task_not_nested"}
    assert failing("nested", "alignment", lambda x: x + 0.1, rescale=0.1, overlap=1.0) == {"lost_by_rescaling"}


@pytest.mark.extended
def test_the_claims_on_least_penalties_are_each_about_their_own_runs():
    data = least_penalty(1.0)

    def failing(name, change, role="least", **condition):
        altered = data | {role: changed(data[role], name, change, **condition)}
        verdicts = relu_least_penalty.check(altered, model_of("claims", "relu_least_penalty")())["verdict"].to_series()
        return set(verdicts.index[verdicts != "holds"])

    tuned = {"protocol": "finetuning"}
    assert failing("penalty", lambda x: x * 1e9, role="spread", correlation=0.8) == {"apart"}
    assert failing("penalty", lambda x: x * 1.2, protocol="single_task") == {"least_scratch"}
    assert failing("penalty", lambda x: x * 1.2, **tuned, correlation=1.0) == {"least_shared"}
    assert failing("penalty", lambda x: x * 1.5, **tuned, correlation=0.8, magnitude=1.0) == {"least_similar"}
    assert failing("penalty", lambda x: x * 1.5, **tuned, correlation=0.6, magnitude=0.1) == {"least_small"}
    assert failing("turned", lambda x: x / 1e4, **tuned, correlation=0.6, magnitude=0.01) == {"whole"}
    assert "reversal" in failing("risk_found", lambda x: x / 1e3, **tuned, correlation=0.8, magnitude=0.01)
    assert "helps" in failing("risk_found", lambda x: x * 1e6, **tuned, correlation=1.0)
    assert "hurts" in failing("risk_found", lambda x: x / 1e6, **tuned, magnitude=0.01)


def test_statistics_are_differences_of_log_risks():
    checked = relu_sharing.check(sharing(1.25), model_of("claims", "relu_sharing")())
    expected = {"multi_task_shared": 2.0, "multi_task_first": 1 / 2, "feature_learning": 1.0}
    for claim, times in expected.items():
        assert checked["statistic"].sel(claim=claim) == pytest.approx(1.25 * times)
    checked = relu_penalty_risk.check(penalty(0.75), model_of("claims", "relu_penalty_risk")())
    np.testing.assert_allclose(checked["statistic"].sel(claim="loss_of_benefit"), 1.99 * 0.75)
    assert checked["statistic"].sel(claim="order") == pytest.approx(1)
    checked = relu_nesting.check(nesting(1.25), model_of("claims", "relu_nesting")())
    np.testing.assert_allclose(checked["statistic"], 1.25)


def test_statistics_on_clusters_are_inertias_alignments_and_numbers_and_their_differences():
    checked = relu_clusters.check(clusters(1.0), model_of("claims", "relu_clusters")())
    distance = (checked["statistic"] - checked["bound"]).to_series()
    assert distance.pop("lazy_less_nested") == pytest.approx(0.08)
    np.testing.assert_allclose(distance, 0.04)


@pytest.mark.parametrize(
    ("module", "made", "stopped", "undecided"),
    [
        (relu_sharing, sharing, {"protocol": "finetuning"},
         {"multi_task_first", "feature_learning", "feature_learning_new"}),
        (relu_nesting, nesting, {"protocol": "finetuning", "rescale": 10.0}, {"selection_over_lazy"}),
        (relu_nesting, nesting, {"protocol": "finetuning", "rescale": 10.0, "main_features": 6}, set()),
        (relu_richness, richness, {"initial_scale": 1.0}, {"sparse", "dense", "sparsity"}),
        (relu_penalty_risk, penalty, {"protocol": "single_task", "correlation": 0.8, "magnitude": 1.0},
         {"no_reversal", "loss_of_benefit"}),
    ],
)  # fmt: skip
def test_networks_that_were_stopped_short_are_no_evidence_of_being_worse(module, made, stopped, undecided):
    data = made(1.0, unfinished=lambda **point: stopped.items() <= point.items())
    checked = module.check(data, model_of(*module.__name__.split(".")[1:])()).to_dataframe()
    assert set(checked.index[checked["verdict"] == "undecided"]) == undecided
    assert set(checked.index[checked["seeds"] == 0]) == undecided
    assert set(checked["verdict"]) <= {"holds", "undecided"}


@pytest.mark.parametrize(
    ("module", "drop", "options", "sentence"),
    [
        (relu_sharing, {}, {"samples": 32}, "needs samples 32 of the role risk, but there is only samples 16, 64"),
        (
            relu_richness,
            {"protocol": "single_task_kernel"},
            {"lazy": "single_task_kernel"},
            "needs protocol single_task_kernel of the role risk",
        ),
        (relu_clusters, {"rescale": 0.1}, {}, "needs rescale below and above 1 of the role nested, not from 1 to 10"),
        (relu_dimensionality, {"protocol": "finetuning"}, {}, "needs protocol finetuning of the role nested"),
    ],
)
def test_conditions_that_the_data_lack_are_named_in_a_sentence(module, drop, options, sentence):
    data = MADE[module](1.0)
    for name, value in drop.items():
        data = {
            role: runs.isel({runs[name].dims[0]: runs[name].values != value}) if name in runs.coords else runs
            for role, runs in data.items()
        }
    with pytest.raises(UserError, match=sentence) as raised:
        module.check(data, model_of(*module.__name__.split(".")[1:])(**options))
    assert "\n" not in str(raised.value)
    assert str(raised.value).endswith(".")
