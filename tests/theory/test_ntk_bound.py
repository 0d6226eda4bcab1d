"""The infinite-width Gram matrix and its bound against sampling, high precision, wide networks and linear algebra."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carryover.theory.kernels import infinite_width_gram, ntk_bound

invariant = settings(derandomize=True, deadline=None, max_examples=100)
seeds = st.integers(0, 2**32 - 1)


def sphere(rng, n, d):
    X = rng.standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-6, 1e-3, 1.0, np.pi - 1e-6, np.pi])
def test_gram_of_nearly_parallel_and_opposite_inputs(angle):
    X = np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)]])
    with mpmath.workdps(40):
        (a, b), (c, d) = ([mpmath.mpf(float(x)) for x in row] for row in X)
        theta = mpmath.atan2(abs(a * d - b * c), a * c + b * d)
        expected = float((a * c + b * d) * (mpmath.pi - theta) / (2 * mpmath.pi))
    gram = infinite_width_gram(X)
    np.testing.assert_allclose(gram, [[0.5, expected], [expected, 0.5]], rtol=1e-15, atol=1e-16)


def test_bound_is_the_distance_that_a_wide_network_travels():
    """√(ỹᵀH⁻¹ỹ) is what the least change of all first-layer weights measures that fits ỹ to first order."""
    rng = np.random.default_rng(1)
    X, residual, width = sphere(rng, 6, 4), rng.standard_normal(6), 40_000
    gates = X @ rng.standard_normal((4, width)) > 0
    signs = rng.choice([-1, 1], width)
    features = (gates * signs)[:, :, None] * X[:, None, :] / np.sqrt(width)
    change = np.linalg.lstsq(features.reshape(6, -1), residual, rcond=None)[0]
    assert ntk_bound(X, residual) == pytest.approx(np.linalg.norm(change), rel=0.02)
    bound = ntk_bound(X, residual)
    np.testing.assert_allclose(ntk_bound(X, [residual, 2 * residual]), [bound, 2 * bound], rtol=1e-14)


@invariant
@given(seeds, st.integers(2, 12), st.integers(1, 40))
def test_corollary_6_2_with_the_constant_2(seed, d, n):
    rng = np.random.default_rng(seed)
    X, difference = sphere(rng, n, d), rng.standard_normal(d)
    inside = np.linalg.norm(np.linalg.pinv(X) @ X @ difference)
    assert ntk_bound(X, X @ difference) <= 2 * inside * (1 + 1e-9)
