"""The ReLU penalty against the problem it solves, the quartic's roots in other hands, and limits."""

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize

from carryover.theory.penalty import relu_penalty, relu_penalty_exponent


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


def test_it_solves_the_constrained_problem_in_the_weights_themselves():
    """Equation 5 by SLSQP over (w⁽¹⁾, w⁽²⁾) in three dimensions, from many starts, no use of u or of the quartic."""
    rng = np.random.default_rng(0)
    for m, m0, rho, gamma in np.transpose(random_units(1, 8, decades=0.5)):
        direction = np.array([1.0, 0.0, 0.0])
        pretrained = m0 * np.array([rho, np.sqrt(1 - rho**2), 0.0])
        target = np.append(pretrained, gamma)
        constraints = {"type": "eq", "fun": lambda w, m=m: [np.linalg.norm(w[:3]) * w[3] - m, w[1], w[2]]}
        found = []
        for u in np.abs(m) ** 0.5 * 10 ** rng.uniform(-1, 1, 6):
            start = np.append(u * direction, m / u)
            solution = minimize(
                lambda w, target=target: np.sum((w - target) ** 2),
                start,
                method="SLSQP",
                bounds=[(1e-9, None), (None, None), (None, None), (None, None)],
                constraints=constraints,
                options={"ftol": 1e-14, "maxiter": 500},
            )
            if np.max(np.abs(constraints["fun"](solution.x))) < 1e-9:
                found.append(solution.fun)
        np.testing.assert_allclose(relu_penalty(m, m0, rho, gamma), min(found), rtol=1e-7)


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
    change = m - 3.0
    assert penalty == pytest.approx(change**2 / (m0**2 + gamma**2), rel=nudge)
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


def test_arguments_broadcast_and_points_do_not_touch_each_other():
    m, m0, rho, gamma = random_units(4, 20000)
    together = relu_penalty(m, m0, rho, gamma)
    alone = [relu_penalty(*unit) for unit in np.transpose([m, m0, rho, gamma])[::500]]
    np.testing.assert_allclose(together[::500], alone, rtol=1e-15)
    assert relu_penalty(m[:3, None, None], m0[:4, None], rho[:5], 0.0).shape == (3, 4, 5)
    assert relu_penalty(np.ones((0, 3)), 1, 1, 0).shape == (0, 3)


@pytest.mark.parametrize("function", [relu_penalty, relu_penalty_exponent])
@pytest.mark.parametrize(
    ("unit", "message"),
    [
        ((np.nan, 1, 0, 0), "m must be finite"),
        ((1, [1, -0.1], 0, 0), r"m0 must lie in \[0, inf\]"),
        (([1, 2], [1, 2, 3], 0, 0), r"shapes must fit and broadcast.*m0 \(3,\)"),
    ],
)
def test_bad_arguments_are_named(function, unit, message):
    with pytest.raises(ValueError, match=message):
        function(*unit)
