"""Layer × layer CKA against pairs of layers in double precision, and the sums that define it."""

from itertools import permutations

import numpy as np
import pytest

from carryover.diagnosis.inheritance import sample_blocks
from carryover.diagnosis.layers import layer_similarity
from carryover.measures.dimensionality import cka
from carryover.statistics import jackknife


def network(samples, units, seed, offset=5.0):
    """Layers that share some features, {name: (samples, units) float32}."""
    rng = np.random.default_rng(seed)
    shared = np.random.default_rng(99).standard_normal((samples, 4))
    noisy = (shared @ rng.standard_normal((4, count)) + rng.standard_normal((samples, count)) for count in units)
    return {f"layer{index}": (X + offset).astype(np.float32) for index, X in enumerate(noisy)}


def by_pairs(before, after, alike=cka):
    return np.array([[alike(X.astype(np.float64), Y.astype(np.float64)) for Y in after.values()] for X in
                     before.values()])  # fmt: skip


def test_values_are_those_of_pairs_in_double_precision():
    before, after = network(210, (30, 300, 7), 0), network(210, (50, 90), 1)
    np.testing.assert_allclose(layer_similarity(before, after), by_pairs(before, after), rtol=1e-5)


def unbiased_hsic(X, Y):
    """Equation 4 of Song et al. (2012) as the sums over different samples that it stands for, which are O(n⁴)."""
    K, L, n = X @ X.T, Y @ Y.T, len(X)
    pairs = np.mean([K[i, j] * L[i, j] for i, j in permutations(range(n), 2)])
    fours = np.mean([K[i, j] * L[q, r] for i, j, q, r in permutations(range(n), 4)])
    threes = np.mean([K[i, j] * L[i, q] for i, j, q in permutations(range(n), 3)])
    return pairs + fours - 2 * threes


def unbiased_cka(X, Y):
    return unbiased_hsic(X, Y) / np.sqrt(unbiased_hsic(X, X) * unbiased_hsic(Y, Y))


def test_the_debiased_one_is_made_of_means_over_different_samples():
    before, after = network(9, (5, 12), 0), network(9, (3,), 1)
    found = layer_similarity(before, after, debiased=True)
    np.testing.assert_allclose(found, by_pairs(before, after, unbiased_cka), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("how", [{}, {"debiased": True}])
def test_intervals_leave_blocks_of_samples_out(how):
    before, after = network(120, (6, 9), 0), network(120, (7,), 1)
    found = layer_similarity(before, after, confidence=0.9, **how)
    block = sample_blocks(120)
    values = [
        layer_similarity(*({name: X[rows] for name, X in side.items()} for side in (before, after)), **how).values
        for rows in (slice(None), *(block != b for b in range(20)))
    ]  # fmt: skip
    low, high = jackknife.interval(np.array(values)[:, 1, 0], 0.9)
    assert (found["low"][1, 0], found["high"][1, 0]) == (pytest.approx(low, rel=1e-4), pytest.approx(high, rel=1e-4))
    assert (found["low"] < found["cka"]).all()
