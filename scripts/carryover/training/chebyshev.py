"""The second-order Runge–Kutta–Chebyshev method RKC2 (Sommeijer, Shampine & Verwer 1998), which is explicit and stable.

With s stages it bears steps of .65 (s² − 1) over the spectral radius of the Jacobian where its eigenvalues are near the
negative axis, as those of gradient flow are: a step s times as long costs √s times as many gradients. From F₀ = F(y)

    Y₁ = y + μ̃₁ h F₀,  Y_j = (1 − μ_j − ν_j) y + μ_j Y_{j−1} + ν_j Y_{j−2} + μ̃_j h F(Y_{j−1}) + γ̃_j h F₀,

Y_s is the new point, and .8 (y − Y_s) + .4 h (F₀ + F(Y_s)) the error of a step.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

LIMIT = 0.653  # h times the spectral radius is at most this times s² − 1
_DAMPING = 2 / 13


def stages_for(steps: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Fewest stages, 2 at least, with which steps (R,) are stable at these spectral radii (R,)."""
    return np.maximum(2, np.ceil(np.sqrt(1 + steps * radius / LIMIT))).astype(np.int64)


@lru_cache(maxsize=256)
def coefficients(stages: int) -> np.ndarray:
    """(stages + 1, 4): μ_j, ν_j, μ̃_j and γ̃_j of stage j from 1 on; the first has μ̃ alone."""
    w0 = 1 + _DAMPING / stages**2
    T, first, second = (np.zeros(stages + 1) for _ in range(3))  # Chebyshev polynomials at w0 and their derivatives
    T[:2], first[1] = (1, w0), 1
    for j in range(2, stages + 1):
        T[j] = 2 * w0 * T[j - 1] - T[j - 2]
        first[j] = 2 * T[j - 1] + 2 * w0 * first[j - 1] - first[j - 2]
        second[j] = 4 * first[j - 1] + 2 * w0 * second[j - 1] - second[j - 2]
    w1 = first[stages] / second[stages]
    b = np.full(stages + 1, second[2] / first[2] ** 2)
    b[2:] = second[2:] / first[2:] ** 2
    table = np.zeros((stages + 1, 4))
    table[1, 2] = b[1] * w1
    table[2:, 0] = 2 * b[2:] * w0 / b[1:-1]
    table[2:, 1] = -b[2:] / b[:-2]
    table[2:, 2] = 2 * b[2:] * w1 / b[1:-1]
    table[2:, 3] = -(1 - b[1:-1] * T[1:-1]) * table[2:, 2]
    return table
