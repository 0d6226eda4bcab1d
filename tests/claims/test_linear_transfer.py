"""Claims about transfer between linear tasks hold, fail or stay open as the runs that they are about say."""

import numpy as np
import pandas as pd
import pytest

from carryover.claims.linear_transfer import first_loss
from toy.linear_runs import distant, finetuning, transfer
from toy.made_up_runs import SEEDS, checks_of


def verdicts(module, data):
    return checks_of(module, data)["verdict"].to_series()


BLOCKS = "few", "many", "loud_few", "loud_many"


@pytest.mark.parametrize(
    ("module", "data", "wrong", "open_"),
    [
        ("linear_transfer", transfer, set(), set()),
        ("linear_finetuning", finetuning, {f"eq15_{block}" for block in BLOCKS} | {"third_noisy"}, set()),
        ("linear_finetuning", lambda: finetuning(factor=False),
         {f"factor_{block}" for block in BLOCKS} | {"noisy", "norm_factor"}, {"moved"}),
    ],
    ids=["transfer", "factor", "eq15"],
)  # fmt: skip
def test_claims_hold_of_runs_as_theory_has_them(module, data, wrong, open_):
    checked = checks_of(module, data())
    found = checked["verdict"].to_series()
    assert set(found.index[found == "fails"]) == wrong
    assert set(found.index[found == "undecided"]) == open_
    assert (checked["seeds"] == len(SEEDS)).all()


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("features", set()),
        ("distance", {"not_kl", "same_features"}),
        ("opposite", {"monotone", "kl_setup"}),
    ],
)
def test_distances_predict_transfer_where_gains_follow_them(kind, wrong):
    checked = checks_of("dataset_distances", distant(kind)).to_dataframe()
    assert set(checked.index[checked["verdict"] == "fails"]) == wrong
    assert set(checked.index[checked["verdict"] == "holds"]) == set(checked.index) - wrong
    correlations = {"distance": -1.0, "opposite": 1.0}
    if kind in correlations:
        assert checked.loc["not_kl", "statistic"] == pytest.approx(correlations[kind])


def changed(data, role, change, **condition):
    """The data of a claim with the risks of a role's runs at a condition, of one value or several, changed."""
    runs = data[role]
    keep = np.logical_and.reduce([np.isin(runs[name].values, value) for name, value in condition.items()])
    assert keep.any()
    return data | {role: runs.assign(risk_final=runs["risk_final"].where(~keep, change(runs["risk_final"])))}


def failing(module, base, role, change, condition):
    """The claims that hold of a base and fail of what it is changed to, or are open where nothing can be found."""
    before, after = verdicts(module, base), verdicts(module, changed(base, role, change, **condition))
    return set(after.index[after != before])


LINEAR, TUNED, ALONE = ({"protocol": name} for name in ("linear_transfer", "finetuning", "single_task"))
FEW, MANY, MORE = [0.1, 0.25, 0.4, 0.5], [0.6, 0.75, 0.9, 0.95], [1.05, 1.1, 1.25, 1.5]
LOUD, PAPERS = {"noise": 1.0}, {"noise": 0.2}
RIDGE, AT_ONE = {"angle": 0.375}, {"gamma": 0.98, "angle": 0.5, **ALONE}
ONE_FAILS = [
    # claims that fail, role, change of its risks, condition of the runs at which they change
    ({"linear_few", "boundary_low"}, "diagram", lambda risk: 1.3 * risk, {"gamma": FEW, "noise": [0.2, 1.0], **LINEAR}),
    ({"linear_many", "onset"}, "diagram", lambda risk: 1.3 * risk, {"gamma": MANY, "noise": [0.2, 1.0], **LINEAR}),
    ({"linear_more"}, "diagram", lambda risk: 1.3 * risk, {"gamma": MORE, "noise": [0.2, 1.0], **LINEAR}),
    ({"scratch_few", "boundary_low"}, "diagram", lambda risk: 0.8 * risk, {"gamma": FEW, "noise": [0.2, 1.0], **ALONE}),
    ({"scratch_many", "boundary_low", "boundary_high", "onset"}, "diagram", lambda risk: 1.3 * risk,
     {"gamma": MANY, **PAPERS, **ALONE}),
    ({"scratch_more"}, "diagram", lambda risk: 1.3 * risk, {"gamma": MORE, **PAPERS, **ALONE}),
    (set(), "diagram", lambda risk: risk + 9, {"gamma": 1.0}),
    ({"negative", "signs", "linear_many", "linear_more", "onset", "boundary_low", "boundary_high", "boundary_above"},
     "diagram", lambda risk: risk - 5, {"gamma": [*MANY, *MORE], **PAPERS, **LINEAR}),
    ({"onset"}, "diagram", lambda risk: risk + 0.2, {"angle": 0.125, "gamma": 0.75, **PAPERS, **LINEAR}),
    ({"boundary_low"}, "diagram", lambda risk: risk + 0.1, {"angle": 0.25, **PAPERS, **LINEAR}),
    ({"boundary_above"}, "diagram", lambda risk: risk - 0.2, {"angle": 0.25, "gamma": MORE, **PAPERS, **LINEAR}),
    ({"boundary_quiet"}, "diagram", lambda risk: risk + 0.1, {"angle": 0.25, "noise": 0.0, **LINEAR}),
    ({"loud"}, "loud", lambda risk: risk + 9, {"angle": 0.5, "gamma": 0.6, **LINEAR}),
    ({"shrinks", "linear_few", "linear_many", "linear_more"}, "diagram", lambda risk: risk + 5, LOUD | LINEAR),
    ({"one_over_n"}, "ridge", lambda risk: 1.3 * risk, {"ridge": 0.0, "angle": 0.25}),
    ({"ridge_formula"}, "ridge", lambda risk: 2 * risk, {"ridge": [0.1, 0.6], "samples": 300}),
    ({"ridge_hurts"}, "ridge", lambda risk: risk - 0.3, RIDGE | {"samples": 300, "ridge": 0.1}),
    ({"anomalous"}, "decay", lambda risk: risk - 5, AT_ONE | {"weight_decay": 0.0}),
    ({"regularised"}, "decay", lambda risk: risk + 5, AT_ONE | {"weight_decay": 0.1}),
]  # fmt: skip
TUNED_FAILS = [
    ({"factor_few"}, "diagram", PAPERS | {"gamma": 0.25}),
    ({"factor_many"}, "diagram", PAPERS | {"gamma": 0.75}),
    ({"factor_loud_few"}, "diagram", LOUD | {"gamma": 0.25}),
    ({"factor_loud_few", "noisy"}, "diagram", LOUD | {"gamma": 0.5}),
    ({"factor_loud_many"}, "diagram", LOUD | {"gamma": 0.75}),
    ({"third_quiet", "moved"}, "diagram", {"noise": 0.0, "gamma": 0.5}),
    ({"norm_factor"}, "simulated", {"solver": "descent", "depth": 2}),
    *((set(), "simulated", condition) for condition in ({"solver": "exact"}, {"depth": 1}, {"gamma": 1.5})),
]


@pytest.mark.parametrize(("claims", "role", "change", "condition"), ONE_FAILS)
def test_the_runs_that_a_claim_is_about_decide_it(claims, role, change, condition):
    assert failing("linear_transfer", transfer(), role, change, condition) == claims


@pytest.mark.parametrize(("claims", "role", "condition"), TUNED_FAILS)
def test_the_finetuned_networks_that_a_claim_is_about_decide_it(claims, role, condition):
    change = {"diagram": 0.2, "simulated": -0.3}[role]
    assert failing("linear_finetuning", finetuning(), role, lambda risk: risk + change, condition | TUNED) == claims


def test_gains_turn_to_losses_where_a_line_between_two_of_them_has_its_zero():
    wavy = pd.Series([1.0, -3.0, 3.0, -1.0], [0.0, 1.0, 2.0, 4.0])
    assert first_loss(wavy) == pytest.approx(0.25)
    assert first_loss(wavy[::-1]) == pytest.approx(1.5)
    assert np.isnan(first_loss(pd.Series(np.ones(4))))
