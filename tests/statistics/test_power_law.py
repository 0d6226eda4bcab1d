"""Power laws of risks are found where they hold."""

import numpy as np
import pandas as pd
import pytest

from carryover.errors import UserError
from carryover.statistics.power_law import fit

SAMPLES = [16, 32, 64, 128]


def exact(draws):
    return pd.DataFrame([3.0 * np.array(SAMPLES, float) ** -1.2] * draws, columns=SAMPLES)


def test_an_exact_law_is_found():
    law = fit(exact(12))
    assert (law.amplitude, law.exponent, law.low, law.high) == pytest.approx((3.0, 1.2, 1.2, 1.2))
    np.testing.assert_allclose(law(SAMPLES), 3.0 * np.array(SAMPLES, float) ** -1.2)
    np.testing.assert_allclose(law.samples(law(SAMPLES)), SAMPLES)
    assert np.isnan([fit(exact(1)).low, fit(exact(1)).high]).all()  # one draw tells nothing of the spread


def test_windows_follow_a_bend():
    """n^−½ up to 64 and n^−2 from there on."""
    bent = pd.DataFrame([[n**-0.5 if n <= 64 else 64**1.5 * n**-2.0 for n in SAMPLES]] * 3, columns=SAMPLES)
    assert fit(bent, 64).exponent == pytest.approx(2.0)
    assert fit(bent, 33).exponent == pytest.approx(2.0)
    assert 0.5 < fit(bent, 16).exponent < 2.0
    with pytest.raises(UserError, match="two numbers of samples or more from n = 100 on"):
        fit(bent, 100)


def test_what_has_no_power_law_is_refused():
    with pytest.raises(UserError, match="positive risks at two numbers"):
        fit(pd.DataFrame([[1.0, 0.0]], columns=[16, 32]))
