"""Bounds on the risk of finetuning between linear teachers: by hand and on random data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group

from carryover.theory import linear_teachers as lt

invariant = settings(derandomize=True, deadline=None, max_examples=100)
seeds = st.integers(0, 2**32 - 1)
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


@invariant
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


@invariant
@given(seeds, st.integers(1, 9))
def test_theorem_4_2_follows_from_the_error_of_the_covariance(seed, n):
    """With c so chosen that g is |XᵀX/n − Σ| itself, the bound holds for every m, whatever the data."""
    rng = np.random.default_rng(seed)
    cov = np.sort(rng.gamma(0.3, size=10) + 1e-3)[::-1]
    X, difference = rng.standard_normal((n, 10)) * np.sqrt(cov), rng.standard_normal(10)
    error = np.linalg.norm(X.T @ X / n - np.diag(cov), 2)
    c = error / lt.estimation_error_bound(cov, n, 1)
    risk = lt.population_risk(lt.linear_limit(np.zeros(10), difference, X), difference, cov)
    assert np.all(risk <= lt.covariance_bound(difference, cov, n, np.arange(1, 11), 1, c) * (1 + 1e-9))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lt.covariance_bound(np.ones(4), COV, 5, 4, 1), "rank of cov, 3"),
        (lambda: lt.estimation_error_bound([[1.0, 0.5]], 5, 1), r"cov must be \(d,\)"),
        (lambda: lt.deep_gaussian_bound(np.zeros(2), np.ones(2), 1, 0.1), "must not be zero"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
