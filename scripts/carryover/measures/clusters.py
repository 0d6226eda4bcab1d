"""How few features a ReLU network makes use of, and whether they are the teacher's: k-means on its input weights.

From section E.2 and Fig. 6 of "Feature reuse in multi-task learning and finetuning (appendix)". Units of one direction
act as one feature whatever their lengths, so directions are clustered, each weighted by the unit's importance.
"""

from functools import cache

import numpy as np
from numpy.typing import ArrayLike
from pydantic import PositiveInt
from scipy.spatial.distance import cdist
from threadpoolctl import ThreadpoolController

from carryover.config import plugins
from carryover.config.parameters import Model, parameter
from carryover.config.protocols import TRAINED
from carryover.errors import UserError
from carryover.networks.relu import Weights
from carryover.runs import measure_each_run, teacher_units, units_to_learn

_MOST = 300  # rounds of k-means, of which a dozen is common
RESTARTS = 2
_DECIMALS = 12  # to which directions are distinguished
_NOTHING = 1e-16  # share of the largest weight up to which a unit is ignored
_FINE = 36  # clusters at least, twice as many as are asked for at least, from which the merging begins
_THREADS = ThreadpoolController()


def inertia(W: ArrayLike, weights: ArrayLike, k: int, seed: int, restarts: int = RESTARTS) -> float:
    """Share of the weighted squared length of the units' directions that k clusters leave unexplained.

    With unit vectors ŵ = w/‖w‖ and each one's nearest centre c(ŵ) it is Σ weights ‖ŵ − c(ŵ)‖² / Σ weights ‖ŵ‖². Lengths
    are from the origin, not from the mean direction: else a single cluster would explain nothing by definition, whereas
    Fig. 6f asks with K = 1 whether the network uses one feature. So it is 0 where all units share k directions, and
    1 − K/k with K ≤ k clusters where they share k orthogonal ones of equal weight.

    W: (units, input) input weights of any lengths; weights: (units,), their importance, units of 0 being ignored;
    seed: of the random starts; restarts: how many there are. Dimensionless, between 0 and 1; 0 where there are no more
    than k directions. k-means finds local minima; besides the random starts it gets one from merging the clusters of a
    finer clustering.

    Raises ValueError where k is below 1 or above the number of units, W is not finite or has a row of zeros with
    positive weight, weights are not finite, negative or all 0, or shapes do not fit.

    Examples
    --------
    >>> W = [[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]]
    >>> round(inertia(W, [1, 1, 2], k=1, seed=0), 3), inertia(W, [1, 1, 2], k=2, seed=0)
    (0.5, 0.0)
    """
    return _solutions(W, weights, [k], seed, restarts)[0][0]


def alignment(centers: ArrayLike, teacher: ArrayLike) -> float:
    """Mean over teacher units of the best cosine between its direction and a cluster centre; Fig. 6b, e and g.

    centers (k, input), teacher (units, input), of any lengths. Between −1 and 1; a centre of length 0 has cosine 0 with
    everything. Raises ValueError where something is not finite, or a teacher unit has no direction.

    Examples
    --------
    >>> alignment(centers=[[2.0, 0.0]], teacher=[[1.0, 0.0], [0.0, 1.0]])
    0.5
    """
    centers, teacher = (np.asarray(values, dtype=np.float64) for values in (centers, teacher))
    if not (np.isfinite(centers).all() and np.isfinite(teacher).all() and teacher.any(axis=1).all()):
        raise ValueError("centers and teacher must be finite, and teacher must have no unit of length 0")
    return float((_unit_vectors(teacher) @ _unit_vectors(centers).T).max(axis=1).mean())


def effective_clusters(inertias: ArrayLike, counts: ArrayLike | None = None) -> np.ndarray:
    """Participation ratio (Σg)² / Σg² of what each further cluster explains, g_K = inertia(K−1) − inertia(K).

    inertias: (..., clusters) for K = 1, 2, …, or for rising `counts` (clusters,), between which gains are taken to be
    the same; inertia(0) is 1. Returns (...), between 1 and the largest K; NaN where nothing is explained. k orthogonal
    directions of equal weight count as k, nearly parallel or unequal ones as fewer, and opposite ones, which no single
    centre explains at all, as one fewer.

    It is preferred to the smallest K with an inertia below a threshold. Networks that interpolate keep a background of
    units in all directions, some .02 to .2 of the weight, so that a threshold that tells 11 features from 12 (1/12) is
    often missed by networks whose inertia has a plain bend at 6 or 12; the background's many small gains hardly count
    here.
    """
    inertias = np.asarray(inertias, dtype=np.float64)
    steps = np.diff(np.arange(1, inertias.shape[-1] + 1) if counts is None else counts, prepend=0)
    gains = -np.diff(inertias, prepend=1.0, axis=-1)
    with np.errstate(invalid="ignore"):
        return gains.sum(axis=-1) ** 2 / (gains**2 / steps).sum(axis=-1)


class Clusters(Model):
    largest_k: PositiveInt = parameter(12, "most clusters of which each number is tried")
    further_k: tuple[PositiveInt, ...] = parameter((), "larger numbers that are tried as well")


@plugins.measure(
    needs=["first", "second", "teacher_directions", "teacher_readout", "auxiliary_readout"], applies_to=TRAINED
)
def clusters(data, p: Clusters):
    """Inertia and alignment over the number of clusters, (run, clusters); alignment and effective clusters, (run,).

    Alignment is that with the units of the main task's teacher. The one of shape (run,) is at the largest number of
    clusters that does not exceed the number of features to learn. These are the teacher's units, or those of both
    teachers, shared ones once, if the network learned both tasks: with fewer clusters some would join main with
    auxiliary features, which would lower the alignment. Networks that were not trained, such as those of tangent
    kernels, are measured at their start.

    Raises UserError where there are fewer units than clusters, or, naming the run, where a network has no clusters.
    """
    units, counts = data.sizes["unit"], sorted({*range(1, p.largest_k + 1), *p.further_k})
    if counts[-1] > units:
        raise UserError(f"largest_k and further_k must not exceed {units}, the networks' units; got {counts[-1]}.")

    def of_run(network):
        weights, (teacher, _) = Weights.of_dataset(network), teacher_units(network)
        inertias, centers = zip(*_solutions(weights.first, weights.importance(), counts, seed=0), strict=True)
        alignments = [alignment(centres, teacher) for centres in centers]
        place = np.searchsorted(counts, len(units_to_learn(network)), side="right") - 1
        return {
            "inertia": (inertias, "share of the units' weighted squared length that is left unexplained"),
            "alignment_by_clusters": (alignments, "mean best cosine of the teacher's units with a cluster"),
            "alignment": (alignments[place], "mean best cosine of the teacher's units with as many clusters as there "
                          "are features to learn"),
            "effective_clusters": (effective_clusters(inertias, counts), "effective number of clusters"),
        }  # fmt: skip

    return measure_each_run(data, of_run, clusters=(counts, "number of clusters"))


@_THREADS.wrap(limits=1)  # problems this small are ten times slower when threads wait for each other
def _solutions(W, weights, counts, seed, restarts=RESTARTS):
    """[(inertia, centres (≤ k, input))] for every number of clusters k in `counts`, rising; inertias do not rise.

    Arguments and errors are those of `inertia`."""
    W, weights = np.asarray(W, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if W.ndim != 2 or weights.shape != W.shape[:1]:
        raise ValueError(
            f"W and weights must have the shapes (units, input) and (units,), got {W.shape} and {weights.shape}"
        )
    if not 1 <= max(counts) <= len(W):
        raise ValueError(f"k must be from 1 to the number of units, {len(W)}, got {max(counts)}")
    if not np.isfinite(W).all():
        raise ValueError("W must be finite")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ValueError("weights must be finite, not negative, and not all zero")
    weights = weights / weights.max()
    W, weights = W[weights > _NOTHING], weights[weights > _NOTHING]
    if not W.any(axis=1).all():
        raise ValueError("W must have no row of zeros with a positive weight")

    # distinct directions of the units that matter, and their shares of all weight
    directions = _unit_vectors(W)
    _, representatives, places = np.unique(
        directions.round(_DECIMALS) + 0.0, axis=0, return_index=True, return_inverse=True
    )
    points, masses = directions[representatives], np.bincount(places, weights) / weights.sum()

    rng = np.random.default_rng(seed)
    few = [k for k in counts if 2 * k <= _FINE] or counts  # to more, merging leads so much better that it is alone
    random = [_plus_plus(points, masses, min(max(few), len(points)), rng) for _ in range(restarts)]
    merged = cache(lambda many: _merge_centres(points, masses, many, seed))
    # As in k-means++, the first k of many random centres are a start for k. Mergings begin at twice k or more.
    solutions: list = []
    for k in counts:
        solution = (0.0, points)
        if k < len(points):
            starts = [start[:k] for start in random if k <= len(start)]
            if k in (finer := merged(_FINE if 2 * k <= _FINE else max(2 * max(counts), _FINE))):
                starts.append(finer[k])
            solution = min((_lloyd(points, masses, start)[:2] for start in starts), key=lambda pair: pair[0])
        solutions.append(min([*solutions[-1:], solution], key=lambda pair: pair[0]))  # one centre may stay unused
    return solutions


def _unit_vectors(vectors):
    """Rows scaled to unit length; rows of length 0 do not change."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


def _merge_centres(points, masses, many, seed):
    """Clusters of points (n, input) with masses (n,) by Ward's method: {k: centres (k, input)} for k from `many` to 1.

    It starts from `many` clusters by k-means, or from the points if there are not more, and joins again and again the
    two clusters whose union raises the inertia least. On networks that have learned a dozen features k-means ends lower
    from such centres than from the best of ten random starts, and one merging serves all k.
    """
    centers, shares = points, masses
    if many < len(points):
        start = _plus_plus(points, masses, many, np.random.default_rng(seed))
        _, centers, labels = _lloyd(points, masses, start)
        used = np.unique(labels)  # clusters may be empty where directions are nearly the same
        centers, shares = centers[used], np.bincount(labels, masses)[used]
    centers, shares, remaining = centers.copy(), shares.copy(), np.ones(len(shares), dtype=bool)
    by_number = {len(shares): centers.copy()}
    # A union raises the inertia by m m'/(m + m') |c − c'|² for the masses m and the centres c of the two.
    costs = ((centers[:, None] - centers) ** 2).sum(2) * np.multiply.outer(shares, shares)
    costs /= np.add.outer(shares, shares)
    np.fill_diagonal(costs, np.inf)
    for number in range(len(shares) - 1, 0, -1):
        a, b = np.unravel_index(costs.argmin(), costs.shape)
        both = shares[a] + shares[b]
        # The cost of joining any other cluster with this union follows from three known costs (Lance & Williams 1967).
        joined = (shares + shares[a]) * costs[a] + (shares + shares[b]) * costs[b] - shares * costs[a, b]
        joined = np.where(remaining & np.isfinite(joined), joined, np.inf) / (shares + both)
        centers[a] = (shares[a] * centers[a] + shares[b] * centers[b]) / both
        shares[a], remaining[b] = both, False  # the union takes the place of a
        costs[a] = costs[:, a] = joined
        costs[b] = costs[:, b] = np.inf
        by_number[number] = centers[remaining]
    return by_number


def _plus_plus(points: np.ndarray, masses: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """k of the points (points, input) by greedy k-means++ (Arthur & Vassilvitskii 2007).

    The first j of them are those that a call for j points would have drawn.
    Each is drawn in proportion to its mass and squared distance from those before, a few times, and the one kept that
    brings all points nearest to their centres.
    """
    chosen = [int(rng.choice(len(points), p=masses / masses.sum()))]
    nearest = cdist(points[chosen], points, "sqeuclidean")[0]
    for size in range(2, k + 1):
        shares = np.cumsum(masses * nearest)
        drawn = np.searchsorted(shares, rng.random(2 + int(np.log(size))) * shares[-1])
        candidates = drawn.clip(max=len(points) - 1)
        distances = np.minimum(nearest, cdist(points[candidates], points, "sqeuclidean"))
        best = (distances @ masses).argmin()
        chosen.append(int(candidates[best]))
        nearest = distances[best]
    return points[chosen]


def _lloyd(points: np.ndarray, masses: np.ndarray, centers: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Where Lloyd's rounds lead from these centres (k, input): Σ masses |point − centre|², centres, labels (points,).

    A centre that is nearest to no point does not move.
    """
    # The nearest centre has the largest c·x − |c|²/2, for |x|² is common to all.
    numbers, labels = np.arange(len(centers))[:, None], np.full(len(points), -1)
    for _ in range(_MOST):
        before, labels = labels, (centers @ points.T - (centers * centers).sum(1)[:, None] / 2).argmax(0)
        if (labels == before).all():
            break
        shares = np.where(labels == numbers, masses, 0.0)
        sums = shares.sum(1)[:, None]
        centers = np.divide(shares @ points, sums, out=centers.copy(), where=sums > 0)
    return float(masses @ ((points - centers[labels]) ** 2).sum(1)), centers, labels
