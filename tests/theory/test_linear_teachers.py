"""Limits of finetuning against gradient descent and repeated equations; bounds on its risk by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from carryover.theory import linear_teachers as lt
from toy.deep_linear_descent import descend

seeds = st.integers(0, 2**32 - 1)


def problem(seed, n=4, d=7):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(d), rng.standard_normal(d), rng.standard_normal((n, d))


def balanced(beta, depth):
    """Layers with W_jᵀW_j = W_{j+1}W_{j+1}ᵀ and the product beta."""
    d, size = len(beta), np.linalg.norm(beta) ** (1 / depth)
    inner = np.outer(np.eye(d)[0], np.eye(d)[0])
    first = np.outer(beta / np.linalg.norm(beta), np.eye(d)[0])
    return [size * layer for layer in [first, *[inner] * (depth - 2), np.eye(d)[:, :1]]]


@pytest.mark.parametrize("rows", [3, 8])
def test_linear_limit_is_where_gradient_descent_ends(rows):
    theta_s, theta_t, X = problem(0, rows, 5)
    X[-1] = 2 * X[0]  # dependent rows
    beta = descend([theta_s[:, None]], X, X @ theta_t, 0.1, 20_000)
    np.testing.assert_allclose(lt.linear_limit(theta_s, theta_t, X), beta, rtol=1e-9, atol=1e-11)
    if rows > 5:
        np.testing.assert_allclose(beta, theta_t, rtol=1e-9)


@pytest.mark.parametrize("depth", [2, 3])
def test_deep_linear_limit_is_where_gradient_descent_with_small_steps_ends(depth):
    theta_s, theta_t, X = problem(1, 2, 4)
    theta_t = 2 * theta_t
    found = lt.deep_linear_limit(theta_s, theta_t, X, depth)
    errors = [
        np.linalg.norm(descend(balanced(theta_s, depth), X, X @ theta_t, rate, round(40 / rate)) - found)
        for rate in (4e-3, 2e-3)
    ]
    assert errors[1] < 0.55 * errors[0] < 2e-3  # what is left is the step, to first order
    assert np.linalg.norm(found - lt.linear_limit(theta_s, theta_t, X)) > 0.1


@given(seeds, st.floats(0.2, 5))
def test_infinite_depth_is_equation_6_and_the_limit_of_deep_networks(seed, scale):
    theta_s, theta_t, X = problem(seed)
    P = np.linalg.pinv(X) @ X
    ratio = np.linalg.norm(P @ theta_t) / np.linalg.norm(P @ theta_s)
    found = lt.deep_linear_limit(theta_s, theta_t, X, np.inf)
    np.testing.assert_allclose(found, ratio * (theta_s - P @ theta_s) + P @ theta_t, rtol=1e-9, atol=1e-10)
    gaps = lt.deep_linear_limit(theta_s, theta_t, X, [10**4, 10**5]) - found
    assert np.linalg.norm(gaps[1]) <= 0.15 * np.linalg.norm(gaps[0]) + 1e-9
    # Theorem 5.3: aligned tasks, "even with a single sample"
    for some in (X, X[:1]):
        aligned = lt.deep_linear_limit(theta_s, scale * theta_s, some, np.inf)
        np.testing.assert_allclose(aligned, scale * theta_s, rtol=1e-8, atol=1e-9)


def test_population_risk_is_the_mean_over_inputs():
    theta_s, theta_t, factor = problem(4, 7)
    inputs = np.random.default_rng(5).standard_normal((400_000, 7)) @ factor
    squares = (inputs @ (theta_s - theta_t)) ** 2
    risk = lt.population_risk(theta_s, theta_t, factor.T @ factor)
    assert abs(squares.mean() - risk) < 4 * squares.std() / np.sqrt(len(squares))
    diagonal = lt.population_risk([theta_s, theta_t], theta_t, np.arange(7.0))
    np.testing.assert_allclose(diagonal, [np.arange(7) @ (theta_s - theta_t) ** 2, 0], rtol=1e-14)


COV = [0.5, 2.0, 0.0, 1.0]


def test_bounds_of_a_small_case_by_hand():
    difference = [1.0, 2.0, 3.0, 4.0]  # along the eigenvalues 0.5, 2, 0, 1; their sum over the largest is 1.75
    for n, delta, ratio in ((7, 1, np.sqrt(0.25)), (1, 1, 1.75), (16, 4, np.sqrt(0.25)), (2, 4, 2.0)):
        g = 3 * 2 * ratio
        assert lt.estimation_error_bound(COV, n, delta, 3) == pytest.approx(g, rel=1e-14)
        expected = [2 * g**3 * 4 / 4 + 2 * g * 26, 2 * g**3 * 20 + 2 * g * 10, 2 * g**3 * 21 / 0.25 + 2 * g * 9]
        np.testing.assert_allclose(lt.covariance_bound(difference, COV, n, [1, 2, 3], delta, 3), expected, rtol=1e-13)
    np.testing.assert_allclose(lt.benign_overfitting_bound(difference, COV, [7, 1]), [30 * 2 * 0.5, 30 * 3.5])
    np.testing.assert_allclose(lt.gaussian_bound([1, 0, 0, 0], difference, [1, 4], 0.1), [0.75 * 1.21 * 29, 0])
    deep = lt.deep_gaussian_bound([0, 0, 0, 5.0], [0, 0, 3.0, 0], 1, 0.1)
    assert deep == pytest.approx(0.75 * 9 * (1.21 * 2 + 0.01), rel=1e-14)


@given(seeds)
def test_a_rotated_covariance_gives_the_same_bounds(seed):
    rng = np.random.default_rng(seed)
    cov, difference = rng.permutation([3.0, 2.0, 1.0, 0.0, 0.0]), rng.standard_normal(5)
    axes = ortho_group.rvs(5, random_state=rng)
    rotated = axes @ np.diag(cov) @ axes.T
    rotated = (rotated + rotated.T) / 2
    for bound in (
        lambda difference, cov: lt.covariance_bound(difference, cov, 3, [1, 2, 3], 1.5),
        lambda difference, cov: lt.benign_overfitting_bound(difference, cov, 3),
        lambda difference, cov: lt.population_risk(difference, np.zeros(5), cov),
    ):
        np.testing.assert_allclose(bound(axes @ difference, rotated), bound(difference, cov), rtol=1e-10)
    with pytest.raises(ValueError, match="rank of cov, 3"):
        lt.covariance_bound(difference, rotated, 3, 4, 1.5)
