"""What a pretrained network must pay to become its teacher, against every way of sharing the teacher's units out."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from carryover.theory.penalty import paired_penalty, relu_penalty, teacher_penalty


def distance(parts, first, directions, coefficients):
    """Smallest squared distance for units (of the network) shared out as `parts` says, over the weights themselves.

    Unit h gets the input weights u_h v and the readout a_h; products u a of each part add up to its coefficient.
    """
    recruited = [h for h, k in enumerate(parts) if k >= 0]
    targets = directions[[parts[h] for h in recruited]]
    same = np.array([[parts[h] == k for h in recruited] for k in range(len(coefficients))], dtype=float)

    def squared(x):
        u, a = np.split(x, 2)
        return ((u[:, None] * targets - first[recruited]) ** 2).sum() + (a**2).sum()

    def unmet(x):
        u, a = np.split(x, 2)
        return same @ (u * a) - coefficients

    count = len(recruited)
    share = np.sqrt(np.abs(coefficients)[[parts[h] for h in recruited]])
    signs = np.sign(coefficients)[[parts[h] for h in recruited]]
    start = np.concatenate([share, signs * share / same.sum(1)[[parts[h] for h in recruited]]])
    found = minimize(
        squared, start, method="SLSQP", bounds=[(1e-9, None)] * count + [(None, None)] * count,
        constraints={"type": "eq", "fun": unmet}, options={"ftol": 1e-13, "maxiter": 500},
    )  # fmt: skip
    return found.fun if np.abs(unmet(found.x)).max() < 1e-8 else np.inf


def cheapest(first, directions, coefficients):
    """The best of all ways to give each unit of the network to a unit of the teacher, or to none (−1)."""
    count = len(coefficients)
    ways = (w for w in product(range(-1, count), repeat=len(first)) if set(range(count)) <= set(w))
    return min(distance(way, first, directions, coefficients) for way in ways)


def pretrained(seed, units, spread):
    """Units about two orthogonal directions of three, of different lengths, and a teacher of those directions."""
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.standard_normal((3, 3)))[0][:2]
    first = directions[np.arange(units) % 2] + spread * rng.standard_normal((units, 3))
    return first * rng.uniform(0.3, 1.5, (units, 1)), directions, rng.uniform(0.2, 2, 2) * rng.choice([-1, 1], 2)


@pytest.mark.parametrize(("seed", "spread"), [(0, 0.02), (1, 0.2), (2, 0.5), (5, 0.5)])
def test_no_way_of_recruiting_units_is_cheaper(seed, spread):
    problem = pretrained(seed, 4, spread)
    best = cheapest(*problem)
    assert best * (1 - 1e-6) <= teacher_penalty(*problem) <= best * (1.02 if spread == 0.5 else 1 + 1e-6)


def test_a_single_unit_pays_the_penalty_of_equation_11():
    rng = np.random.default_rng(0)
    for m, m0, rho in zip(*rng.uniform(0.05, 3, (2, 20)), rng.uniform(-1, 1, 20), strict=True):
        first = np.array([[m0 * rho, m0 * np.sqrt(1 - rho**2)]])
        np.testing.assert_allclose(teacher_penalty(first, [[1.0, 0.0]], [-m]), relu_penalty(m, m0, rho, 0.0), rtol=1e-9)


def test_the_papers_prediction_takes_each_unit_from_the_nearest_feature():
    """Section 1.2: at cosine .9 a large auxiliary feature costs more than a new unit, at cosine 1 it costs less."""
    main, auxiliary = [[0.9, np.sqrt(0.19)], [1.0, 0.0]], [[1.0, 0.0]]
    near, same = (paired_penalty([direction], [1.0], auxiliary, [100.0]) for direction in main)
    np.testing.assert_allclose([near, same], [relu_penalty(1.0, 10.0, rho, 0.0) for rho in (0.9, 1.0)], rtol=1e-9)
    assert same < 2 < near


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"got \(2, 3\), \(1, 2\) and \(1,\)"):
        teacher_penalty(np.ones((2, 3)), [[1.0, 0.0]], [1.0])
