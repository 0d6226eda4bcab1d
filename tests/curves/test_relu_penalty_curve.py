"""The curve's shape and labels, and what the paper says about figures 1a and 1b, curve by curve."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from carryover.config.parameters import check
from carryover.curves.relu_penalty import Parameters, compute


@pytest.fixture(scope="module")
def curve():
    return compute(Parameters())


def at(curve, variable, correlation, auxiliary_magnitude, magnitude=1.0):
    point = curve[variable].sel(correlation=correlation, auxiliary_magnitude=auxiliary_magnitude)
    return float(point.sel(magnitude=magnitude, method="nearest"))


def test_dimensions_coordinates_and_labels(curve):
    check(Parameters())
    assert set(curve.data_vars) == {"penalty", "exponent"}
    for variable in curve.data_vars.values():
        assert variable.dims == ("correlation", "auxiliary_magnitude", "magnitude")
        assert variable.shape == (5, 3, 301)
        assert variable.dtype == np.float64
        assert np.all(np.isfinite(variable))
    for variable in curve.variables.values():
        assert variable.attrs["long_name"]
        assert variable.attrs["units"] == "1"
    assert curve.magnitude.values[[0, 150, -1]] == pytest.approx([1e-3, 1, 1e3], rel=1e-12)


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


def test_exponent_is_the_slope_of_the_drawn_curve(curve):
    slope = np.gradient(np.log(curve.penalty), np.log(curve.magnitude), axis=-1)
    inner = slice(1, -1)
    np.testing.assert_allclose(slope[..., inner], curve.exponent.values[..., inner], atol=2e-3)


@pytest.mark.parametrize(("auxiliary", "slope"), [(0.01, 1.0506), (1.0, 1.5180), (100.0, 0.0102)])
def test_at_correlation_99_only_fresh_units_are_l1_like(curve, auxiliary, slope):
    """The text calls ρ = .99, m ≈ 1 ℓ₁-like; that holds for m_aux = .01, not for the pretrained feature itself."""
    assert at(curve, "exponent", 0.99, auxiliary) == pytest.approx(slope, abs=1e-4)


def test_below_full_correlation_small_features_have_exponent_zero(curve):
    """Turning the unit costs a fixed amount, so r̃ → m_aux (1 − ρ²) > 0 as m → 0."""
    tiny = compute(Parameters(smallest_magnitude=1e-12, largest_magnitude=1e-9, points=2)).isel(magnitude=0)
    turning = tiny.auxiliary_magnitude * (1 - tiny.correlation**2)
    np.testing.assert_allclose(
        tiny.penalty.sel(correlation=[0.5, 0.9, 0.99]), turning.sel(correlation=[0.5, 0.9, 0.99]).T, rtol=1e-6
    )
    assert float(abs(tiny.exponent.sel(correlation=[0.0, 0.5, 0.9, 0.99])).max()) < 1e-5
    np.testing.assert_allclose(tiny.exponent.sel(correlation=1.0), 2, atol=1e-6)


def test_at_full_correlation_a_gap_remains_where_the_exponent_is_near_one(curve):
    """A pretrained feature (m_aux = 1) stays cheaper than a fresh one (.01) where both slopes are within a tenth of 1.

    For large m, r̃ ≈ 2m − 2m₀√m: the gap grows like √m, and in proportion it closes no faster than the slope nears 1.
    """
    full = curve.sel(correlation=1.0)
    used, fresh = full.sel(auxiliary_magnitude=1.0), full.sel(auxiliary_magnitude=0.01)
    near_one = ((abs(used.exponent - 1) < 0.1) & (abs(fresh.exponent - 1) < 0.1)).values
    assert near_one.sum() > 50
    gap, proportion = (fresh.penalty - used.penalty)[near_one], (fresh.penalty / used.penalty)[near_one]
    assert np.all(np.diff(gap) > 0)
    assert np.all(proportion - 1 > 1.5 * (used.exponent - 1)[near_one])
    np.testing.assert_allclose(gap[-1], 2 * (1 - 0.1) * np.sqrt(curve.magnitude[-1]), rtol=0.02)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"largest_magnitude": 1e-3}, "largest_magnitude"),
        ({"auxiliary_magnitude": (1.0, -1.0)}, "auxiliary_magnitude"),
        ({"correlation": (1.5,)}, "rho"),
    ],
)
def test_bad_values_are_named(change, name):
    with pytest.raises(ValueError, match=name):
        compute(Parameters(**change))
