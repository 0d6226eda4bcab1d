import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from carryover.networks.diagonal import growth, rates, weights_at

FIXED = settings(derandomize=True, deadline=None, max_examples=30)


def draw(seed, scale, D=7):
    rng = np.random.default_rng(seed)
    return rng, [scale * np.exp(rng.standard_normal(D)) * rng.choice([-1, 1], D) for _ in range(4)]


@FIXED
@given(seed=st.integers(0, 10**6), log_scale=st.floats(-6, 0), size=st.floats(-3, 3))
def test_weights_at_reproduce_beta_and_keep_the_invariants(seed, log_scale, size):
    rng, w = draw(seed, 10**log_scale)
    beta = size * rng.standard_normal(7)
    u = weights_at(beta, *w)
    np.testing.assert_allclose(u[0] * u[1] - u[2] * u[3], beta, rtol=1e-9, atol=1e-12)
    for one, two in ((0, 1), (2, 3)):  # relative to the terms of the difference
        kept = u[one] ** 2 - u[two] ** 2 - w[one] ** 2 + w[two] ** 2
        assert np.all(np.abs(kept) <= 1e-13 * (u[one] ** 2 + u[two] ** 2 + w[one] ** 2 + w[two] ** 2))


@FIXED
@given(seed=st.integers(0, 10**6), log_scale=st.floats(-8, 1))
def test_growth_is_the_root_of_its_equation(seed, log_scale):
    rng, w = draw(seed, 10**log_scale, D=1)
    A, B = rates(*w)
    beta = rng.standard_normal(1)
    root = brentq(lambda z: A[0] * np.exp(z) - B[0] * np.exp(-z) - beta[0], -80, 80, xtol=1e-13, rtol=1e-14)
    assert growth(beta, A, B)[0] == pytest.approx(root, abs=1e-10)


def test_dead_dimensions_stay_and_one_sided_ones_refuse_the_other_sign():
    assert growth(0.0, 0.0, 0.0) == 0
    assert growth(2.0, 1.0, 0.0) == pytest.approx(np.log(2))
    assert growth(-2.0, 0.0, 1.0) == pytest.approx(-np.log(2))
    with pytest.raises(ValueError, match="beta must be reachable"):
        growth(-2.0, 1.0, 0.0)
    np.testing.assert_array_equal(weights_at(0.0, 0.0, 0.0, 0.0, 0.0), np.zeros(4))
