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
from typing import NamedTuple

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

    Its work grows like n^(D − 1): it is meant for up to five dimensions and tens of samples.

    Parameters
    ----------
    first, readout : (H, D) and (H,), where finetuning starts
    X, y : (n, D) and (n,) samples, any min(n, D) of them linearly independent
    gap : relative distance of penalty and bound at which the search ends

    Raises
    ------
    ValueError : samples not independent or too many, or no network without biases fits them
    """
    first, readout, X, y = (np.asarray(a, dtype=float) for a in (first, readout, X, y))
    # In units of the inputs and of the task, and in the span of the samples: beyond it weights stay as they are.
    length = np.sqrt((X**2).sum(1).mean())
    size = np.sqrt((y**2).mean()) / length or 1.0
    units = Units(first / np.sqrt(size), readout / np.sqrt(size), np.zeros(len(first)))
    gathered = units.gathered()
    span = np.linalg.svd(X, full_matrices=False)[2]
    faces = Faces(X @ span.T / length)
    parts, shares, cost, best = _search(faces, y / length / size, gathered.within(span), gap)
    bound = max(0.0, dual_value(faces, best, y / length / size, units.within(span)))
    kept = shares > _KEPT
    origin, share = parts.owners[kept], shares[kept]
    beyond = np.concatenate([gathered.first - gathered.first @ span.T @ span, np.zeros((1, first.shape[1]))])
    root = np.sqrt(size * share)
    points = root[:, None] * (parts.points[kept] @ span + beyond[origin])
    start = np.sqrt(size) * gathered.first
    return Least(size * cost, size * bound, points, root * parts.readouts[kept], origin, share, start)


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


def _search(faces: Faces, targets: Array, units: Units, gap: float) -> tuple[Parts, Array, float, Array]:
    """Column generation: the parts, their shares (P,), what these cost, and the best multipliers (n,) of the dual.

    It ends where the cost exceeds the dual's value by no more than the share `gap`, or no part makes anything cheaper.
    """
    parts = [_parts(faces, units, units.first[k : k + 1], units.readout[k : k + 1], k) for k in range(len(units.first))]
    for part in parts:
        part.costs[:] = 0  # these stay where they are
    # Every function of a ReLU network on the samples is one of units along the edges of cones.
    for ray in (faces.rays, -faces.rays):
        parts += [_parts(faces, units, ray, np.full(len(ray), sign), NEW) for sign in (1.0, -1.0)]
    listed, cost = _joined(parts), 1.0
    best, bound = np.zeros(len(targets)), 0.0  # multipliers of 0 say that nothing costs less than 0
    for _ in range(_ROUNDS):
        shares, cost, multipliers, prices = _cheapest_shares(listed, targets, len(units.first), cost)
        if cost - bound <= gap * cost:
            return listed, shares, cost, best
        # Half-way to the best ones so far, multipliers jump less; if that asks for nothing, the others do.
        for at in ((best + multipliers) / 2, multipliers):
            value, shrunk, new = _wanted(faces, targets, units, at, multipliers, prices)
            if value > bound:
                best, bound = shrunk, value
            if len(new.costs):
                listed = _joined([listed, new])
                break
        else:
            return listed, shares, cost, best
    shares, cost, _, _ = _cheapest_shares(listed, targets, len(units.first), cost)
    return listed, shares, cost, best


class Parts(NamedTuple):
    """Parts that may be used: (P, D) and (P,) weights, their unit (P,), outputs (P, n) on the samples, costs (P,)."""

    points: Array
    readouts: Array
    owners: NDArray[np.int64]
    outputs: Array
    costs: Array


def _parts(faces: Faces, units: Units, points: Array, readouts: Array, owner: int) -> Parts:
    outputs = readouts[:, None] * np.maximum(points @ faces.X.T, 0)
    costs = np.full(len(points), 2.0)
    if owner != NEW:
        costs = ((points - units.first[owner]) ** 2).sum(1) + (readouts - units.readout[owner]) ** 2
        costs += units.spread[owner]
    return Parts(points, readouts, np.full(len(points), owner), outputs, costs)


def _joined(parts: list[Parts]) -> Parts:
    return Parts(*map(np.concatenate, zip(*parts, strict=True)))


def _cheapest_shares(parts: Parts, targets: Array, count: int, cost: float) -> tuple[Array, float, Array, Array]:
    """Shares (P,), their cost, and the multipliers of the samples (n,) and of the units (count,)."""
    n, unit = len(targets), max(cost, _NOTHING)  # HiGHS stops at 1e-7 of numbers of the order of 1
    scale = 1 / (1 + parts.costs)  # parts that are far away are as good as new units, and as large numbers
    whole = parts.owners == np.arange(count)[:, None]
    found = linprog(
        scale * parts.costs / unit, A_eq=scale * np.concatenate([parts.outputs.T, whole]),
        b_eq=np.concatenate([targets, np.ones(count)]), method="highs",
    )  # fmt: skip
    if found.status != 0:
        raise ValueError(f"no ReLU network without biases was found that fits the samples: {found.message}")
    marginals, shares = unit * found.eqlin.marginals, scale * found.x
    return shares, float(parts.costs @ shares), marginals[:n], marginals[n:]


def _wanted(
    faces: Faces, targets: Array, units: Units, at: Array, multipliers: Array, prices: Array
) -> tuple[float, Array, Parts]:
    """The dual's value at multipliers `at`, these, shrunk to its bound, and the parts they ask for, of which
    `multipliers` say that they make a network cheaper."""
    vectors, sizes = _sizes(faces, faces.slopes(at))
    new = np.argsort(-sizes)[:_COLUMNS]
    new = new[sizes[new] > 2]
    signs = np.sign(at @ np.maximum(faces.X @ vectors[new].T, 0))
    parts = [_parts(faces, units, vectors[new], signs, NEW)]
    at = at * _shrinkage(sizes.max())
    slopes = faces.slopes(at)
    value, gains, places = _asked(faces, at, targets, units)
    for k, gamma in enumerate(units.readout):
        chosen = np.argsort(-gains[k])[:_COLUMNS]
        chosen = chosen[np.isfinite(gains[k, chosen])]
        readouts = gamma + (slopes[chosen] * places[k, chosen]).sum(1) / 2
        parts.append(_parts(faces, units, places[k, chosen], readouts, k))
    candidates = _joined(parts)
    price = np.append(prices, 0.0)[candidates.owners]  # NEW is −1: new units have none
    cheaper = candidates.costs - candidates.outputs @ multipliers < price - _CHEAPER
    points, readouts, owners, outputs, costs = candidates
    return value, at, Parts(points[cheaper], readouts[cheaper], owners[cheaper], outputs[cheaper], costs[cheaper])
