"""Power laws of risks: found where they hold, with an interval that covers."""

import numpy as np
import pandas as pd
import pytest

from carryover.analysis.power_law import fit

SAMPLES = [16, 32, 64, 128]


def noisy(rng, exponent=1.2, spread=0.3, draws=12):
    noise = np.exp(spread * rng.standard_normal((draws, len(SAMPLES))))
    return pd.DataFrame(3.0 * np.array(SAMPLES, float) ** -exponent * noise, columns=SAMPLES)


def test_an_exact_law_is_found():
    law = fit(noisy(np.random.default_rng(0), spread=0.0))
    assert (law.amplitude, law.exponent, law.low, law.high) == pytest.approx((3.0, 1.2, 1.2, 1.2))
    np.testing.assert_allclose(law(SAMPLES), 3.0 * np.array(SAMPLES, float) ** -1.2)
    np.testing.assert_allclose(law.samples(law(SAMPLES)), SAMPLES)


def test_the_interval_covers_the_exponent_about_as_often_as_it_says():
    rng = np.random.default_rng(1)
    laws = [fit(noisy(rng)) for _ in range(60)]
    covered = np.mean([law.low <= 1.2 <= law.high for law in laws])
    assert 0.8 <= covered <= 1.0
    assert np.mean([law.high - law.low for law in laws]) < 0.5


def test_what_has_no_power_law_is_refused():
    for wrong in (pd.DataFrame([[1.0]], columns=[16]), pd.DataFrame([[1.0, 0.0]], columns=[16, 32])):
        with pytest.raises(ValueError, match="positive risks at two numbers"):
            fit(wrong)
