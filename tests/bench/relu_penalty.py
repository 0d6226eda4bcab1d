"""`relu_penalty` against the loop that the paper describes: numpy.roots on one quartic at a time."""

import numpy as np
from _plain import best_in_turns, refuse_difference, row, timed

from carryover.theory.penalty import relu_penalty


def looped(units):
    """Equations 10 and 11 point by point, the smallest penalty over the positive roots."""
    penalties = []
    for m, m0, rho, gamma in zip(*units, strict=True):
        roots = np.roots([1, -m0 * rho, 0, gamma * m, -(m**2)])
        u = roots[(np.abs(roots.imag) < 1e-9 * np.abs(roots)) & (roots.real > 0)].real
        penalties.append(np.min((m / u - gamma) ** 2 + u**2 + m0**2 - 2 * u * m0 * rho))
    return np.array(penalties)


def measure(smallest=False):
    """One row: seconds of the loop (a subset, scaled up) over seconds of the array function, on the same points."""
    points, looped_points = (1000, 100) if smallest else (100_000, 2_000)
    rng = np.random.default_rng(0)
    m, m0, gamma = 10 ** rng.uniform([[-2], [-1], [-2]], [[2], [1], [0]], (3, points))
    units = (m, m0, rng.uniform(-1, 1, points), gamma)
    few = [values[:looped_points] for values in units]
    seconds, expected = timed(looped, few)
    difference = refuse_difference(relu_penalty(*few) / expected, np.ones(looped_points), 1e-8, "array and loop")
    (ours,), loop = best_in_turns(5, lambda: relu_penalty(*units)), seconds * points / looped_points
    detail = (
        f"{points} points: {ours:.3f} s against {loop:.1f} s for numpy.roots point by point (scaled up from "
        f"{looped_points} points); relative difference {difference:.0e}"
    )
    yield row("relu_penalty", loop / ours, 100, detail)
