"""Deep linear, diagonal and ReLU networks: what they compute, weights that are balanced or on a flow's path."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carryover.networks import deep_linear
from carryover.networks.diagonal import weights_at
from carryover.networks.relu import Weights


@given(depth=st.integers(1, 5), scale=st.floats(1e-5, 10), seed=st.integers(0, 100))
def test_balanced_weights_are_balanced_and_have_the_function(depth, scale, seed):
    beta = scale * np.random.default_rng(seed).standard_normal((2, 4))
    network = deep_linear.rank_one_network(beta, depth)
    np.testing.assert_allclose(network.coefficients(), beta, rtol=1e-9)
    layers = [network.hidden[:, layer] for layer in range(depth - 1)] + [network.readout[:, :, None]]
    for left, right in itertools.pairwise(layers):
        np.testing.assert_allclose(left.mT @ left, right @ right.mT, rtol=1e-9, atol=1e-12 * scale**2)


@given(seed=st.integers(0, 10**6), log_scale=st.floats(-8, 1), size=st.floats(-3, 3))
def test_weights_at_reproduce_beta_and_keep_the_invariants(seed, log_scale, size):
    rng = np.random.default_rng(seed)
    w = 10**log_scale * np.exp(rng.standard_normal((4, 7))) * rng.choice([-1, 1], (4, 7))
    beta = size * rng.standard_normal(7)
    u = weights_at(beta, *w)
    np.testing.assert_allclose(u[0] * u[1] - u[2] * u[3], beta, rtol=1e-9, atol=1e-12)
    for one, two in ((0, 1), (2, 3)):  # relative to the terms of the difference
        kept = u[one] ** 2 - u[two] ** 2 - w[one] ** 2 + w[two] ** 2
        assert np.all(np.abs(kept) <= 1e-13 * (u[one] ** 2 + u[two] ** 2 + w[one] ** 2 + w[two] ** 2))


def test_dead_dimensions_stay_and_one_sided_ones_refuse_the_other_sign():
    np.testing.assert_array_equal(weights_at(0.0, 0.0, 0.0, 0.0, 0.0), np.zeros(4))
    plus, minus = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    grown = weights_at(np.array([2.0, -2.0]), plus, plus, minus, minus)
    np.testing.assert_allclose(grown, 2**0.5 * np.array([plus, plus, minus, minus]))
    with pytest.raises(ValueError, match="beta must be reachable"):
        weights_at(-2.0, 1.0, 1.0, 0.0, 0.0)


SIZES = st.integers(1, 5)


@given(seed=st.integers(0, 10**6), runs=SIZES, n=SIZES, D=SIZES, H=SIZES, outputs=st.integers(1, 3))
def test_outputs_are_sums_over_units(seed, runs, n, D, H, outputs):
    rng = np.random.default_rng(seed)
    first, second, X = (rng.standard_normal(shape) for shape in ((runs, H, D), (runs, outputs, H), (runs, n, D)))
    found, responses = Weights(first, second).outputs(X), Weights(first, second).responses(X)
    assert found.shape == (runs, n, outputs)
    for r, i, o in np.ndindex(found.shape):
        active = [max(0.0, sum(first[r, h] * X[r, i])) for h in range(H)]
        np.testing.assert_allclose(responses[r, i], active, rtol=1e-12, atol=1e-14)
        assert found[r, i, o] == pytest.approx(sum(second[r, o] * np.array(active)), rel=1e-11, abs=1e-13)
