"""Power laws of risks: found where they hold, with an interval that covers."""

import numpy as np
import pandas as pd
import pytest

from carryover.errors import UserError
from carryover.statistics.power_law import fit, local_exponents

SAMPLES = [16, 32, 64, 128]


def noisy(rng, exponent=1.2, spread=0.3, draws=12):
    noise = np.exp(spread * rng.standard_normal((draws, len(SAMPLES))))
    return pd.DataFrame(3.0 * np.array(SAMPLES, float) ** -exponent * noise, columns=SAMPLES)


def test_an_exact_law_is_found():
    law = fit(noisy(np.random.default_rng(0), spread=0.0))
    assert (law.amplitude, law.exponent, law.low, law.high) == pytest.approx((3.0, 1.2, 1.2, 1.2))
    np.testing.assert_allclose(law(SAMPLES), 3.0 * np.array(SAMPLES, float) ** -1.2)
    np.testing.assert_allclose(law.samples(law(SAMPLES)), SAMPLES)


@pytest.mark.extended
def test_the_interval_covers_the_exponent_about_as_often_as_it_says():
    rng = np.random.default_rng(1)
    for draws in (3, 12):
        laws = [fit(noisy(rng, draws=draws)) for _ in range(1000)]
        assert 0.925 <= np.mean([law.low <= 1.2 <= law.high for law in laws]) <= 0.97
    assert np.mean([law.high - law.low for law in laws]) < 0.5


def test_one_draw_tells_nothing_of_the_spread():
    law = fit(noisy(np.random.default_rng(0), draws=1))
    assert law.exponent > 0
    assert np.isnan([law.low, law.high]).all()


def test_windows_and_local_exponents_follow_a_bend():
    """n^−½ up to 64 and n^−2 from there on."""
    bent = pd.DataFrame([[n**-0.5 if n <= 64 else 64**1.5 * n**-2.0 for n in SAMPLES]] * 3, columns=SAMPLES)
    local = local_exponents(bent)
    np.testing.assert_allclose(list(local), np.sqrt([16 * 32, 32 * 64, 64 * 128]))
    np.testing.assert_allclose([one.exponent for one in local.values()], [0.5, 0.5, 2.0])
    assert fit(bent, 64).exponent == pytest.approx(2.0)
    assert fit(bent, 33).exponent == pytest.approx(2.0)
    assert 0.5 < fit(bent, 16).exponent < 2.0
    with pytest.raises(UserError, match="two numbers of samples or more from n = 100 on"):
        fit(bent, 100)


def test_what_has_no_power_law_is_refused():
    for wrong in (pd.DataFrame([[1.0]], columns=[16]), pd.DataFrame([[1.0, 0.0]], columns=[16, 32])):
        with pytest.raises(UserError, match="positive risks at two numbers"):
            fit(wrong)
