"""Deep linear networks: their function, their features, and weights that are balanced."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from carryover.networks.deep_linear import Weights, balanced

RNG = np.random.default_rng(0)


def test_its_function_and_features_are_the_products_of_its_layers():
    hidden, readout = RNG.standard_normal((4, 2, 5, 5)), RNG.standard_normal((4, 5))
    network = Weights(hidden, readout)
    for run in range(4):
        features = hidden[run, 0] @ hidden[run, 1]
        np.testing.assert_allclose(network.features()[run], features, rtol=1e-12)
        np.testing.assert_allclose(network.coefficients()[run], features @ readout[run], rtol=1e-12)
    assert network.depth == 3


@settings(derandomize=True, deadline=None)
@given(depth=st.integers(1, 5), scale=st.floats(1e-5, 10), seed=st.integers(0, 100))
def test_balanced_weights_are_balanced_and_have_the_function(depth, scale, seed):
    beta = scale * np.random.default_rng(seed).standard_normal((2, 4))
    network = balanced(beta, depth)
    np.testing.assert_allclose(network.coefficients(), beta, rtol=1e-9)
    layers = [network.hidden[:, layer] for layer in range(depth - 1)] + [network.readout[:, :, None]]
    for left, right in itertools.pairwise(layers):
        np.testing.assert_allclose(left.mT @ left, right @ right.mT, rtol=1e-9, atol=1e-12 * scale**2)
