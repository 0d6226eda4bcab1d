"""How far apart two linear tasks are as data sets: distances between joint distributions of (x, y).

x ~ N(0, I_d) and y = β·x + N(0, σ²), with β_s in the source and β_t in the target. "Features are fate" (section 2.1,
figure 4) holds such distances against transferability. All are dimensionless and symmetric in the two tasks.

Wasserstein and Dudley distances are estimated from samples of (Qᵀx, y), Q an orthonormal basis of the span of β_s and
β_t. The rest of x is independent of (Qᵀx, y) and has the same law in both tasks, so nothing is lost: a coupling of the
reduced variables extends to all by the identity, at no cost, and a function of all, averaged over the rest, keeps its
bounds and its difference of means. In d + 1 dimensions the bias, falling like n^{−1/(d+1)}, would cover all else.

Both tasks share the draws of x and of the noise. Each sample still follows its own law; as the distances are convex,
the mean of an estimate is not below the true distance, whatever the two samples have in common. But unlike that of
independent samples it vanishes with the distance, and is at most E|(β_s − β_t)·x| = √(2/π) |β_s − β_t|. From two
independent samples, 300 points each, of one task (|β| = 1, σ = .2) the Wasserstein estimate would be about .36.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment, minimize_scalar
from scipy.spatial.distance import cdist

from carryover.theory.arguments import Array, broadcast


def kl_divergence(beta_s: ArrayLike, beta_t: ArrayLike, sigma: ArrayLike) -> Array:
    """Kullback–Leibler divergence |β_s − β_t|²/(2σ²) ("Features are fate", equation 31).

    Hence theorem 2.2: the target κβ_s, κ = 1 − σ√(2δ)/|β_s|, has the divergence δ, and smaller κ have more. (Its proof
    takes κ < −σ√δ/|β_s|, without the √2, which is not enough for large δ; and its half on the Dudley metric cannot
    hold, since that metric never exceeds 2.)

    beta_s, beta_t : (..., d), sigma : (...), broadcasting; returns (...). For σ = 0 it is infinite unless β_s = β_t.
    Raises ValueError for shapes that do not fit or a negative sigma.
    """
    (sigma,), squared = broadcast(sigma=sigma), np.square(np.subtract(beta_s, beta_t, dtype=float)).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(squared == 0, 0.0, squared / (2 * sigma**2))[()]


def wasserstein1(beta_s: ArrayLike, beta_t: ArrayLike, sigma: float, samples: int, rng: np.random.Generator) -> float:
    """Wasserstein-1 distance between the tasks, estimated by optimal transport between `samples` points of each.

    beta_s, beta_t : (d,); sigma : standard deviation of the label noise; rng : draws inputs and noise. The estimate is
    biased upwards: its mean is between the true distance and √(2/π) |β_s − β_t| (see the module). The work grows like
    samples³: 10 ms at 300, .5 s at 1000.
    """
    return _transport(_distances(beta_s, beta_t, sigma, samples, rng))


def dudley_metric(beta_s: ArrayLike, beta_t: ArrayLike, sigma: float, samples: int, rng: np.random.Generator) -> float:
    """Dudley metric sup |E_s h − E_t h| over |h|_L + |h|_∞ ≤ 1, between `samples` points of each task.

    "Features are fate", equations 20 and 21. Functions with |h|_L ≤ L and |h|_∞ ≤ 1 − L are, up to a constant, those
    with |h(z) − h(z')| ≤ c(z, z') = min(L|z − z'|, 2(1 − L)), which is a metric; so for each L the supremum is the cost
    of optimal transport under c (Kantorovich). That cost is concave in L, being a minimum over matchings of sums of
    concave functions, and its maximum over L is the linear program over h on the points. It never exceeds 2.

    Arguments and bias as for `wasserstein1`; about 10 times its work. Accuracy: 1e-5 of the mean distance.
    """
    distances = _distances(beta_s, beta_t, sigma, samples, rng)
    best = minimize_scalar(
        lambda slope: -_transport(np.minimum(slope * distances, 2 * (1 - slope))),
        bounds=(0, 1), method="bounded", options={"xatol": 1e-5},
    )  # fmt: skip
    return -float(best.fun)


def _distances(beta_s: ArrayLike, beta_t: ArrayLike, sigma: float, samples: int, rng: np.random.Generator) -> Array:
    """Distances |z_i − z'_j| (samples, samples) between points z = (Qᵀx, y) of the source and z' of the target.

    Q is an orthonormal basis of the span of β_s and β_t; both tasks share the draws of x and of the noise.
    """
    reduced: Any = np.linalg.qr(np.stack([beta_s, beta_t], axis=1), mode="r")  # Qᵀβ_s and Qᵀβ_t as columns
    # QR leaves the signs of Q open. A positive diagonal makes the points depend on lengths and angle of the β alone.
    weights = reduced * np.where(np.diag(reduced) < 0, -1, 1)[:, None]
    x, noise = rng.standard_normal((samples, len(weights))), sigma * rng.standard_normal((samples, 1))
    source, target = (np.hstack([x, x @ weight[:, None] + noise]) for weight in weights.T)
    return cdist(source, target)


def _transport(cost: Array) -> float:
    """Least mean cost of matching the rows with the columns."""
    return float(cost[linear_sum_assignment(cost)].mean())
