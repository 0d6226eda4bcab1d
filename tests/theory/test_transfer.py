"""Linear transfer and finetuning against exact finite-dimensional means, simulation, and roots in other hands."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar

from carryover.theory.transfer import (
    finetune_boundary,
    finetune_risk,
    finetune_transferability,
    linear_transfer_risk,
    linear_transferability,
    negative_transfer_interval,
    negative_transfer_threshold,
    norm_factor,
    optimal_ridge,
    ridge_transfer_risk,
    scratch_risk,
)


@pytest.mark.parametrize("gamma", [0.2, 0.5, 0.8, 1.25, 3.0])
@pytest.mark.parametrize("sigma", [0.0, 0.7])
def test_scratch_risk_is_that_of_least_squares(gamma, sigma):
    rng, d = np.random.default_rng(0), 100
    target, errors = np.eye(d)[0], []
    for _ in range(25):
        X = rng.standard_normal((round(gamma * d), d))
        y = X @ target + sigma * rng.standard_normal(len(X))
        errors.append(np.sum((np.linalg.lstsq(X, y, rcond=None)[0] - target) ** 2))
    # The mean at finite d: σ²n/(d − n − 1) or σ²d/(n − d − 1), within 1/|d − n| of the limit.
    tolerance = 5 * np.std(errors) / 5 + scratch_risk(gamma, sigma) / abs(gamma - 1) / d
    assert abs(np.mean(errors) - scratch_risk(gamma, sigma)) < tolerance + 1e-20


def test_where_samples_equal_dimensions():
    np.testing.assert_array_equal(scratch_risk(1, [0, 0.1]), [0, np.inf])
    np.testing.assert_allclose(linear_transferability(1, 0.5, [0, 0.1]), [-(np.sin(0.5) ** 2), np.inf])


@pytest.mark.parametrize("n", [4, 30])
def test_linear_transfer_risk_is_the_mean_over_draws(n):
    rng, theta, sigma = np.random.default_rng(1), 1.1, 0.5
    z, w = rng.standard_normal((2, 100_000, n))
    labels = np.cos(theta) * z + np.sin(theta) * w + sigma * rng.standard_normal(z.shape)
    coefficient = np.einsum("ij,ij->i", z, labels) / np.einsum("ij,ij->i", z, z)
    risks = (coefficient - np.cos(theta)) ** 2 + np.sin(theta) ** 2
    # n = 4: the variance of the risk is infinite, so the error is judged by the spread of block means.
    blocks = risks.reshape(40, -1).mean(1)
    assert abs(blocks.mean() - linear_transfer_risk(theta, sigma, n)) < 5 * blocks.std() / np.sqrt(40)


def precise_ridge_risk(theta, ridge, n, sigma):
    """Equations 125–127 as printed, with 40 digits."""
    with mpmath.workdps(40):
        half, shift = mpmath.mpf(n) / 2, n * mpmath.mpf(ridge)
        scale = 2 / (mpmath.gamma(half) * 2**half)  # S_{n−1}/(2π)^{n/2}
        start = min(shift, mpmath.mpf(n))
        points = [mpmath.sqrt(s) for s in (0, start / 1000, start, 10 * start, n + 10 * start, 5 * n + 60, 9 * n + 400)]

        def mean(m, power):
            return scale * mpmath.quad(
                lambda r: r ** (m + 1) * mpmath.exp(-r * r / 2) / (r * r + shift) ** power, points
            )

        cosine, sine = mpmath.cos(theta) ** 2, mpmath.sin(theta) ** 2
        noise = (sine + mpmath.mpf(sigma) ** 2) * mean(n, 2)
        return float(1 + cosine * mean(n + 2, 2) + noise - 2 * cosine * mean(n, 1))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 40, 501])
@pytest.mark.parametrize("ridge", [1e-6, 1e-3, 0.03, 50.0])
def test_ridge_risk_is_equation_125(n, ridge):
    theta, sigma = 0.9, 0.4
    found = ridge_transfer_risk(theta, ridge, n, sigma)
    np.testing.assert_allclose(found, precise_ridge_risk(theta, ridge, n, sigma), rtol=1e-9)


def test_ridge_risk_in_its_limits():
    theta = np.linspace(0, np.pi, 7)
    np.testing.assert_allclose(ridge_transfer_risk(theta, 0, 12, 0.3), linear_transfer_risk(theta, 0.3, 12), rtol=1e-14)
    ridge = np.array([[0], [0.1], [3.0]])
    asymptotic = 1 - (1 + 2 * ridge) / (1 + ridge) ** 2 * np.cos(theta) ** 2
    np.testing.assert_allclose(ridge_transfer_risk(theta, ridge), asymptotic, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(ridge_transfer_risk(theta, ridge, 10**6, 0.3), asymptotic, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(ridge_transfer_risk(0.2, 0, [1, 2]), np.inf)
    assert ridge_transfer_risk(0, 0, 1) == 0


@pytest.mark.parametrize(("theta", "sigma", "n"), [(0.3, 0.2, 1), (1.0, 0.5, 5), (2.8, 0.0, 40), (1.2, 1.0, 250)])
def test_optimal_ridge_is_the_minimum(theta, sigma, n):
    best = optimal_ridge(theta, sigma, n)
    found = minimize_scalar(
        lambda log: ridge_transfer_risk(theta, np.exp(log), n, sigma), bracket=(np.log(best) - 2, np.log(best) + 1)
    )
    assert np.exp(found.x) == pytest.approx(best, rel=1e-5)
    assert ridge_transfer_risk(theta, best, n, sigma) <= found.fun * (1 + 1e-12)


@pytest.mark.parametrize(("theta", "sigma"), [(np.pi / 2, 0.2), (1.0, 0.3), (2.5, 0.1), (0.7, 0.0), (1.0, 0.459)])
def test_interval_ends_where_transferability_vanishes(theta, sigma):
    def excess(gamma):  # equation 11 times (1 − γ)
        return (1 - gamma) ** 2 + gamma * sigma**2 - np.sin(theta) ** 2 * (1 - gamma)

    lowest = 1 - (sigma**2 + np.sin(theta) ** 2) / 2  # of the parabola
    low, high = negative_transfer_interval(theta, sigma)
    assert excess(lowest) < 0
    assert low == pytest.approx(brentq(excess, -1e-9, lowest, xtol=1e-15), abs=1e-12)
    assert high == pytest.approx(brentq(excess, lowest, 1 + 1e-9, xtol=1e-15), abs=1e-12)


def test_regions_in_closed_form():
    assert np.isnan(negative_transfer_interval(0.0, 0.0)).all()
    np.testing.assert_array_equal(negative_transfer_threshold([0, np.pi, 1.0], [0, 0.3, 0]), [np.inf, np.inf, 1])
    assert negative_transfer_threshold(np.pi / 2, 0.2) == pytest.approx(1.04, rel=1e-14)


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


@given(st.floats(0.001, 100), st.floats(0.001, 1), st.integers(1, 60))
def test_norm_factor_solves_equation_5(fitted, outside, depth):
    s = brentq(lambda s: fitted + outside * s ** (1 - 1 / depth) - s, 1e-12, 1e6, xtol=1e-300, rtol=1e-14)
    # The root's condition: where outside is near 1 and fitted small, rounding moves it by up to depth.
    assert norm_factor(fitted, outside, depth) == pytest.approx(s ** ((1 - 1 / depth) / 2), rel=1e-13 * depth)


@given(st.floats(0.01, 0.99), st.floats(0, np.pi), st.floats(0, 3), st.sampled_from([None, 1, 2, 7]))
def test_boundary_is_where_the_sign_changes(gamma, theta, sigma, depth):
    boundary = finetune_boundary(gamma, sigma, depth)
    value = finetune_transferability(gamma, theta, sigma, depth)
    if np.isnan(boundary):
        assert value < 0
    elif abs(theta - boundary) > 1e-9:
        assert (value > 0) == (theta < boundary)
