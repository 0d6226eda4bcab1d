"""The function of a shallow ReLU network that fits the samples with the least change of the pretrained weights.

"The implicit penalty of finetuning in ReLU networks" gives the penalty of a function after pretraining: Σ r̃ over the
units of the network that computes it (equations 4, 5). This module minimises it among networks that fit the samples,

    min Σ_h ‖w_h − w₀ₕ‖² + (a_h − γ_h)²   subject to   Σ_h a_h relu(w_h · x_i) = y_i.

r̃ is not convex in the vector |m|ŵ of a unit: near m = 0 it depends on the direction, since a rotation has a cost even
for m = 0. But pretraining leaves many units of each direction, which are equivalent to one unit that may be split:
r̃(ŵ, tm | √t w₀, √t γ) = t r̃(ŵ, m | w₀, γ). If units may be split indefinitely, a share μ_h(w, a) of unit h moves to
(w, a), and the problem is linear in μ. Its dual has a variable for each sample: with g(w) = Σ_i λ_i relu(w · x_i),

    max over λ of  λ · y − Σ_h max over w of [g(w)²/4 + γ_h g(w) − ‖w − w₀ₕ‖²],   |g(v)| ≤ 2 for every unit vector v.

The constraint is that of new units, which cost 2|m|, like vanishing shares of any unit. No network of unsplit units
costs less, and at most n units must be split to reach the minimum (Shapley and Folkman).

On each face of the cones that samples make (`Faces`) the function that is maximised over w is quadratic, so its maximum
is the best of finitely many points, and the dual is exact. Column generation finds the shares: a linear programme over
a list of (w, a), to which columns of negative reduced cost are added until its cost is close to the value of the dual.
"""

from itertools import combinations, product
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

from carryover.theory.arguments import Array

_MOST = 500_000  # faces
_APART = 1e-9  # of the lengths of both, a product of a sample and a ray that is taken to be 0
_COSINE = 1 - 1e-5  # from which on units count as of one direction in the search for shares
_SHORT = 1e-4  # units shorter than this, relative to the task, count as new ones in the search for shares
_COLUMNS = 10  # of each unit that are added in a round
_ROUNDS = 200
_INSIDE = 1 - 1e-6  # of the bound on g, where multipliers are evaluated
_CHEAPER = 1e-10  # by which parts that are added make a network cheaper, at least
_NEW = -1  # the last unit is one without weights, of which there are as many as are used


class Least(NamedTuple):
    """The function of least penalty, Σ_p readout_p relu(first_p · x), and its penalty.

    `penalty` is the cost of its parts, `bound` a lower bound on the cost of any network; the minimum is between them.
    Part p, with weights (P, D) and (P,), started at `start` (P, D): at √share times the weights of the pretrained unit
    whose share it is (units of one direction are merged), or at 0 for a new unit.
    """

    penalty: float
    bound: float
    first: Array
    readout: Array
    start: Array


def least_penalty(first: ArrayLike, readout: ArrayLike, X: ArrayLike, y: ArrayLike, *, gap: float = 1e-3) -> Least:
    """The ReLU network that fits all samples at the least distance from its pretrained weights; units may be split.

    The work grows like n^(D − 1), so it is meant for up to five dimensions and tens of samples.

    Parameters
    ----------
    first, readout : (H, D) input weights and (H,) readouts, where finetuning starts
    X, y : (n, D) inputs and (n,) targets, any min(n, D) of the inputs linearly independent
    gap : the search ends when penalty and lower bound differ by this share of the penalty

    Raises
    ------
    ValueError : samples not independent or too many, or no network without biases fits them
    """
    first, readout, X, y = (np.asarray(a, dtype=float) for a in (first, readout, X, y))
    # Inputs and targets are scaled to the order of 1. The function is quadratic in the weights: a task of `size` scales
    # weights by √size and the penalty by size.
    length = np.sqrt((X**2).sum(1).mean())
    size = np.sqrt((y**2).mean()) / length or 1.0
    targets = y / length / size
    units = Units(first / np.sqrt(size), readout / np.sqrt(size), np.zeros(len(first)))
    merged = _merge_units(units)
    # The best weights differ from the start only in the span of the samples: in fewer dimensions the work is less.
    span = np.linalg.svd(X, full_matrices=False)[2]
    faces = Faces(X @ span.T / length)
    parts, shares, cost, best = _search(faces, targets, merged._replace(first=merged.first @ span.T), gap)
    # The search merges units of nearly one direction, which costs a little. The bound is evaluated with all of them, at
    # the multipliers of the merged problem: weak duality holds for any multipliers, so it stays a bound.
    bound, _, _ = _dual(faces, targets, units._replace(first=units.first @ span.T), best)
    # Back to the original units, and to all dimensions: orthogonal to the span the weights stay at their start.
    used = np.flatnonzero(shares > 1e-9)
    start = merged.first[parts.owners[used]]
    moved = (parts.points[used] - start @ span.T) @ span
    root = np.sqrt(size * shares[used])
    return Least(
        size * cost, size * max(0.0, bound), root[:, None] * (start + moved), root * parts.readouts[used],
        root[:, None] * start,
    )  # fmt: skip


class Faces:
    """All faces, the origin too, of the cones of samples (n, D), n ≥ D ≥ 1, of which any D are linearly independent.

    The samples cut the space of a unit's input weights into cones, within which it is active on the same ones. A face
    of a cone is where some of the products w · x_i vanish besides; a point is inside of exactly one face. There are
    about 2 (n − 1 choose D − 1) cones, and a few times as many faces: few for few samples in few dimensions.

    `signs` (F, n) are those of w · x_i, −1, 0 or 1, and `projections` (F, D, D) go to the span of each face.

    Raises ValueError for samples that are not independent, and where there would be too many faces.
    """

    def __init__(self, X: Array) -> None:
        n, D = X.shape
        if 2 * comb(n, D - 1) * 3 ** (D - 1) > _MOST:
            raise ValueError(f"{n} samples in {D} dimensions have too many activation patterns to go through")
        self.X = X
        # With their opposites, the rays are the edges of all cones: unit vectors along which D − 1 samples vanish.
        chosen = np.array(list(combinations(range(n), D - 1)))
        self.rays = np.linalg.svd(X[chosen])[2][:, -1] if D > 1 else np.ones((1, 1))
        products = self.rays @ X.T
        if ((np.abs(products) <= _APART * np.linalg.norm(X, axis=1)).sum(1) != D - 1).any():
            raise ValueError(f"any {D} samples must be linearly independent")
        # About a ray, the products that vanish on it have every combination of signs.
        around = np.repeat(np.sign([products, -products]).astype(np.int8).reshape(-1, 1, n), 3 ** (D - 1), axis=1)
        smallest = np.argsort(np.abs(products), axis=1)[:, : D - 1]
        every = np.array(list(product((-1, 0, 1), repeat=D - 1)), dtype=np.int8)
        np.put_along_axis(around, np.tile(smallest, (2, 1))[:, None], every[None], axis=2)
        origin = np.zeros((1, n), dtype=np.int8)
        self.signs = np.unique(np.concatenate([around.reshape(-1, n), origin]), axis=0)
        vanishing = np.where((self.signs == 0)[..., None], X, 0.0)  # (F, n, D), of rank D at the origin alone
        self.projections = np.eye(D) - np.linalg.pinv(vanishing, rtol=_APART) @ vanishing
        self._active = (self.signs > 0).astype(float)

    def slopes(self, multipliers: Array) -> Array:
        """c (F, D) in the span of each face, such that Σ_i λ_i relu(w · x_i) = c · w there; λ (n,)."""
        return np.einsum("fde,fe->fd", self.projections, (self._active * multipliers) @ self.X)

    def inside(self, points: Array) -> NDArray[np.bool_]:
        """Whether points (..., F, D), each in the span of its face, are inside of it, (..., F)."""
        return ((self.signs * (points @ self.X.T) > 0) | (self.signs == 0)).all(-1)


class Units(NamedTuple):
    """Pretrained units: input weights (K, D), readouts (K,), and `spread` (K,), the additional cost of moving a merged
    unit, whose units differ slightly in direction."""

    first: Array
    readout: Array
    spread: Array


def _merge_units(units: Units) -> Units:
    """Merge units of nearly one direction, drop those of negligible length, and append a new unit, without weights.

    If unit h of a group moves to the share μ_h = ‖w_h‖²/Σ‖w‖² of one (w, a), the total cost is
    ‖w − w₀‖² + (a − γ)² + spread with w₀ = Σ √μ_h w_h and γ = Σ √μ_h γ_h, which are the weights of the merged unit.
    """
    lengths = np.linalg.norm(units.first, axis=1)
    groups: list[list[int]] = []  # units of nearly one direction, the longest first
    for h in np.argsort(-lengths):
        if lengths[h] <= _SHORT:
            break
        near = (g for g in groups if units.first[h] @ units.first[g[0]] >= _COSINE * lengths[h] * lengths[g[0]])
        group = next(near, None)
        groups.append([h]) if group is None else group.append(h)
    roots = np.zeros((len(groups) + 1, len(lengths)))  # √μ; the last row, of zeros, gives the new unit
    for k, group in enumerate(groups):
        roots[k, group] = lengths[group] / np.linalg.norm(lengths[group])
    first, readout = roots @ units.first, roots @ units.readout
    squares = (roots > 0) @ (lengths**2 + units.readout**2)  # Σ ‖w_h‖² + γ_h² of each group
    return Units(first, readout, (squares - (first**2).sum(1) - readout**2).clip(0))


class Parts(NamedTuple):
    """Parts that may be used: (P, D) and (P,) weights, their unit (P,), outputs (P, n) on the samples, costs (P,)."""

    points: Array
    readouts: Array
    owners: NDArray[np.int64]
    outputs: Array
    costs: Array


def _parts(faces: Faces, units: Units, points: Array, readouts: Array, owners: NDArray[np.int64]) -> Parts:
    outputs = readouts[:, None] * np.maximum(points @ faces.X.T, 0)
    costs = ((points - units.first[owners]) ** 2).sum(1) + (readouts - units.readout[owners]) ** 2
    return Parts(points, readouts, owners, outputs, costs + units.spread[owners])


def _search(faces: Faces, targets: Array, units: Units, gap: float) -> tuple[Parts, Array, float, Array]:
    """Column generation: parts, shares, their cost, and the best multipliers (n,) of the dual.

    It ends when the cost exceeds the dual's value by at most the share `gap`, or when no new part lowers the cost.
    After the last round there may be more parts than shares.
    """
    old, edges = np.arange(len(units.first) - 1), len(faces.rays)
    # Every function of a ReLU network on the samples is one of units along the edges of cones.
    listed = _parts(
        faces, units, np.concatenate([units.first[old], faces.rays, faces.rays, -faces.rays, -faces.rays]),
        np.concatenate([units.readout[old], np.repeat([1.0, -1.0, 1.0, -1.0], edges)]),
        np.concatenate([old, np.full(4 * edges, _NEW)]),
    )  # fmt: skip
    listed.costs[old] = 0  # units that do not move
    cost = 1.0
    best, bound = np.zeros(len(targets)), 0.0  # multipliers of 0 give the bound 0
    for _ in range(_ROUNDS):
        # The cheapest shares. Distant parts act like new units, and have large coefficients: all are scaled alike.
        scale, unit = 1 / (1 + listed.costs), max(cost, 1e-12)  # HiGHS stops at 1e-7 of numbers of the order of 1
        of_unit = listed.owners == old[:, None]
        solution = linprog(
            scale * listed.costs / unit, A_eq=scale * np.concatenate([listed.outputs.T, of_unit]),
            b_eq=np.append(targets, np.ones(len(old))), method="highs",
        )  # fmt: skip
        if solution.status != 0:
            raise ValueError(f"no ReLU network without biases was found that fits the samples: {solution.message}")
        multipliers, prices = np.split(unit * solution.eqlin.marginals, [len(targets)])
        shares = scale * solution.x
        cost = float(listed.costs @ shares)
        if cost - bound <= gap * cost:
            break
        # Multipliers of a linear programme jump between vertices (the tailing-off of column generation; du Merle et al.
        # 1999 stabilise it). Multipliers half-way to the best ones oscillate less; if they give no column, the new ones
        # are used.
        for at in ((best + multipliers) / 2, multipliers):
            value, shrunk, columns = _pricing(faces, targets, units, at)
            if value > bound:
                best, bound = shrunk, value
            cheaper = columns.costs - columns.outputs @ multipliers < np.append(prices, 0.0)[columns.owners] - _CHEAPER
            if cheaper.any():
                break
        if not cheaper.any():
            break
        listed = Parts(*(np.concatenate([a, b[cheaper]]) for a, b in zip(listed, columns, strict=True)))
    return listed, shares, cost, best


def _pricing(faces: Faces, targets: Array, units: Units, multipliers: Array) -> tuple[float, Array, Parts]:
    """The dual's value at multipliers (n,) that are shrunk to the bound on g, these multipliers, and new columns."""
    # Of new units: |g| at its maximum over unit vectors inside of each face, 0 where it has none.
    slopes = faces.slopes(multipliers)
    length = np.linalg.norm(slopes, axis=1)
    down = faces.inside(-slopes)
    sizes = np.where(down | faces.inside(slopes), length, 0.0)
    new = np.argsort(-sizes)[:_COLUMNS]
    new = new[sizes[new] > 2]
    vectors = np.where(down, -1.0, 1.0)[new, None] * slopes[new] / length[new, None]
    signs = np.sign(multipliers @ np.maximum(faces.X @ vectors.T, 0))  # of g, hence of the readouts

    # The dual is finite only where |g| ≤ 2. Scaling is the cheapest way back there, and no loss at the optimum.
    multipliers = multipliers * (2 * _INSIDE / max(sizes.max(), 2 * _INSIDE))
    value, gains, places = _dual(faces, targets, units, multipliers)
    best = np.argsort(-gains, axis=1)[:, :_COLUMNS]
    owners, ranks = np.nonzero(np.isfinite(np.take_along_axis(gains, best, axis=1)))
    chosen = best[owners, ranks]
    points = places[owners, chosen]
    readouts = units.readout[owners] + (faces.slopes(multipliers)[chosen] * points).sum(1) / 2  # γ + g(w)/2

    points, readouts = np.concatenate([vectors, points]), np.concatenate([signs, readouts])
    owners = np.concatenate([np.full(len(new), _NEW), owners])
    return value, multipliers, _parts(faces, units, points, readouts, owners)


def _dual(faces: Faces, targets: Array, units: Units, multipliers: Array) -> tuple[float, Array, Array]:
    """The dual's value, a lower bound on the cost, at multipliers (n,) for which g is within its bound.

    Also the values (K, F) of g(w)²/4 + γ g(w) − ‖w − w₀‖² at its maxima inside of faces, −∞ without one, and these
    points (K, F, D). With the slope c of a face and the projection p of w₀ to its span, w = p + (γ/2 + q/4) c, where
    q = c · w. For |c| ≥ 2 this is not a maximum.
    """
    slopes = faces.slopes(multipliers)
    squares, gamma = (slopes**2).sum(1), units.readout[:, None]
    p = np.einsum("fde,ke->kfd", faces.projections, units.first)
    bounded = squares < 4
    q = ((slopes * p).sum(2) + gamma * squares / 2) / np.where(bounded, 1 - squares / 4, 1.0)
    along = gamma / 2 + q / 4
    points = p + along[..., None] * slopes
    left = (p**2).sum(2) - (units.first**2).sum(1)[:, None]  # minus the squared length that is not in the face's span
    gains = gamma * q + q**2 / 4 - along**2 * squares + left
    gains = np.where(bounded & faces.inside(points), gains, -np.inf)
    stay = units.readout * (np.maximum(units.first @ faces.X.T, 0) @ multipliers)
    worth = np.maximum(stay, gains.max(1, initial=-np.inf) - units.spread)
    return float(multipliers @ targets - worth.sum()), gains, points
