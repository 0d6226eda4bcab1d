"""How well one layer predicts the principal components of another, on held-out samples, beyond unrelated networks.

What a layer holds does not depend on the size of its responses. Therefore components are scaled to unit variance, and
those that hold nearly all variance count alike, or are weighted by their variance.

Let u (r,) be the counted components of a layer. The share of them that another layer has is the mean held-out R² of
ridge regression, 1 − E |u − û|² / r: without ridge and noise the mean squared canonical correlation. It is computed in
both directions:

- *inherited*: after's components, predicted from all components before, however weak;
- *kept*: before's components, predicted from the visible components after. The visible ones leave out a tenth of the
  variance that the counted ones leave out; a feature that faded below that is lost.

Relative to a reference R₀, the R² from an unrelated network of the same inputs, the share is (R² − R₀) / (1 − R₀), or
−1 where it would be less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.utils.extmath import randomized_svd

from carryover.errors import UserError
from carryover.streams import generator

_COMPONENTS = 512  # of a layer, at most
_EXACT = 1024  # the smaller of samples and units up to which all components are computed
_ROUNDING = 1e-10  # share of the largest variance below which there is rounding alone
DOMINANT = 0.9  # share of all variance from which on a direction is one that hides the others
BLOCKS, FOLDS = 20, 5
LEAST = 4 * FOLDS  # samples
_PENALTIES = 10.0 ** np.array([2, 0, -1, -2, -3, -4, -5, -6, -8])  # times samples and the largest variance
_TYPICAL = (0.16, 0.84)  # quantiles between which changes are typical: a single direction does not decide
_LEADING = 5  # components of which curved functions are taken
_TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Components:
    """The leading components of a layer, at some of the samples.

    Attributes: variances (k,), descending, as shares of all; scores (samples, k), of unit variance over these samples;
    counted, how many of them hold nearly all variance; seen, how many leave out a tenth of what `counted` leaves out.
    """

    variances: np.ndarray
    scores: np.ndarray
    counted: int
    seen: int

    @property
    def variance_scores(self) -> np.ndarray:
        """(samples, k) scores with the variances of the layer."""
        return self.scores * np.sqrt(self.variances)

    @property
    def dominant(self) -> float:
        """Share of all variance that the first direction holds."""
        return float(self.variances[0])


def components(X: np.ndarray, share: float, like: Components | None = None) -> Components:
    """The components of responses (samples, units), counted until they hold `share` of the variance.

    A direction with more than `DOMINANT` of the variance would be the only counted component and hide the others, so it
    is counted, and after it those that hold `share` of the remaining variance. This does not apply if the layer before
    finetuning, `like`, had no such direction: then the layer has become narrow, and nothing is hidden.
    """
    X = X - X.mean(axis=0)
    total = float(np.square(X, dtype=np.float64).sum())
    if min(X.shape) > _EXACT:
        U, s, _ = randomized_svd(X, _COMPONENTS, n_iter=4, random_state=0)
        squares = s.astype(np.float64) ** 2
    else:
        X = X.astype(np.float64)
        wide = len(X) <= X.shape[1]
        squares, V = np.linalg.eigh(X @ X.T if wide else X.T @ X)  # the smaller Gram matrix
        squares, V = squares[::-1], V[:, ::-1]
        U = V if wide else X @ V / np.sqrt(np.maximum(squares, _TINY))
    above_rounding = squares > _ROUNDING * squares[0]
    squares, U = squares[above_rounding][:_COMPONENTS], U[:, above_rounding][:, :_COMPONENTS]
    variances = squares / total
    first = int(variances[0] > DOMINANT and (like is None or like.dominant > DOMINANT))
    held = np.cumsum(variances[first:]) / max(1 - variances[:first].sum(), _TINY)
    # The visible components leave out a tenth of what the counted ones leave out, 1 − share.
    counts = [min(first + int(np.searchsorted(held, part)) + 1, len(variances)) for part in (share, 0.9 + share / 10)]
    return Components(variances, U.astype(np.float64) * len(X) ** 0.5, *counts)


def sample_blocks(samples: int, ids: np.ndarray | None = None) -> np.ndarray:
    """(samples,) random block of each sample, of `BLOCKS`; their numbers of different samples differ by at most one.

    Samples of one id, such as crops of one image, share a block. Raises UserError for fewer than `LEAST`.
    """
    groups = np.arange(samples) if ids is None else np.unique(ids, return_inverse=True)[1].ravel()
    count = int(groups.max()) + 1
    if count < LEAST:
        raise UserError(f"{LEAST} different samples or more are needed, got {count}")
    order = generator("diagnosis", "", 0, "blocks").permutation(count)
    return (order % BLOCKS)[groups]


@dataclass(frozen=True)
class Errors:
    """Squared held-out errors: of all samples (samples, r), and of half of them predicted from that half only."""

    full: np.ndarray
    half: np.ndarray

    @property
    def r2(self) -> float:
        return float(1 - self.full.mean())


def errors(predictors: np.ndarray, targets: np.ndarray, block: np.ndarray) -> Errors:
    """Errors of ridge regression on held-out samples with the best penalty, of all samples and of half of the blocks.

    predictors: (samples, k); targets: (samples, r), of unit variance; block: (samples,), the same for samples that are
    held out together.
    """
    half = block % 2 == 0
    predicted, best = ridge(predictors, targets, block)
    predicted_half, _ = ridge(predictors[half], targets[half], block[half], [best])
    return Errors((targets - predicted) ** 2, (targets[half] - predicted_half) ** 2)


def ridge(
    predictors: np.ndarray, targets: np.ndarray, block: np.ndarray, penalties: Sequence[float] | None = None
) -> tuple[np.ndarray, float]:
    """Held-out predictions (samples, r) with the penalty, per sample, of least squared error, and that penalty.

    All penalties are tried, since a smaller one may be worse at first: with few samples strong predictors add noise
    before weak ones add information.
    """
    if penalties is None:
        penalties = list(_PENALTIES * max(float(predictors.var(axis=0).max()), _TINY))
    folds = []
    for fold in np.unique(block % FOLDS):
        out = block % FOLDS == fold
        x, mean = predictors[~out], targets[~out].mean(axis=0)
        centre = x.mean(axis=0)
        x = x - centre
        eigenvalues, V = np.linalg.eigh(x.T @ x)
        products = V.T @ (x.T @ (targets[~out] - mean))
        folds.append((out, (predictors[out] - centre) @ V, np.maximum(eigenvalues, 0), products, mean))
    least_error, best, best_predicted = np.inf, penalties[0], np.empty_like(targets)
    for penalty in penalties:
        predicted = np.empty_like(targets)
        for out, x, eigenvalues, products, mean in folds:
            predicted[out] = x @ (products / (eigenvalues + penalty * len(block))[:, None]) + mean
        if (error := ((targets - predicted) ** 2).mean()) < least_error:
            least_error, best, best_predicted = error, penalty, predicted
    return best_predicted, float(best)


def predict_from_all(source: Components, targets: Components, block: np.ndarray) -> Errors:
    """Errors of the counted components of `targets` from all components of `source`."""
    return errors(source.variance_scores, targets.scores[:, : targets.counted], block)


def predict_from_visible(source: Components, targets: Components, block: np.ndarray) -> Errors:
    """Errors of the counted components of `targets` from the visible components of `source`."""
    return errors(source.variance_scores[:, : source.seen], targets.scores[:, : targets.counted], block)


def shares(
    layer: Errors, reference: Errors | None, block: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, float]:
    """Shares 1 − error / error of the reference: (1 + blocks,) with all samples, then less each block, and one of half.

    Half of the samples is predicted from itself. Without a reference the share is R². `weights` (r,) are of components.
    """
    included, mean = leave_one_out(block), partial(np.average, axis=1, weights=weights)
    error = included @ mean(layer.full)
    reference_error = included.sum(axis=1) if reference is None else included @ mean(reference.full)
    half = mean(layer.half).mean() / (1.0 if reference is None else mean(reference.half).mean())
    return 1 - error / np.maximum(reference_error, _TINY), float(1 - half)


def leave_one_out(block: np.ndarray) -> np.ndarray:
    """(1 + blocks, samples) masks of the included samples: first all, then those outside each block."""
    return np.vstack([np.ones(len(block)), block != np.unique(block)[:, None]])


def with_ends(name: str, value: float, low: float, high: float) -> dict[str, float]:
    """{variable: value} of a quantity and the limits of its interval."""
    return {name: float(value), f"{name}_low": float(low), f"{name}_high": float(high)}


def reweighting(before: Components, after: Components, survived: float, block: np.ndarray) -> np.ndarray:
    """(1 + blocks,) typical factor between the changes of variances of surviving directions, 1 if all changed alike.

    exp of half the distance between the quantiles .16 and .84 of log g (of a normal law its standard deviation), over
    the eigenvalues g of Λ^(−1/2) BBᵀ Λ^(−1/2), the variance after of before's components over that before, with
    y = Bᵀu by least squares. The share 1 − `survived` of smallest eigenvalues, of lost components, is left out.
    """
    size = before.counted
    lost = size - max(round(max(survived, 0) * size), min(2, size))  # two directions at least, to compare them
    u, y = before.scores[:, :size], after.variance_scores
    parts = np.array([u[block == b].T @ np.hstack([u[block == b], y[block == b]]) for b in np.unique(block)])
    values = []
    for product in (parts.sum(axis=0), *(parts.sum(axis=0) - part for part in parts)):
        gram = product[:, :size] + 1e-9 * len(u) * np.eye(size)  # a block may be needed for full rank
        slopes = np.linalg.solve(gram, product[:, size:])  # y by u
        between = slopes @ slopes.T / np.sqrt(np.outer(before.variances[:size], before.variances[:size]))
        g = np.linalg.eigvalsh(between)[lost:]
        low, high = np.quantile(np.log(np.maximum(g, _TINY)), _TYPICAL)
        values.append(np.exp((high - low) / 2))
    return np.array(values)


def curvature(before: Components, block: np.ndarray) -> float:
    """Held-out R² with which a layer predicts the products of its leading components, less their linear part.

    `block` (samples,) are the blocks that are held out together.
    It is near 0 where the responses are independent features. Otherwise the layer holds a space of functions of its
    inputs, which an unrelated network of the same inputs may hold as well.
    """
    u = before.scores[:, : min(_LEADING, before.counted)]
    first, second = np.triu_indices(u.shape[1])
    products, linear = u[:, first] * u[:, second], np.column_stack([np.ones(len(u)), u])
    products = products - linear @ np.linalg.lstsq(linear, products, rcond=None)[0]
    size = products.std(axis=0)
    curved = size > 1e-6
    return errors(before.variance_scores, products[:, curved] / size[curved], block).r2 if curved.any() else 0.0


def unit_correlation(X: np.ndarray, Y: np.ndarray) -> float:
    """Mean correlation of each unit before with itself after, beyond that with other units; NaN if widths differ.

    X, Y: (samples, units); units that are constant before and after are left out. The result is 1 if finetuning changed
    no unit, and about 0 for networks with unrelated weights.
    """
    if X.shape[1] != Y.shape[1]:
        return np.nan
    alive = (np.ptp(X, axis=0) > 0) | (np.ptp(Y, axis=0) > 0)
    if alive.sum() < 2:
        return np.nan
    X, Y = (Z - Z.mean(axis=0) for Z in (X[:, alive], Y[:, alive]))
    X, Y = (Z / np.where((size := Z.std(axis=0)) > 0, size, np.inf) for Z in (X, Y))
    units, samples = X.shape[1], len(X)
    # Means over units and over pairs of units of the correlations; Σ_uv x_u y_v = Σ_u x_u Σ_v y_v.
    same_unit = float(np.einsum("nu,nu->", X, Y)) / (samples * units)
    all_pairs = float(X.sum(axis=1) @ Y.sum(axis=1)) / samples
    others = (all_pairs - units * same_unit) / (units * (units - 1))
    return (same_unit - others) / max(1 - others, _TINY)
