"""Shallow ReLU networks: what they compute, unit by unit, and the shapes they refuse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carryover.networks.relu import Weights

FIXED = settings(derandomize=True, deadline=None, max_examples=30)
SIZES = st.integers(1, 5)


def draw(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape) for shape in shapes]


@FIXED
@given(seed=st.integers(0, 10**6), runs=SIZES, n=SIZES, D=SIZES, H=SIZES, outputs=st.integers(1, 3))
def test_outputs_are_sums_over_units(seed, runs, n, D, H, outputs):
    first, second, X = draw(seed, (runs, H, D), (runs, outputs, H), (runs, n, D))
    found, responses = Weights(first, second).outputs(X), Weights(first, second).responses(X)
    assert found.shape == (runs, n, outputs)
    for r, i, o in np.ndindex(found.shape):
        active = [max(0.0, sum(first[r, h] * X[r, i])) for h in range(H)]
        np.testing.assert_allclose(responses[r, i], active, rtol=1e-12, atol=1e-14)
        assert found[r, i, o] == pytest.approx(sum(second[r, o] * np.array(active)), rel=1e-11, abs=1e-13)
