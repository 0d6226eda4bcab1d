"""The curve's shape and labels, and what the paper says about figures 1a and 1b, curve by curve."""

import numpy as np
import pytest

from carryover.config.parameters import model_of
from carryover.theory.curves.relu_penalty import compute


@pytest.fixture(scope="module")
def curve():
    return compute(model_of("theory.curves", "relu_penalty")())


def at(curve, variable, correlation, auxiliary_magnitude, magnitude=1.0):
    point = curve[variable].sel(correlation=correlation, auxiliary_magnitude=auxiliary_magnitude)
    return float(point.sel(magnitude=magnitude, method="nearest"))


def test_the_exponent_of_the_diagonal_network_is_the_slope_of_its_penalty():
    curve = compute(model_of("theory.curves", "relu_penalty")(points=3001, readout=0.1))
    penalty = curve["diagonal_penalty"].differentiate("magnitude") * curve["magnitude"] / curve["diagonal_penalty"]
    np.testing.assert_allclose(curve["diagonal_exponent"][:, 1:-1], penalty[:, 1:-1], rtol=1e-4)


@pytest.mark.parametrize(("auxiliary", "slope"), [(0.01, 1.0506), (1.0, 1.5180), (100.0, 0.0102)])
def test_at_correlation_99_only_fresh_units_are_l1_like(curve, auxiliary, slope):
    """The text calls ρ = .99, m ≈ 1 ℓ₁-like; that holds for m_aux = .01, not for the pretrained feature itself."""
    assert at(curve, "exponent", 0.99, auxiliary) == pytest.approx(slope, abs=1e-4)
