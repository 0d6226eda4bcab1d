"""Values of the paper's quantities against their own functions, and the jackknife against Student's interval."""

import numpy as np
import pytest
from scipy import stats

from carryover.diagnosis.diagnosis import diagnose
from carryover.diagnosis.inheritance import jackknife
from carryover.measures.dimensionality import cka, ensd, participation_ratio


def drawn(samples, units, others, seed=0, offset=100.0):
    """Correlated responses whose means are large beside what varies."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((samples, 8)) @ rng.standard_normal((8, units)) + rng.standard_normal((samples, units))
    Y = X @ rng.standard_normal((units, others)) / units**0.5 + rng.standard_normal((samples, others))
    return (X + offset).astype(np.float32), (Y - offset).astype(np.float32)


@pytest.mark.parametrize("shape", [(600, 30, 20), (90, 250, 140), (120, 30, 300), (300, 300, 5), (19, 5, 4), (2, 5, 4)])
def test_values_are_those_of_the_papers_formulas(shape):
    X, Y = drawn(*shape)
    found = diagnose({"a": X}, {"a": Y})
    before, after, shared = participation_ratio(X), participation_ratio(Y), ensd(X, Y)
    expected = (before, after, shared, cka(X, Y), after / before, shared / after)
    names = ("participation_ratio_before", "participation_ratio_after", "ensd", "cka", "change", "inherited")
    np.testing.assert_allclose([found[name].item() for name in names], expected, rtol=1e-5)
    assert len(X) > 19 or found["regime"].item() == "undecided"


def test_the_jackknife_of_a_mean_is_students_interval():
    x = np.random.default_rng(0).standard_normal(20)
    without = (x.sum() - x) / 19
    expected = stats.t.interval(0.9, 19, x.mean(), stats.sem(x))
    assert jackknife(np.array([x.mean(), *without]), 0.9) == pytest.approx(expected)
