"""The ReLU penalty of a unit against the problem it solves, and of a network against all ways of sharing units out."""

from itertools import product

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize

from carryover.theory.penalty import (
    paired_penalty,
    relu_penalty,
    relu_penalty_exponent,
    stationary_points,
    teacher_penalty,
)


def random_units(seed, size, decades=1.0):
    """Magnitudes of either sign, norms, cosines and readouts, so that several stationary points occur."""
    rng = np.random.default_rng(seed)
    m, m0, gamma = 10 ** rng.uniform(-decades, decades, (3, size))
    return m * rng.choice([-1, 1], size), m0, rng.uniform(-1, 1, size), gamma * rng.choice([-1, 1], size)


def distance(u, m, m0, rho, gamma):
    """Equation 8."""
    return (m / u - gamma) ** 2 + u**2 + m0**2 - 2 * u * m0 * rho


def precise_minimum(m, m0, rho, gamma):
    """(penalty, exponent) with 120 digits, from all roots of the quartic in u/√|m|."""
    with mpmath.workdps(120):
        m, m0, rho, gamma = (mpmath.mpf(float(value)) for value in (m, m0, rho, gamma))
        scale = mpmath.sqrt(abs(m))
        a, b = m0 * rho / scale, mpmath.sign(m) * gamma / scale
        roots = mpmath.polyroots([1, -a, 0, b, -1], maxsteps=1000, extraprec=400)
        roots = [x.real * scale for x in roots if abs(x.imag) < 1e-40 and x.real > 0]
        u = min(roots, key=lambda u: distance(u, m, m0, rho, gamma))
        penalty = distance(u, m, m0, rho, gamma)
        return float(penalty), float(2 * (m / u - gamma) / u * m / penalty)


def network_distance(parts, first, directions, coefficients, readout=0.0, ratios=(1.0,)):
    """Smallest squared distance for units (of the network) shared out as `parts` says, over the weights themselves.

    Unit h gets the input weights u_h v and the readout a_h, where it started at `readout`; products u a of each part
    add up to its coefficient. It is searched for from several ratios of u to what makes both alike.
    """
    recruited = [h for h, k in enumerate(parts) if k >= 0]
    owners = [parts[h] for h in recruited]
    same = np.array([[owner == k for owner in owners] for k in range(len(coefficients))], dtype=float)

    def squared(x):
        u, a = np.split(x, 2)
        return ((u[:, None] * directions[owners] - first[recruited]) ** 2).sum() + ((a - readout) ** 2).sum()

    def unmet(x):
        u, a = np.split(x, 2)
        return same @ (u * a) - coefficients

    found, share = [np.inf], np.sqrt(np.abs(coefficients))[owners]
    for ratio in ratios:
        a = np.sign(coefficients)[owners] * share / ratio / same.sum(1)[owners]
        solution = minimize(
            squared, np.concatenate([ratio * share, a]), method="SLSQP",
            bounds=[(1e-9, None)] * len(owners) + [(None, None)] * len(owners),
            constraints={"type": "eq", "fun": unmet}, options={"ftol": 1e-14, "maxiter": 500},
        )  # fmt: skip
        if np.abs(unmet(solution.x)).max() < 1e-9:
            found.append(solution.fun)
    return min(found)


def test_it_solves_the_constrained_problem_in_the_weights_themselves():
    """Equation 5 by SLSQP from many starts, with no use of the quartic."""
    rng, direction = np.random.default_rng(0), np.array([[1.0, 0.0]])
    for m, m0, rho, gamma in zip(*random_units(1, 8, decades=0.5), strict=True):
        pretrained = m0 * np.array([[rho, np.sqrt(1 - rho**2)]])
        found = network_distance([0], pretrained, direction, np.array([m]), gamma, 10 ** rng.uniform(-1, 1, 6))
        np.testing.assert_allclose(relu_penalty(m, m0, rho, gamma), found, rtol=1e-7)


def test_it_is_accurate_over_sixteen_decades():
    units = random_units(3, 24, decades=8.0)
    penalty, exponent = np.transpose([precise_minimum(*unit) for unit in np.transpose(units)])
    np.testing.assert_allclose(relu_penalty(*units), penalty, rtol=1e-14)
    np.testing.assert_allclose(relu_penalty_exponent(*units), exponent, rtol=2e-14)


@pytest.mark.parametrize("nudge", [1e-3, 1e-6, 1e-9])
def test_it_does_not_cancel_close_to_the_start(nudge):
    """A unit that only has to move by `nudge`: the penalty is nudge², far below the rounding of its terms."""
    m, m0, gamma = 3.0 * (1 + nudge), 2.0, 1.5
    penalty, exponent = precise_minimum(m, m0, 1.0, gamma)
    np.testing.assert_allclose(relu_penalty(m, m0, 1.0, gamma), penalty, rtol=1e-14)
    np.testing.assert_allclose(relu_penalty_exponent(m, m0, 1.0, gamma), exponent, rtol=1e-14)


@pytest.mark.parametrize("rho", [-1.0, -0.3, 0.0, 0.6, 1.0])
@pytest.mark.parametrize(("m0", "gamma"), [(2.0, 0.0), (2.0, 0.5), (2.0, 3.0), (0.0, 1.0), (0.0, 0.0), (2.0, -0.5)])
def test_at_zero_it_continues_the_side_of_the_readout(m0, rho, gamma):
    side = np.sign(gamma) or 1.0
    m = side * np.array([1e-16, 1e-20, 1e-300])
    zero = relu_penalty(0, m0, rho, gamma)
    assert zero == pytest.approx(min(m0**2, gamma**2 + m0**2 * (1 - max(rho, 0) ** 2)), rel=1e-15)
    np.testing.assert_allclose(relu_penalty(m, m0, rho, gamma), zero, atol=1e-9)
    np.testing.assert_allclose(
        relu_penalty_exponent(m, m0, rho, gamma), relu_penalty_exponent(0, m0, rho, gamma), atol=1e-9
    )
    # From the other side the readout must be given up.
    against = relu_penalty(-m, m0, rho, gamma)
    np.testing.assert_allclose(against, gamma**2 + m0**2 * (1 - max(rho, 0) ** 2), atol=1e-9)


def pretrained(seed, units, spread):
    """Units about two orthogonal directions of three, of different lengths, and a teacher of those directions."""
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.standard_normal((3, 3)))[0][:2]
    first = directions[np.arange(units) % 2] + spread * rng.standard_normal((units, 3))
    return first * rng.uniform(0.3, 1.5, (units, 1)), directions, rng.uniform(0.2, 2, 2) * rng.choice([-1, 1], 2)


@pytest.mark.parametrize(("seed", "spread"), [(0, 0.02), (1, 0.2), (2, 0.5), (5, 0.5)])
def test_no_way_of_recruiting_units_is_cheaper(seed, spread):
    problem = pretrained(seed, 4, spread)
    ways = (way for way in product((-1, 0, 1), repeat=4) if {0, 1} <= set(way))  # −1: to no unit of the teacher
    best = min(network_distance(way, *problem) for way in ways)
    assert best * (1 - 1e-6) <= teacher_penalty(*problem) <= best * (1.02 if spread == 0.5 else 1 + 1e-6)


def test_the_papers_prediction_takes_each_unit_from_the_nearest_feature():
    """Section 1.2: at cosine .9 a large auxiliary feature costs more than a new unit, at cosine 1 it costs less."""
    main, auxiliary = [[0.9, np.sqrt(0.19)], [1.0, 0.0]], [[1.0, 0.0]]
    near, same = (paired_penalty([direction], [1.0], auxiliary, [100.0]) for direction in main)
    np.testing.assert_allclose([near, same], [relu_penalty(1.0, 10.0, rho, 0.0) for rho in (0.9, 1.0)], rtol=1e-9)
    assert same < 2 < near


def test_stationary_points_are_where_the_slope_of_the_distance_changes_its_sign():
    units, u = random_units(5, 200), np.geomspace(1e-4, 1e3, 40001)[:, None]
    falling = np.diff(distance(u, *units), axis=0) < 0
    changes = (falling[1:] != falling[:-1]).sum(axis=0)
    assert set(changes) == {1, 3}
    np.testing.assert_array_equal(stationary_points(*units), changes)
