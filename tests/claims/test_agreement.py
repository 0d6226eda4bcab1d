"""Claims on agreement follow how far networks end from the exact limit of the same run, and descent from the flow."""

import numpy as np
import pytest

from carryover.analysis.agreement import distances
from carryover.errors import UserError
from carryover.networks.diagonal import weights_at
from toy.linear_runs import limits, stopped
from toy.made_up_runs import SEEDS, checks_of, dataset, size


def solved(scale=0.1, **solvers):
    """Coefficients of one task by several solvers, off by {solver: relative distance}, and from scratch."""
    off = {"exact": 0.0, **solvers}

    def values(seed, solver, **_):
        return {"coefficients": np.array([3.0, 4.0 + 5 * (1 + seed) * off[solver]])}

    tuned = {"protocol": ["finetuning"], "samples": [8], "solver": list(off), "initial_scale": [np.nan]}
    return dataset(values, tuned, tuned | {"protocol": ["single_task"], "solver": ["exact"], "initial_scale": [scale]})


@pytest.mark.parametrize(("distance", "expected"), [(1e-5, "holds"), (1e-2, "fails")])
def test_solvers_are_held_to_their_distance_from_the_exact_limit(distance, expected):
    checked = checks_of("exact_limit", {"coefficients": solved(flow=distance, descent=1e-4, symmetric=1e-2)})
    assert checked.sel(claim="flow_exact")["verdict"] == expected
    assert checked.sel(claim="not_symmetric")["statistic"] == pytest.approx(2.0)


@pytest.mark.parametrize(("scale", "expected"), [(0.1, "holds"), (3.0, "fails")])
def test_the_weaker_path_of_a_diagonal_network_is_what_flow_leaves_of_it(scale, expected):
    found = checks_of("exact_limit", {"coefficients": solved(scale, flow=0.1, descent=0.1, symmetric=0.1)})
    assert found.sel(claim="one_path")["verdict"] == expected
    beta = np.array([3.0, 4.0])
    _, _, first, second = weights_at(beta, scale, scale, scale, scale)
    assert found.sel(claim="one_path")["statistic"] == pytest.approx((first * second * beta).sum() / 25)


def descended(difference):
    """ReLU networks by flow, and by descent with two rates, whose risk is off by `difference(seed, rate)`."""

    def values(seed, protocol, samples, solver, rate):
        off = difference(seed, rate) * (-1) ** samples if solver == "descent" else 0.0
        risk = samples**-0.5 * (2 if protocol == "finetuning" else 1)
        evaluations = 100 if solver == "flow" else 100 / rate
        return {"risk_final": risk * (1 + off), "evaluations": evaluations, "learning_rate": rate}

    grid = {"protocol": ["single_task", "finetuning"], "samples": [16, 32]}
    flow, descent = {"solver": ["flow"], "rate": [np.nan]}, {"solver": ["descent"], "rate": [0.4, 0.1]}
    return dataset(values, grid | flow, grid | descent).drop_vars("rate")


def relu_flow(effect):
    return {"risk": descended(lambda seed, rate: 1e-2 * 10 ** (-size(effect, seed) if rate == 0.1 else 0))}


def image_pairs(effect):
    def values(seed, solver, pair, samples, **_):
        if samples == 40:  # stopped short, and far off
            return {"risk_final": 0.5 * (solver == "exact"), "converged": int(solver == "exact")}
        off = 0.005 * (1 - size(effect, seed)) * (pair == 1 and solver == "descent")
        return {"risk_final": 0.1 * pair - off, "converged": 1}

    return {"risk": dataset(values, {"solver": ["exact", "descent"], "pair": [0, 1], "samples": [10, 40]})}


MADE = {"linear_limit": limits, "stopped_training": stopped, "relu_flow": relu_flow, "image_pairs": image_pairs}


@pytest.mark.parametrize(("effect", "verdict"), [(1.0, "holds"), (-1.0, "fails"), (0.0, "undecided")])
@pytest.mark.parametrize("group", MADE)
def test_every_claim_follows_its_effect(group, effect, verdict):
    checked = checks_of(group, MADE[group](effect))
    assert set(checked["verdict"].values) == {verdict}
    assert (checked["seeds"] == len(SEEDS)).all()


def test_a_run_without_a_reference_is_named():
    data = solved(flow=0.1)
    lone = (data["solver"] == "exact") & (data["seed"] == 3)
    with pytest.raises(UserError, match=r"no run of the solver exact to compare with at .*'seed': 3"):
        distances(data.isel(run=~lone.values))
