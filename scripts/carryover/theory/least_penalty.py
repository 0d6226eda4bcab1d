"""Which function finetuning of a shallow ReLU network would find if it moved the weights no farther than it must.

"The implicit penalty of finetuning in ReLU networks" says what a function costs after pretraining: Σ r̃ over the units
of the network that computes it (equations 4, 5). Here is what costs least of all that fits the samples,

    min Σ_h ‖w_h − w₀ₕ‖² + (a_h − γ_h)²   subject to   Σ_h a_h relu(w_h · x_i) = y_i.

r̃ is not convex in the vector |m|ŵ of a unit: towards m = 0 it depends on the direction, since to turn costs something
whatever is computed. But pretraining leaves many units of each direction, which are as one unit that may be split:
r̃(ŵ, tm | √t w₀, √t γ) = t r̃(ŵ, m | w₀, γ). If units may be split without end, a share μ_h(w, a) of unit h goes to
(w, a), and the problem is linear in μ. Its dual has a variable for each sample: with g(w) = Σ_i λ_i relu(w · x_i),

    max over λ of  λ · y − Σ_h max over w of [g(w)²/4 + γ_h g(w) − ‖w − w₀ₕ‖²],   |g(v)| ≤ 2 for every unit vector v.

The constraint is that of new units, which cost 2|m|, as vanishing shares of any unit do. No network of whole units
costs less; and n units at most must be split to reach the least (Shapley and Folkman).

On each face of the cones of `activation_faces` what is maximised over w is quadratic, so that its maximum is the best
of finitely many points: the dual is exact. Shares come by column generation: a linear programme over a list of (w, a)
that grows by those that the dual asks for, until it costs no more than the dual says it must.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

from carryover.theory.activation_faces import Faces

Array = NDArray[np.float64]
NEW = -1
_COSINE = 1 - 1e-5  # from which on units count as of one direction while shares are sought
_SHORT = 1e-4  # units shorter than this beside what the task needs count as new ones while shares are sought
_COLUMNS = 10  # of a unit that are added at a time
_ROUNDS = 200
_INSIDE = 1 - 1e-6  # of the bound on g, where multipliers are evaluated
_NOTHING = 1e-12  # cost that counts as none
_CHEAPER = 1e-10  # by which parts that are added make a network cheaper, at least
_AT_ONCE = 1 << 20  # products of faces, samples and units that are held at a time
_KEPT = 1e-9  # share below which a part is left out


@dataclass(frozen=True)
class Least:
    """The function of least penalty, Σ_p readout_p relu(first_p · x), and what it costs.

    `penalty` is what its parts cost, `bound` what no network costs less than; the truth is between. Parts (P, D) and
    (P,) have come from the units `origin` (P,) of `start` (K, D), pretrained units of one direction taken together, or
    are `NEW`; `share` (P,) is what they are of the unit.
    """

    penalty: float
    bound: float
    first: Array
    readout: Array
    origin: NDArray[np.int64]
    share: Array
    start: Array


def least_penalty(first: ArrayLike, readout: ArrayLike, X: ArrayLike, y: ArrayLike, *, gap: float = 1e-3) -> Least:
    """The network nearest to its pretrained weights that fits all samples, where units may be split.

    Args: first (H, D) and readout (H,) where finetuning starts; samples X (n, D) and y (n,), any min(n, D) of them
    linearly independent; gap, the relative distance of penalty and bound at which the search ends. Its cost grows like
    n^(D − 1): it is meant for up to five dimensions and tens of samples.

    Raises ValueError for other shapes, for samples that are not independent or too many, and where no network without
    biases fits them.
    """
    first, readout, X, y = (np.asarray(a, dtype=float) for a in (first, readout, X, y))
    if first.ndim != 2 or X.shape != (len(y), first.shape[1]) or readout.shape != (len(first),) or not len(y):
        raise ValueError(
            "first, readout, X and y must have the shapes (H, D), (H,), (n, D) and (n,), "
            f"got {first.shape}, {readout.shape}, {X.shape} and {y.shape}"
        )
    # In units of the inputs and of the task, and in the span of the samples: beyond it weights stay as they are.
    length = np.sqrt((X**2).sum(1).mean())
    size = np.sqrt((y**2).mean()) / length or 1.0
    units = Units(first / np.sqrt(size), readout / np.sqrt(size), np.zeros(len(first)))
    gathered = units.gathered()
    span = np.linalg.svd(X, full_matrices=False)[2]
    faces = Faces(X @ span.T / length)
    search = _Search(faces, y / length / size, gathered.within(span))
    search.run(gap)
    bound = max(0.0, dual_value(faces, search.best, y / length / size, units.within(span)))
    kept = search.shares > _KEPT
    origin, share = search.owners[kept], search.shares[kept]
    beyond = np.concatenate([gathered.first - gathered.first @ span.T @ span, np.zeros((1, first.shape[1]))])
    root = np.sqrt(size * share)
    points = root[:, None] * (search.points[kept] @ span + beyond[origin])
    start = np.sqrt(size) * gathered.first
    return Least(size * search.cost, size * bound, points, root * search.readouts[kept], origin, share, start)


@dataclass(frozen=True)
class Units:
    """Where units start: input weights (K, D), readouts (K,), and `spread` (K,), what it costs besides to move one that
    stands for several which are not quite of one direction, on which they agree to go."""

    first: Array
    readout: Array
    spread: Array

    def within(self, span: Array) -> Units:
        """The same in coordinates of a span (r, D)."""
        return Units(self.first @ span.T, self.readout, self.spread)

    def gathered(self) -> Units:
        """Units of one direction taken together, without those that are too short to count.

        Where each goes to its share of one (w, a), by its length, all cost ‖w − w₀‖² + (a − γ)² + spread, with sums w₀
        and γ weighted by these shares' roots.
        """
        lengths = np.linalg.norm(self.first, axis=1)
        groups: list[list[int]] = []
        for h in np.argsort(-lengths):
            if lengths[h] <= _SHORT:
                break
            near = (g for g in groups if self.first[h] @ self.first[g[0]] >= _COSINE * lengths[h] * lengths[g[0]])
            group = next(near, None)
            groups.append([h]) if group is None else group.append(h)
        roots = np.zeros((len(groups), len(lengths)))
        for k, group in enumerate(groups):
            roots[k, group] = lengths[group] / np.linalg.norm(lengths[group])
        first, readout = roots @ self.first, roots @ self.readout
        squares = (roots > 0) @ (lengths**2 + self.readout**2)
        return Units(first, readout, (squares - (first**2).sum(1) - readout**2).clip(0))


def dual_value(faces: Faces, multipliers: Array, targets: Array, units: Units) -> float:
    """What no network costs less than, by multipliers (n,) which are shrunk where g exceeds its bound."""
    multipliers = multipliers * _shrinkage(_sizes(faces, faces.slopes(multipliers))[1].max())
    some = max(1, _AT_ONCE // faces.signs.size)
    pieces = (slice(start, start + some) for start in range(0, len(units.first), some))
    parts = [Units(units.first[piece], units.readout[piece], units.spread[piece]) for piece in pieces]
    nothing = np.zeros(len(targets))
    return float(multipliers @ targets) + sum(_asked(faces, multipliers, nothing, part)[0] for part in parts)


def _shrinkage(largest: float) -> float:
    return 2 * _INSIDE / largest if largest > 2 * _INSIDE else 1.0


def _asked(faces: Faces, multipliers: Array, targets: Array, units: Units) -> tuple[float, Array, Array]:
    """The dual's value at multipliers for which g is within its bound, and `_gains` of the units."""
    gains, points = _gains(faces, faces.slopes(multipliers), units)
    stay = units.readout * (np.maximum(units.first @ faces.X.T, 0) @ multipliers)
    worth = np.maximum(stay, gains.max(1, initial=-np.inf) - units.spread)
    return float(multipliers @ targets - worth.sum()), gains, points


def _sizes(faces: Faces, slopes: Array) -> tuple[Array, Array]:
    """(F, D) unit vectors inside faces where |g| has a maximum over them, and its values (F,); 0 where it has none."""
    length = np.linalg.norm(slopes, axis=1)
    up, down = faces.inside(slopes), faces.inside(-slopes)
    vectors = np.where(down, -1.0, 1.0)[:, None] * slopes / np.where(length > 0, length, 1.0)[:, None]
    return vectors, np.where(up | down, length, 0.0)


def _gains(faces: Faces, slopes: Array, units: Units) -> tuple[Array, Array]:
    """Values (K, F) of g(w)²/4 + γ g(w) − ‖w − w₀‖² at its maxima inside of faces, and these (K, F, D); −∞ for none.

    With c of a face and p, w₀ in its span, w = p + (γ/2 + q/4) c, where q = c · w. If |c| ≥ 2 it is no maximum.
    """
    squares, gamma = (slopes**2).sum(1), units.readout[:, None]
    p = np.einsum("fde,ke->kfd", faces.projections, units.first)
    bounded = squares < 4
    q = ((slopes * p).sum(2) + gamma * squares / 2) / np.where(bounded, 1 - squares / 4, 1.0)
    along = gamma / 2 + q / 4
    points = p + along[..., None] * slopes
    left = (p**2).sum(2) - (units.first**2).sum(1)[:, None]  # minus the squared length that is not in the face's span
    values = gamma * q + q**2 / 4 - along**2 * squares + left
    return np.where(bounded & faces.inside(points), values, -np.inf), points


class _Search:
    """Column generation: parts that may be used, and the shares of units that it is cheapest to make of them."""

    def __init__(self, faces: Faces, targets: Array, units: Units) -> None:
        self.faces, self.targets, self.units = faces, targets, units
        D, count = faces.X.shape[1], len(units.first)
        self.points, self.readouts = np.zeros((0, D)), np.zeros(0)
        self.owners, self.outputs, self.costs = np.zeros(0, dtype=int), np.zeros((0, len(targets))), np.zeros(0)
        for k in range(count):
            self._add(units.first[k : k + 1], units.readout[k : k + 1], k)
        self.costs[:] = 0  # these stay where they are
        # Every function of a ReLU network on the samples is one of units along the edges of cones.
        for ray in (faces.rays, -faces.rays):
            for sign in (1.0, -1.0):
                self._add(ray, np.full(len(ray), sign), NEW)
        self.cost = 1.0
        self.best, self.bound = np.zeros(len(targets)), 0.0  # multipliers of 0 say that nothing costs less than 0

    def run(self, gap: float) -> None:
        """Until `cost` exceeds `bound` by no more than the share `gap`, or no part makes anything cheaper."""
        for _ in range(_ROUNDS):
            multipliers = self._solve()
            if self.cost - self.bound <= gap * self.cost:
                return
            # Half-way to the best ones so far, multipliers jump less; if that asks for nothing, the others do.
            if not any(self._price(at, multipliers) for at in ((self.best + multipliers) / 2, multipliers)):
                return
        self._solve()

    def _solve(self) -> Array:
        """Multipliers (n,) of the samples at the cheapest shares of what there is."""
        n, count = len(self.targets), len(self.units.first)
        unit = max(self.cost, _NOTHING)  # HiGHS stops at 1e-7 of numbers of the order of 1
        scale = 1 / (1 + self.costs)  # parts that are far away are as good as new units, and as large numbers
        whole = self.owners == np.arange(count)[:, None]
        found = linprog(
            scale * self.costs / unit, A_eq=scale * np.concatenate([self.outputs.T, whole]),
            b_eq=np.concatenate([self.targets, np.ones(count)]), method="highs",
        )  # fmt: skip
        if found.status != 0:
            raise ValueError(f"no ReLU network without biases was found that fits the samples: {found.message}")
        marginals = unit * found.eqlin.marginals
        self.shares, self.prices = scale * found.x, marginals[n:]
        self.cost = float(self.costs @ self.shares)
        return marginals[:n]

    def _price(self, at: Array, multipliers: Array) -> bool:
        """Add parts that multipliers `at` ask for, and say whether any makes a network cheaper."""
        before = len(self.costs)
        vectors, sizes = _sizes(self.faces, self.faces.slopes(at))
        new = _largest(sizes)
        new = new[sizes[new] > 2]
        signs = np.sign(at @ np.maximum(self.faces.X @ vectors[new].T, 0))
        self._add(vectors[new], signs, NEW, multipliers)
        at = at * _shrinkage(sizes.max())
        slopes = self.faces.slopes(at)
        value, gains, points = _asked(self.faces, at, self.targets, self.units)
        for k, gamma in enumerate(self.units.readout):
            chosen = _largest(gains[k])
            chosen = chosen[np.isfinite(gains[k, chosen])]
            readouts = gamma + (slopes[chosen] * points[k, chosen]).sum(1) / 2
            self._add(points[k, chosen], readouts, k, multipliers)
        if value > self.bound:
            self.best, self.bound = at, value
        return len(self.costs) > before

    def _add(self, points: Array, readouts: Array, owner: int, multipliers: Array | None = None) -> None:
        """List parts; where there are multipliers, those that they say make a network cheaper."""
        outputs = readouts[:, None] * np.maximum(points @ self.faces.X.T, 0)
        costs = np.full(len(points), 2.0)
        if owner != NEW:
            units = self.units
            costs = ((points - units.first[owner]) ** 2).sum(1) + (readouts - units.readout[owner]) ** 2
            costs += units.spread[owner]
        if multipliers is not None:
            price = 0.0 if owner == NEW else self.prices[owner]
            kept = costs - outputs @ multipliers < price - _CHEAPER
            points, readouts, outputs, costs = points[kept], readouts[kept], outputs[kept], costs[kept]
        self.points, self.readouts = np.concatenate([self.points, points]), np.concatenate([self.readouts, readouts])
        self.owners = np.concatenate([self.owners, np.full(len(points), owner)])
        self.outputs, self.costs = np.concatenate([self.outputs, outputs]), np.concatenate([self.costs, costs])


def _largest(values: Array) -> NDArray[np.int64]:
    """Places of the largest values, as many as are added at a time."""
    return np.argsort(-values)[:_COLUMNS]
