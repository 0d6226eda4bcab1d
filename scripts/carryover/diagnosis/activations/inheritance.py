"""What of one network's features another holds, each component counting the same, beyond what unrelated networks share.

Let u (r,) be the counted components of a layer, of unit variance. What another layer tells of them is the mean over
them of the held-out R² of ridge regression, 1 − E |u − û|² / r: without ridge and noise the mean of the squared
canonical correlations. It is asked in both directions:

- *inherited*: after's components, told by all that there was before, however weakly;
- *kept*: before's components, told by the components after that are to be seen: those that leave out a tenth of the
  variance that the counted ones leave out. A feature that faded below is gone.

Relative to a reference R₀, what an unrelated network of the same inputs tells of them, the share is
(R² − R₀) / (1 − R₀), or −1 where it would be less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from carryover.diagnosis.activations.components import Components

FOLDS = 5
_PENALTIES = 10.0 ** np.array([2, 0, -1, -2, -3, -4, -5, -6, -8])  # times samples and the largest variance
_TYPICAL = (0.16, 0.84)  # quantiles between which changes are typical: a single direction does not decide
_LEADING = 5  # components of which curved functions are taken
LEAST = 4 * FOLDS  # samples


@dataclass(frozen=True)
class Told:
    """Squared errors of the components that were told: of each sample (samples,), and of each sample of a half when
    told by the others of this half (nearly half as many)."""

    sample: np.ndarray
    half: np.ndarray

    @property
    def r2(self) -> float:
        return float(1 - self.sample.mean())


def told(predictors: np.ndarray, targets: np.ndarray, block: np.ndarray) -> Told:
    """Held-out errors of ridge regression, in units of the targets' variances, with the penalty that has the least.

    predictors: (samples, k); targets: (samples, r) of unit variance; block: (samples,), the same for samples that are
    left out together.
    """
    unit = max(float(predictors.var(axis=0).max()), np.finfo(float).tiny)
    everyone, half = np.ones(len(block), bool), block % 2 == 0
    penalties = _PENALTIES * unit
    found, best = _least(predictors, targets, block, penalties)
    some = half if len(set(block[half] % FOLDS)) == FOLDS else everyone
    fewer, _ = _least(predictors[some], targets[some], block[some], [best])
    return Told(found.mean(axis=1), fewer.mean(axis=1))


def _least(
    predictors: np.ndarray, targets: np.ndarray, block: np.ndarray, penalties: Sequence[float] | np.ndarray
) -> tuple[np.ndarray, float]:
    """(squared errors of samples that were left out, of the penalty a sample that has the least; that penalty).

    All are tried, since less may be worse at first: with few samples strong predictors give noise before weak ones
    tell anything.
    """
    folds = [_Fold.without(block % FOLDS == fold, predictors, targets) for fold in np.unique(block % FOLDS)]
    found, least, errors = np.inf, penalties[0], np.empty_like(targets)
    for penalty in penalties:
        now = np.empty_like(targets)
        for fold in folds:
            now[fold.out] = (targets[fold.out] - fold.guessed(penalty * len(block))) ** 2
        if now.mean() < found:
            found, least, errors = now.mean(), penalty, now
    return errors, float(least)


@dataclass(frozen=True)
class _Fold:
    """Ridge regression of what is not left `out`, with any penalty, from one decomposition."""

    out: np.ndarray
    asked: np.ndarray  # the predictors that are left out, along the eigenvectors of the others' covariance
    eigenvalues: np.ndarray
    products: np.ndarray  # of those others and their targets
    mean: np.ndarray

    @classmethod
    def without(cls, out: np.ndarray, predictors: np.ndarray, targets: np.ndarray) -> _Fold:
        x, mean = predictors[~out], targets[~out].mean(axis=0)
        centre = x.mean(axis=0)
        x = x - centre
        eigenvalues, V = np.linalg.eigh(x.T @ x)
        products = V.T @ (x.T @ (targets[~out] - mean))
        return cls(out, (predictors[out] - centre) @ V, np.maximum(eigenvalues, 0), products, mean)

    def guessed(self, penalty: float) -> np.ndarray:
        return self.asked @ (self.products / (self.eigenvalues + penalty)[:, None]) + self.mean


def inherited(source: Components, targets: Components, block: np.ndarray) -> Told:
    """What all that there is in `source` tells of the components that count in `targets`."""
    return told(source.weighted, targets.scores[:, : targets.counted], block)


def kept(source: Components, targets: Components, block: np.ndarray) -> Told:
    """The same, of what is to be seen in `source`."""
    return told(source.weighted[:, : source.seen], targets.scores[:, : targets.counted], block)


def told_of_itself(one: Components, block: np.ndarray) -> float:
    """What a layer tells of its own components with these samples, the most that any other can: held-out R².

    It is 1 where the samples that are fitted outnumber the directions by which is told.
    """
    fitted = len(block) - np.bincount(block % FOLDS).max()
    return 1.0 if one.seen < fitted and len(one.variances) < fitted else kept(one, one, block).r2


def shares(mine: Told, reference: Told | None, block: np.ndarray) -> tuple[np.ndarray, float]:
    """((1 + blocks,) share beyond the reference with all samples and without each block, the share with half of them).

    Without a reference it is R² itself, which is 0 for what is not related at all.
    """
    kept = np.vstack([np.ones(len(block)), block != np.unique(block)[:, None]])
    lost = kept @ mine.sample
    unrelated = kept.sum(axis=1) if reference is None else kept @ reference.sample
    half = mine.half.mean() / (1.0 if reference is None else reference.half.mean())
    return 1 - lost / np.maximum(unrelated, np.finfo(float).tiny), float(1 - half)


def reweighting(before: Components, after: Components, survived: float, block: np.ndarray) -> np.ndarray:
    """(1 + blocks,) typical factor between the changes of variances of surviving directions, 1 if all changed alike.

    exp of half the distance between the quantiles .16 and .84 of log g (of a normal law its standard deviation), over
    the eigenvalues g of Λ^(−1/2) BBᵀ Λ^(−1/2), the variance after of before's components over that before, with
    y = Bᵀu by least squares. Of components that are gone, a share 1 − `survived`, there is none to compare.
    """
    size = before.counted
    left = size - max(round(max(survived, 0) * size), min(2, size))
    u, y = before.scores[:, :size], after.weighted
    parts = np.array([u[block == b].T @ np.hstack([u[block == b], y[block == b]]) for b in np.unique(block)])
    values = []
    for product in (parts.sum(axis=0), *(parts.sum(axis=0) - part for part in parts)):
        gram = product[:, :size] + 1e-9 * len(u) * np.eye(size)  # a block may be needed for full rank
        told = np.linalg.solve(gram, product[:, size:])  # y by u
        between = told @ told.T / np.sqrt(np.outer(before.variances[:size], before.variances[:size]))
        g = np.linalg.eigvalsh(between)[left:]
        low, high = np.quantile(np.log(np.maximum(g, np.finfo(float).tiny)), _TYPICAL)
        values.append(np.exp((high - low) / 2))
    return np.array(values)


def curvature(before: Components, block: np.ndarray) -> float:
    """How well a layer tells products of its own leading components, less what is linear in these: held-out R².

    Near 0 where the responses are so many independent features and nothing else. Where it is not, the layer holds a
    space of functions of its inputs, which an unrelated network of the same inputs may hold as well.
    """
    u = before.scores[:, : min(_LEADING, before.counted)]
    first, second = np.triu_indices(u.shape[1])
    products, linear = u[:, first] * u[:, second], np.column_stack([np.ones(len(u)), u])
    products = products - linear @ np.linalg.lstsq(linear, products, rcond=None)[0]
    size = products.std(axis=0)
    curved = size > 1e-6
    return told(before.weighted, products[:, curved] / size[curved], block).r2 if curved.any() else 0.0


def matched(X: np.ndarray, Y: np.ndarray) -> float:
    """Mean correlation of each unit before with itself after, beyond that with other units; NaN for other widths.

    X, Y: (samples, units), of which those that are constant before and after are left out. 1 where finetuning left
    every unit what it was, about 0 for networks of other weights.
    """
    if X.shape[1] != Y.shape[1]:
        return np.nan
    alive = (np.ptp(X, axis=0) > 0) | (np.ptp(Y, axis=0) > 0)
    if alive.sum() < 2:
        return np.nan
    X, Y = _standard(X[:, alive]), _standard(Y[:, alive])
    units, samples = X.shape[1], len(X)
    own = float(np.einsum("nu,nu->", X, Y)) / (samples * units)
    all_pairs = float(X.sum(axis=1) @ Y.sum(axis=1)) / samples
    others = (all_pairs - units * own) / (units * (units - 1))
    return (own - others) / max(1 - others, np.finfo(float).tiny)


def _standard(X: np.ndarray) -> np.ndarray:
    """Units of mean 0 and variance 1; those that are the same at all samples are 0."""
    X = X - X.mean(axis=0)
    size = X.std(axis=0)
    return X / np.where(size > 0, size, np.inf)


def alignment(one: Components, other: Components) -> float:
    """CKA, from the leading components."""
    between = np.square(one.weighted.T @ other.weighted / len(one.scores)).sum()
    return float(between / np.sqrt((one.variances**2).sum() * (other.variances**2).sum()))
