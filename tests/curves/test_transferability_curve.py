"""The surfaces' shapes and labels, and what figures 1, 2, 7 and 8 say about them."""

import numpy as np
import pytest

from carryover.config.parameters import check
from carryover.curves.transferability import Parameters, compute


@pytest.fixture(scope="module")
def curve():
    return compute(Parameters())


def test_dimensions_coordinates_and_labels(curve):
    check(Parameters())
    expected = {
        "linear": ("noise", "angle", "gamma"),
        "finetuning": ("angle", "gamma"),
        "finetuning_norm": ("noise", "depth", "angle", "gamma"),
        "scratch": ("noise", "gamma"),
        "interval_low": ("noise", "angle"),
        "interval_high": ("noise", "angle"),
        "threshold": ("noise", "angle"),
        "finetuning_boundary": ("noise", "depth", "gamma"),
    }
    assert {name: variable.dims for name, variable in curve.data_vars.items()} == expected
    assert dict(curve.sizes) == {"noise": 3, "depth": 3, "angle": 101, "gamma": 200}
    for name, variable in curve.variables.items():
        assert variable.attrs["long_name"]
        assert variable.attrs["units"] == ("pi" if name in ("angle", "finetuning_boundary") else "1")
    for name in ("linear", "finetuning", "finetuning_norm", "scratch"):
        assert np.all(np.isfinite(curve[name]))


def test_linear_transfer_by_hand(curve):
    """σ = .2, θ = π/4: equation 11 with sin²θ = ½."""
    point = curve.linear.sel(noise=0.2).sel(angle=0.25, method="nearest")
    gamma = curve.gamma
    expected = np.where(gamma < 1, 1 - gamma + 0.04 * gamma / (1 - gamma), 0.04 / (gamma - 1)) - 0.5
    np.testing.assert_allclose(point, expected, rtol=1e-11, atol=1e-12)


def test_linear_transfer_is_negative_in_its_regions_alone(curve):
    inside = (curve.gamma > curve.interval_low) & (curve.gamma < curve.interval_high)
    away = abs(curve.linear) > 1e-9
    assert ((curve.linear < 0) == (inside | (curve.gamma > curve.threshold))).where(away, True).all()
    assert inside.sel(noise=0.2).any()


def test_anomalous_positive_transfer_around_as_many_samples_as_dimensions(curve):
    """Even between orthogonal tasks, unless there is no noise (figures 1b and 7)."""
    orthogonal = curve.linear.isel(angle=-1).sel(gamma=[0.995, 1.005], method="nearest")
    assert (orthogonal.sel(noise=[0.2, 0.5]) > 0).all()
    assert (orthogonal.sel(noise=0.0) < 0).all()


def test_finetuning_changes_sign_at_a_third_of_pi(curve):
    below = curve.finetuning.sel(gamma=slice(None, 1))
    assert (below.sel(angle=slice(None, 0.33)) > 0).all()
    assert (below.sel(angle=slice(0.34, None)) < 0).all()
    assert (curve.finetuning.sel(gamma=slice(1, None)) == 0).all()


def test_depth_one_or_no_noise_is_equation_15(curve):
    for same in (curve.finetuning_norm.sel(depth=1), curve.finetuning_norm.sel(noise=0.0)):
        assert abs(same - curve.finetuning).max() < 1e-12
    third = curve.finetuning_boundary.sel(noise=0.0, gamma=slice(None, 1))
    np.testing.assert_allclose(third, 1 / 3, rtol=1e-12)


def test_noise_and_depth_lower_the_boundary(curve):
    boundary = curve.finetuning_boundary.sel(gamma=0.5, method="nearest")
    assert (boundary.sel(depth=[2, 3]).diff("noise") < 0).all()
    assert (boundary.sel(noise=[0.2, 0.5]).diff("depth") < 0).all()
    assert np.isnan(curve.finetuning_boundary.sel(gamma=slice(1, None))).all()


def test_as_many_samples_as_dimensions_is_infinite():
    curve = compute(Parameters(smallest_gamma=0.1, largest_gamma=1.9, points=181))
    critical = curve.sel(gamma=1)
    assert np.isinf(critical.scratch.sel(noise=[0.2, 0.5])).all()
    assert critical.scratch.sel(noise=0.0) == 0
    assert np.isinf(critical.linear.sel(noise=0.2)).all()
    assert (critical.finetuning_norm == 0).all()


@pytest.mark.parametrize("name", ["angle", "gamma"])
def test_empty_grids_are_named(name):
    with pytest.raises(ValueError, match=f"largest_{name} must exceed smallest_{name}, which is 0.3"):
        compute(Parameters(**{f"smallest_{name}": 0.3, f"largest_{name}": 0.3}))
