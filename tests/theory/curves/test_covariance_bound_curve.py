"""The constants against brute force, the bound against its violations, and the powers of n."""

import numpy as np
import pytest

from carryover.config.parameters import model_of
from carryover.theory.curves.covariance_bound import compute


@pytest.fixture(scope="module")
def curve():
    return compute(model_of("theory.curves", "covariance_bound")(instances=400))


def test_constants_are_the_smallest_without_a_violation_in_the_first_half(curve):
    fitted, tested = curve.isel(instance=curve.half == 0), curve.isel(instance=curve.half == 1)
    for suffix, needed in (("", "needed"), ("_estimation", "estimation_needed")):
        assert curve[f"c{suffix}"] == fitted[needed].max()
        assert curve[f"violations{suffix}"] == (tested[needed] > curve[f"c{suffix}"]).sum()
    bound = curve.c**3 * curve.top_unit + curve.c * curve.bottom_unit
    violated = curve.risk > bound * (1 + 1e-12)
    assert violated.isel(instance=curve.half == 0).sum() == 0
    assert violated.isel(instance=curve.half == 1).sum() <= curve.violations


def test_the_fitted_constants_hold_for_other_instances(curve):
    """As often as the theorem claims: at most a share exp(−δ) violates."""
    assert curve.violations <= 200 * np.exp(-3)
    assert curve.violations_estimation <= 200 * np.exp(-3)
    assert curve.c < 1 < curve.c_estimation  # the proof's constant is larger than the bound's own


def test_terms_fall_like_the_powers_of_the_paper_beyond_the_effective_rank(curve):
    rank = (50 * 1.5 + 950 * 0.3) / 1.5
    slopes = [np.diff(np.log(curve[name])) / np.diff(np.log(curve.samples)) for name in ("top_term", "bottom_term")]
    many, few = curve.samples.values[:-1] > rank, curve.samples.values[1:] < rank
    for slope, late, early in zip(slopes, (-1.5, -0.5), (-3, -1), strict=True):
        np.testing.assert_allclose(slope[many], late, rtol=1e-9)
        np.testing.assert_allclose(slope[few], early, rtol=1e-9)
    assert [many.sum(), few.sum()] == [4, 4]
