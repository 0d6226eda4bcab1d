"""The curve's shape and labels, and what the paper says about figures 1a and 1b, curve by curve."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from carryover.config.parameters import model_of
from carryover.theory.curves.relu_penalty import compute


@pytest.fixture(scope="module")
def curve():
    return compute(model_of("theory.curves", "relu_penalty")())


def at(curve, variable, correlation, auxiliary_magnitude, magnitude=1.0):
    point = curve[variable].sel(correlation=correlation, auxiliary_magnitude=auxiliary_magnitude)
    return float(point.sel(magnitude=magnitude, method="nearest"))


def test_values_are_the_minimum_over_the_split(curve):
    """Equation 6 minimised numerically over u, with m₀ = √auxiliary_magnitude."""
    for index in np.ndindex(curve.penalty.shape[:2]):
        rho, m0 = float(curve.correlation[index[0]]), float(np.sqrt(curve.auxiliary_magnitude[index[1]]))
        for magnitude_index in (0, 120, 300):
            m = float(curve.magnitude[magnitude_index])
            best = minimize_scalar(
                lambda log_u, m=m, m0=m0, rho=rho: (
                    (m * np.exp(-log_u)) ** 2 + (np.exp(log_u) - m0 * rho) ** 2 + m0**2 * (1 - rho**2)
                ),
                bounds=np.log([np.maximum(m0 * rho, m**0.5 / 2) * 0.9, m0 + 2 * m**0.5]),
                method="bounded",
                options={"xatol": 1e-13},
            )
            assert float(curve.penalty[*index, magnitude_index]) == pytest.approx(best.fun, rel=1e-10)


def test_the_exponent_of_the_diagonal_network_is_the_slope_of_its_penalty():
    curve = compute(model_of("theory.curves", "relu_penalty")(points=3001, readout=0.1))
    penalty = curve["diagonal_penalty"].differentiate("magnitude") * curve["magnitude"] / curve["diagonal_penalty"]
    np.testing.assert_allclose(curve["diagonal_exponent"][:, 1:-1], penalty[:, 1:-1], rtol=1e-4)


@pytest.mark.parametrize(("auxiliary", "slope"), [(0.01, 1.0506), (1.0, 1.5180), (100.0, 0.0102)])
def test_at_correlation_99_only_fresh_units_are_l1_like(curve, auxiliary, slope):
    """The text calls ρ = .99, m ≈ 1 ℓ₁-like; that holds for m_aux = .01, not for the pretrained feature itself."""
    assert at(curve, "exponent", 0.99, auxiliary) == pytest.approx(slope, abs=1e-4)


def test_below_full_correlation_small_features_have_exponent_zero(curve):
    """Turning the unit costs a fixed amount, so r̃ → m_aux (1 − ρ²) > 0 as m → 0."""
    tiny = compute(
        model_of("theory.curves", "relu_penalty")(smallest_magnitude=1e-12, largest_magnitude=1e-9, points=2)
    ).isel(magnitude=0)
    turning = tiny.auxiliary_magnitude * (1 - tiny.correlation**2)
    np.testing.assert_allclose(
        tiny.penalty.sel(correlation=[0.5, 0.9, 0.99]), turning.sel(correlation=[0.5, 0.9, 0.99]).T, rtol=1e-6
    )
    assert float(abs(tiny.exponent.sel(correlation=[0.0, 0.5, 0.9, 0.99])).max()) < 1e-5
    np.testing.assert_allclose(tiny.exponent.sel(correlation=1.0), 2, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"largest_magnitude": 1e-3}, "largest_magnitude"),
        ({"auxiliary_magnitude": (1.0, -1.0)}, "auxiliary_magnitude"),
        ({"correlation": (1.5,)}, "correlation"),
    ],
)
def test_bad_values_are_named(change, name):
    with pytest.raises(ValueError, match=name):
        compute(model_of("theory.curves", "relu_penalty")(**change))
