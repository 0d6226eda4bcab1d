"""Finetuning of linear networks against simulation in d dimensions and roots in other hands."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from carryover.theory.transfer import (
    finetune_boundary,
    finetune_risk,
    finetune_transferability,
    norm_factor,
    scratch_risk,
)

invariant = settings(derandomize=True, deadline=None, max_examples=100)


def simulated_risk(rng, gamma, theta, sigma, depth, norm=1.0, d=200, draws=30):
    """Mean and its error of |β − β_t|², β the solution of equation 5 found by repeating it in d dimensions."""
    risks = []
    for _ in range(draws):
        n = round(gamma * d)
        X = rng.standard_normal((n, d))
        source, other = np.linalg.qr(rng.standard_normal((d, 2)))[0].T
        target = norm * (np.cos(theta) * source + np.sin(theta) * other)
        inverse = np.linalg.pinv(X)
        fitted, outside = inverse @ (X @ target + sigma * rng.standard_normal(n)), source - inverse @ (X @ source)
        beta = fitted
        for _ in range(200):
            beta = fitted + np.linalg.norm(beta) ** ((depth - 1) / depth) * outside
        risks.append(np.sum((beta - target) ** 2))
    return np.mean(risks), np.std(risks) / np.sqrt(draws)


@pytest.mark.parametrize(
    ("gamma", "theta", "sigma", "depth", "norm"),
    [(0.5, np.pi / 2, 0.5, 2, 1.0), (0.3, 0.4, 0.8, 3, 1.0), (0.6, 2.0, 0.2, 1, 1.0), (0.4, 1.0, 0.3, 4, 2.5)],
)
def test_risk_is_that_of_simulated_networks(gamma, theta, sigma, depth, norm):
    mean, error = simulated_risk(np.random.default_rng(0), gamma, theta, sigma, depth, norm)
    expected = finetune_risk(gamma, theta, sigma, depth, target_norm=norm)
    # σ²n/(d − n − 1) at finite d, against σ²γ/(1 − γ).
    assert abs(mean - expected) < 4 * error + sigma**2 * gamma / (1 - gamma) ** 2 / 200


@pytest.mark.parametrize("depth", [None, 1])
def test_equations_14_and_15(depth):
    gamma, theta = np.array([0.2, 0.7, 1.0, 1.4])[:, None], np.array([0.1, np.pi / 3, 2.0, np.pi])
    gain = np.maximum(1 - gamma, 0) * (2 * np.cos(theta) - 1)
    np.testing.assert_allclose(finetune_transferability(gamma, theta, 0.3, depth), gain, rtol=1e-13, atol=1e-15)
    finite = gamma != 1
    risk = np.where(finite, scratch_risk(np.where(finite, gamma, 0.5), 0.3) - gain, np.inf)
    np.testing.assert_allclose(finetune_risk(gamma, theta, 0.3, depth), risk, rtol=1e-13)
    np.testing.assert_array_equal(finetune_risk(1, theta, 0, depth), 0)


@invariant
@given(st.floats(0.001, 100), st.floats(0.001, 1), st.integers(1, 60))
def test_norm_factor_solves_equation_5(fitted, outside, depth):
    s = brentq(lambda s: fitted + outside * s ** (1 - 1 / depth) - s, 1e-12, 1e6, xtol=1e-300, rtol=1e-14)
    # The root's condition: where outside is near 1 and fitted small, rounding moves it by up to depth.
    assert norm_factor(fitted, outside, depth) == pytest.approx(s ** ((1 - 1 / depth) / 2), rel=1e-13 * depth)


@invariant
@given(st.floats(0.01, 0.99), st.floats(0, np.pi), st.floats(0, 3), st.sampled_from([None, 1, 2, 7]), st.floats(0.2, 5))
def test_boundary_is_where_the_sign_changes(gamma, theta, sigma, depth, norm):
    boundary = finetune_boundary(gamma, sigma, depth, target_norm=norm)
    value = finetune_transferability(gamma, theta, sigma, depth, target_norm=norm)
    if np.isnan(boundary):
        assert value < 0
    elif abs(theta - boundary) > 1e-9:
        assert (value > 0) == (theta < boundary)


@pytest.mark.parametrize("depth", [0, 1.5, np.nan])
def test_bad_depths_are_named(depth):
    with pytest.raises(ValueError, match="depth must"):
        finetune_transferability(0.5, 1.0, 0.1, depth)
