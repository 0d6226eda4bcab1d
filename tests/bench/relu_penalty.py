"""`relu_penalty` against the loop that the paper describes: numpy.roots on one quartic at a time."""

import time

import numpy as np

from carryover.theory.penalty import relu_penalty

REPEATS = 5


def looped(m, m0, rho, gamma):
    """Equations 10 and 11 point by point, the smallest penalty over the positive roots."""
    penalties = []
    for m_, m0_, rho_, gamma_ in zip(m, m0, rho, gamma, strict=True):
        roots = np.roots([1, -m0_ * rho_, 0, gamma_ * m_, -(m_**2)])
        u = roots[(np.abs(roots.imag) < 1e-9 * np.abs(roots)) & (roots.real > 0)].real
        penalties.append(np.min((m_ / u - gamma_) ** 2 + u**2 + m0_**2 - 2 * u * m0_ * rho_))
    return np.array(penalties)


def measure(smallest=False):
    """One row: seconds of the loop (a subset, scaled up) over seconds of the array function, on the same points."""
    points, looped_points = (1000, 100) if smallest else (100_000, 2_000)
    rng = np.random.default_rng(0)
    m, m0, gamma = 10 ** rng.uniform([[-2], [-1], [-2]], [[2], [1], [0]], (3, points))
    units = (m, m0, rng.uniform(-1, 1, points), gamma)
    array_times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        values = relu_penalty(*units)
        array_times.append(time.perf_counter() - began)
    began = time.perf_counter()
    expected = looped(*(values[:looped_points] for values in units))
    loop_time = (time.perf_counter() - began) * points / looped_points
    difference = np.max(np.abs(values[:looped_points] / expected - 1))
    if difference > 1e-8:
        raise AssertionError(f"relu_penalty and the loop of numpy.roots differ by {difference:.1e}")
    array_time = float(np.median(array_times))
    detail = (
        f"{points} points: {array_time:.3f} s (median of {REPEATS}) against {loop_time:.1f} s for numpy.roots point by "
        f"point (scaled up from {looped_points} points); largest relative difference {difference:.0e}"
    )
    yield {"name": "relu_penalty", "ratio": loop_time / array_time, "at_least": 100, "detail": detail}
