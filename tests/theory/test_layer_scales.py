"""Layers of different sizes against networks that are integrated, and against limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from carryover.config import plugins
from carryover.theory.layer_scales import balanced_flow, finetuning_rates, finetuning_scale, pretrained_first_layer
from carryover.theory.norms import flow_penalty, q_norm

EXACT = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-15}


@given(beta=st.floats(-2, 2), scale=st.floats(0.01, 3), share=st.floats(-1, 1))
def test_layers_after_pretraining_are_those_of_an_integrated_network(beta, scale, share):
    first, readout = np.sqrt(scale * (1 + share) / 2), np.sqrt(scale * (1 - share) / 2)

    def flow(_, w):  # on ½(β − β*)² of one dimension
        u_plus, v_plus, u_minus, v_minus = w
        pull = beta - (u_plus * v_plus - u_minus * v_minus)
        return pull * np.array([v_plus, u_plus, -v_minus, -u_minus])

    ended = solve_ivp(flow, (0, 60 / scale), [first, readout, first, readout], **EXACT).y[:, -1]
    plus, minus = pretrained_first_layer(beta, scale, scale * share)
    np.testing.assert_allclose([plus, minus], ended[[0, 2]], rtol=1e-8, atol=1e-8)
    k = finetuning_scale(beta, scale, scale * share, readout=0.3)
    assert k == pytest.approx((ended[0] ** 2 + ended[2] ** 2) / 2 + 0.3**2, rel=1e-7)


def test_penalties_of_finetuning_are_those_of_the_norms():
    alike = finetuning_rates(0.0, 2.0, -1.0, 0.1)  # a new feature: both paths are alike
    assert q_norm([0.7], np.sqrt(0.5), 0.1) / 2 == pytest.approx(_penalty(0.7, *alike))
    plus, minus = pretrained_first_layer(-0.5, 0.3, 0.2)
    start = 0.1 * (plus - minus)  # Q is 0 where training starts
    wanted = _penalty(0.7, *finetuning_rates(-0.5, 0.3, 0.2, 0.1)) - _penalty(
        start, *finetuning_rates(-0.5, 0.3, 0.2, 0.1)
    )
    assert flow_penalty([0.7], plus, 0.1, minus, 0.1) == pytest.approx(wanted)


def _penalty(beta, up, down):
    """The integral from 0 of the gradient arcsinh(β/c) − ½ log(A/B), with c = 2√(AB), by the midpoint rule."""
    points = (np.arange(200_000) + 0.5) / 200_000 * beta
    return np.mean(np.arcsinh(points / (2 * np.sqrt(up * down))) - np.log(up / down) / 2) * beta


@pytest.mark.parametrize("balance", [-0.9, 0.0, 0.9])
def test_the_flow_of_a_linear_network_is_the_integrated_one(balance):
    rng, size, times = np.random.default_rng(1), 5, [0.0, 0.5, 3.0, 40.0]
    turns = [np.linalg.qr(rng.standard_normal((size, size)))[0] for _ in range(2)]
    weights = [turn * np.sqrt((1 + sign * balance) / 2) for turn, sign in zip(turns, (1, -1), strict=True)]
    target = rng.standard_normal((size, size)) / 3

    def flow(_, y):
        first, second = y.reshape(2, size, size)
        error = target - second @ first
        return np.stack([second.T @ error, error @ first.T]).ravel()

    ended = solve_ivp(flow, (0, times[-1]), np.ravel(weights), t_eval=times, **EXACT).y.T
    for found, y in zip(balanced_flow(times, *weights, target), ended, strict=True):
        first, second = y.reshape(2, size, size)
        both = np.concatenate([first.T, second])
        np.testing.assert_allclose(found, both @ both.T, atol=1e-10)


def test_what_no_network_has_is_refused():
    for scale, balance in ((1.0, 1.1), (-1.0, 0.0)):
        with pytest.raises(ValueError, match="scale must be at least 0, and balance between −scale and scale"):
            finetuning_scale(0.5, scale, balance, 0.1)
    with pytest.raises(ValueError, match="first and second must be balanced"):
        balanced_flow([1.0], np.diag([1.0, 2.0]), np.eye(2), np.eye(2))


def test_the_curve_over_scales_meets_that_of_small_layers_alike():
    """Where all weights start at .001 the map is the curve that the papers' tasks have."""
    small = {"dimension": 60, "auxiliary_features": 8, "samples": (8,)}
    point = {"smallest": 2e-6, "largest": 2.1e-6, "smallest_ratio": 1.0, "largest_ratio": 1.1, "points": 2}
    here = (
        plugins.call("theory.curves", "layer_scales", **small, **point, few=4).sel(task="same").isel(scale=0, ratio=0)
    )
    there = plugins.call("theory.curves", "diagonal_risk", **small, main_features=(8,), overlap=(1.0,)).isel(overlap=0)
    for name in ("finetuning", "single_task"):
        np.testing.assert_allclose(np.log10(here[name]), np.log10(there[name].squeeze(drop=True)), atol=0.02)


def test_a_probe_has_the_risk_of_least_norm_solutions_on_drawn_samples():
    point = {"smallest": 1.0, "largest": 1.1, "smallest_ratio": 0.3, "largest_ratio": 0.4, "points": 2}
    task = {"dimension": 200, "auxiliary_features": 16, "few": 4, "samples": (40,)}
    found = plugins.call("theory.curves", "layer_scales", **task, **point).isel(scale=0, ratio=0, sample_size=0)
    balance = (0.3**2 - 1) / (0.3**2 + 1)
    learned, beta = np.where(np.arange(200) < 16, 0.25, 0.0), np.where(np.arange(200) < 4, 0.5, 0.0)
    features = np.sqrt(2 * finetuning_scale(learned, 1.0, balance, 0.0))
    rng, risks = np.random.default_rng(3), []
    for _ in range(200):
        X = rng.standard_normal((40, 200))
        risks.append(((features * (np.linalg.pinv(X * features) @ (X @ beta)) - beta) ** 2).sum())
    assert found["finetuning_probe"].sel(task="nested") == pytest.approx(np.mean(risks), rel=0.03)
