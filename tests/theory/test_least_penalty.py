"""The function of least penalty, against closed forms, limits, and programmes on grids; faces of the cones of samples
against Schläfli's count."""

from math import comb

import numpy as np
import pytest
from scipy.optimize import brentq, linprog

from carryover.theory.least_penalty import Faces, least_penalty
from carryover.theory.penalty import relu_penalty

GAP = 1e-4


def problem(seed, dimension=3, units=2, samples=5, size=1.0):
    """Pretrained units, small readouts, inputs on the sphere, and targets that are a network's."""
    rng = np.random.default_rng(seed)
    first = rng.standard_normal((units, dimension)) * 0.6
    X = rng.standard_normal((samples, dimension))
    X *= np.sqrt(dimension) / np.linalg.norm(X, axis=1, keepdims=True)
    y = size * outputs(rng.standard_normal((4, dimension)), rng.standard_normal(4), X)
    return first, 0.1 * rng.standard_normal(units), X, y


def outputs(first, readout, X):
    return np.maximum(X @ first.T, 0) @ readout


def between(found, value, above=0.0):
    """A value that is the least, but for the gap, or at most a share `above` it."""
    return found.bound * (1 - 1e-9) <= value <= found.penalty * (1 + GAP + above)


def test_one_sample_is_learned_by_all_units_that_respond_to_it_at_one_ratio():
    """As for a teacher of one unit, m = q u² with one q = |a|/u, and Σ r̃ = (q² + q⁴)/(1 − q²)² Σ p², p = ⟨w₀, x̂⟩₊."""
    for seed, y in ((0, 0.3), (1, -2.0), (2, 40.0)):
        first, _, X, _ = problem(seed, units=4, samples=1)
        length = np.linalg.norm(X)
        squares = (np.maximum(first @ X[0] / length, 0) ** 2).sum()
        m = abs(y) / length / squares
        q = brentq(lambda q, m=m: q / (1 - q**2) ** 2 - m, 0, 1 - 1e-9, xtol=1e-14)
        found = least_penalty(first, np.zeros(4), X, [y], gap=GAP)
        assert between(found, squares * (q**2 + q**4) / (1 - q**2) ** 2)
        assert outputs(found.first, found.readout, X) == pytest.approx([y])


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.extended) for seed in (2, 3))])
def test_in_the_plane_it_is_what_a_fine_grid_of_penalties_gives(seed):
    """Shares of units on a grid of directions and magnitudes, each at r̃ of equation 11: none of the cones is used."""
    first, readout, X, y = problem(seed, dimension=2, samples=4, size=0.3)
    edges = np.arctan2(X[:, 0], -X[:, 1])  # where a sample vanishes, the least has kinks
    angles = np.concatenate([np.linspace(0, 2 * np.pi, 720, endpoint=False), edges, edges + np.pi])
    units = np.maximum(np.stack([np.cos(angles), np.sin(angles)], 1) @ X.T, 0)
    magnitudes = np.concatenate([[0.0], np.geomspace(1e-2, 10, 60)])
    magnitudes = np.concatenate([-magnitudes[1:], magnitudes])
    columns = (magnitudes[:, None, None] * units).reshape(-1, len(y))
    costs, shares = [], []
    for k, (w0, gamma) in enumerate(zip(first, readout, strict=True)):
        length = np.linalg.norm(w0)
        cosines = np.clip((w0[0] * np.cos(angles) + w0[1] * np.sin(angles)) / length, -1, 1)
        costs.append(relu_penalty(magnitudes[:, None], length, cosines, gamma).ravel())
        shares.append(np.repeat([np.arange(2) == k], costs[-1].size, axis=0))
    stay = np.array([gamma * np.maximum(X @ w0, 0) for w0, gamma in zip(first, readout, strict=True)])
    table = np.concatenate([columns, columns, stay, units, -units])
    whole = np.concatenate([*shares, np.eye(2), np.zeros((2 * len(units), 2))])
    cost = np.concatenate([*costs, np.zeros(2), np.full(2 * len(units), 2.0)])
    grid = linprog(
        cost, A_eq=np.concatenate([table, whole], 1).T, b_eq=np.concatenate([y, np.ones(2)]), method="highs"
    ).fun
    assert between(least_penalty(first, readout, X, y, gap=GAP), grid, above=0.01)


@pytest.mark.parametrize(("seed", "dimension", "samples"), [(0, 2, 3), (1, 3, 4), (2, 3, 6), (3, 4, 2), (4, 5, 5)])
def test_the_network_of_its_parts_fits_and_is_as_far_away_as_it_says(seed, dimension, samples):
    """Over weights: every unit is split into parts, which start at the roots of their shares of its weights."""
    first, readout, X, y = problem(seed, dimension, units=3, samples=samples, size=0.5)
    found = least_penalty(first, readout, X, y, gap=GAP)
    lengths = np.linalg.norm(found.start, axis=1)
    start_readout = np.zeros(len(lengths))
    for w0, gamma in zip(first, readout, strict=True):  # of so different directions that none are taken together
        parts = np.isclose(found.start @ w0, lengths * np.linalg.norm(w0)) & (lengths > 0)
        assert (lengths[parts] ** 2).sum() == pytest.approx(w0 @ w0)
        start_readout[parts] = gamma * lengths[parts] / np.linalg.norm(w0)
    squares = ((found.first - found.start) ** 2).sum() + ((found.readout - start_readout) ** 2).sum()
    assert squares == pytest.approx(found.penalty, rel=1e-6)
    assert outputs(found.first, found.readout, X) == pytest.approx(y, abs=1e-9)
    assert found.bound <= found.penalty <= found.bound * (1 + 2 * GAP)


def test_what_cannot_be_fitted_is_refused():
    with pytest.raises(ValueError, match="no ReLU network without biases was found that fits"):
        least_penalty(np.ones((2, 1)), np.zeros(2), [[1.0], [2.0]], [1.0, -1.0])


def samples(n, dimension, seed=0):
    return np.random.default_rng(seed).standard_normal((n, dimension))


def cones(n, dimension):
    """How many n hyperplanes through the origin make, any `dimension` of them independent."""
    return 2 * sum(comb(n - 1, j) for j in range(dimension))


@pytest.mark.parametrize(("n", "dimension"), [(1, 1), (5, 1), (2, 2), (7, 2), (3, 3), (8, 3), (7, 4), (6, 5)])
def test_there_are_as_many_faces_of_each_dimension_as_hyperplanes_make(n, dimension):
    vanishing = (Faces(samples(n, dimension)).signs == 0).sum(1)
    # A face on which j samples vanish is a cone of the others in the D − j dimensions that are left.
    expected = [comb(n, j) * cones(n - j, dimension - j) for j in range(dimension)]
    expected += [0] * (n - dimension) + [1]  # and on the origin all
    np.testing.assert_array_equal(np.bincount(vanishing), expected)


def test_every_point_is_inside_of_one_cone():
    faces = Faces(samples(6, 3))
    cones = (faces.signs != 0).all(1)
    for point in samples(50, 3, seed=1):
        assert faces.inside(np.broadcast_to(point, (len(cones), 3)))[cones].sum() == 1


def test_dependent_and_too_many_samples_are_refused():
    X = samples(5, 3)
    X[3] = X[0] + X[1]
    with pytest.raises(ValueError, match="any 3 samples must be linearly independent"):
        Faces(X)
    with pytest.raises(ValueError, match="100 samples in 5 dimensions have too many"):
        Faces(samples(100, 5))
