"""Values against double precision and other code; intervals against leaving blocks out by hand."""

import numpy as np
import pytest
from scipy import stats

from carryover.diagnosis.activations.overlaps import dealt
from carryover.diagnosis.activations.quantities import PAPERS, jackknife
from carryover.diagnosis.diagnosis import diagnose
from carryover.measures.dimensionality import cka, ensd, participation_ratio

SHAPES = [(600, 30, 20), (90, 250, 140), (120, 30, 300), (300, 300, 5)]


def drawn(samples, units, others, seed=0, offset=100.0):
    """Correlated responses whose means are large beside what varies."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((samples, 8)) @ rng.standard_normal((8, units)) + rng.standard_normal((samples, units))
    Y = X @ rng.standard_normal((units, others)) / units**0.5 + rng.standard_normal((samples, others))
    return (X + offset).astype(np.float32), (Y - offset).astype(np.float32)


def by_hand(X, Y):
    """Every quantity in double precision, by code of its own."""
    before, after, shared = participation_ratio(X), participation_ratio(Y), ensd(X, Y)
    return np.array([before, after, shared, cka(X, Y), after / before, shared / after])


def values(found, end=""):
    return np.array([found[f"{name}{end}"].item() for name in PAPERS])


@pytest.mark.parametrize("shape", SHAPES)
def test_values_and_intervals_are_those_of_double_precision(shape):
    """With products between units and between samples."""
    X, Y = drawn(*shape)
    found = diagnose({"a": X}, {"a": Y})
    np.testing.assert_allclose(values(found), by_hand(X, Y), rtol=1e-5)
    block = dealt(len(X))
    table = np.array([by_hand(X, Y), *(by_hand(X[block != b], Y[block != b]) for b in range(20))])
    ends = np.array([jackknife(column, 0.95) for column in table.T]).T
    np.testing.assert_allclose(values(found, "_low"), ends[0], rtol=2e-5)
    np.testing.assert_allclose(values(found, "_high"), ends[1], rtol=2e-5)


@pytest.mark.extended
@pytest.mark.parametrize("shape", [(3000, 400, 300), (300, 3000, 2500)])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_five_places_are_right_at_some_size(shape, offset):
    X, Y = drawn(*shape, offset=offset)
    found = diagnose({"a": X}, {"a": Y})
    np.testing.assert_allclose(values(found)[:4], [f(X, Y) for f in _FOUR], rtol=1e-5)


_FOUR = (lambda X, Y: participation_ratio(X), lambda X, Y: participation_ratio(Y), ensd, cka)


def test_the_jackknife_of_a_mean_is_students_interval():
    x = np.random.default_rng(0).standard_normal(20)
    without = (x.sum() - x) / 19
    expected = stats.t.interval(0.9, 19, x.mean(), stats.sem(x))
    assert jackknife(np.array([x.mean(), *without]), 0.9) == pytest.approx(expected)


@pytest.mark.parametrize("samples", [2, 3, 19])
def test_very_few_samples_give_an_answer_without_warnings(samples):
    X, Y = drawn(samples, 5, 4)
    found = diagnose({"a": X}, {"a": Y})
    assert found["regime"].item() == "undecided"
    assert found["participation_ratio_before"].item() == pytest.approx(participation_ratio(X), rel=1e-5)
