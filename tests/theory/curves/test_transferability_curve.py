"""The surfaces' shapes and labels, and what figures 1, 2, 7 and 8 say about them."""

import pytest

from carryover.config.parameters import model_of
from carryover.theory.curves.transferability import compute


@pytest.fixture(scope="module")
def curve():
    return compute(model_of("theory.curves", "transferability")())


def test_linear_transfer_is_negative_in_its_regions_alone(curve):
    inside = (curve.gamma > curve.interval_low) & (curve.gamma < curve.interval_high)
    away = abs(curve.linear) > 1e-9
    assert ((curve.linear < 0) == (inside | (curve.gamma > curve.threshold))).where(away, True).all()
    assert inside.sel(noise=0.2).any()


def test_finetuning_changes_sign_at_a_third_of_pi(curve):
    below = curve.finetuning.sel(gamma=slice(None, 1))
    assert (below.sel(angle=slice(None, 0.33)) > 0).all()
    assert (below.sel(angle=slice(0.34, None)) < 0).all()
    assert (curve.finetuning.sel(gamma=slice(1, None)) == 0).all()
