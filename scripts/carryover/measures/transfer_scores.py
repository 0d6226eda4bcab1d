"""Scores of pretrained features on a target task that the literature proposes to predict how well they transfer.

They are written from their papers' formulas; where these leave a choice open, the function says which one it makes.
`features` (n, k) are a pretrained network's responses to n samples of the target task, `labels` (n,) the whole numbers
of their classes. The higher a score, the better the transfer should be; logarithms are natural. No score reduces the
dimension of features first. All raise UserError for input that does not fit, is not finite, or has a single class.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import spearmanr
from sklearn.covariance import ledoit_wolf_shrinkage

from carryover.errors import UserError

_RANGE = (1e-10, 1e10)  # of LogME's ratio of precisions, in units of the mean eigenvalue of the features' kernel
_STARTS = (1e-6, 1e-3, 1.0, 1e3)  # of its iteration, for there may be several maxima
_ROUNDS = 1000  # of it at most; it is slow only where the maximum is flat
_SMALLEST = 1e-4  # variance of a feature in a class for GBC, in units of the mean variance of features


def logme(features: ArrayLike, targets: ArrayLike) -> float:
    """LogME: largest log evidence per sample of Bayesian linear regression (You et al. 2021, arXiv 2102.11005).

    A target y has the density N(0, FFᵀ/α + I/β), without an intercept, maximised over α and β. targets: (n,) or (n, r)
    numbers, one-hot for classes; the score is the mean over columns. Given t = α/β the best β is known, so t alone is
    iterated, from four starts; the authors' code has one. It stays within ten decades of the mean eigenvalue of FFᵀ, so
    that the score is finite where features fit targets exactly or not at all.
    """
    F = _columns("features", features)
    Y = _columns("targets", targets, len(F), varying=all)
    vectors, lengths, _ = np.linalg.svd(F, full_matrices=False)
    values = lengths**2 / (np.mean(lengths**2) or 1.0)
    inside = (vectors.T @ Y) ** 2  # (min(n, k), r)
    outside = np.clip((Y**2).sum(0) - inside.sum(0), 0, None)
    return float(np.mean([_evidence(values, *parts, len(F)) for parts in zip(inside.T, outside, strict=True)]))


def _evidence(values, inside, outside, n):
    """Largest log evidence per sample of a target with squares `inside` along FFᵀ's eigenvectors, `outside` left."""
    ratio = np.array(_STARTS)[:, None]
    for _ in range(_ROUNDS):
        before, gain = ratio, values / ratio
        fitted = np.sum(gain / (1 + gain), axis=1, keepdims=True)  # effective number of parameters
        left = n - len(values) + np.sum(1 / (1 + gain), axis=1, keepdims=True)  # n - fitted, without cancellation
        error = np.sum(inside / (1 + gain) ** 2, axis=1, keepdims=True) + outside
        penalty = np.sum(inside * gain / (1 + gain) ** 2, axis=1, keepdims=True)
        ratio = np.clip(ratio * fitted * error / np.maximum(penalty * left, 1e-30 * error), *_RANGE)
        if np.all(abs(ratio - before) <= 1e-10 * before):
            break
    gain = values / ratio
    variance = (np.sum(inside / (1 + gain), axis=1) + outside) / n  # 1/β
    return -np.min(np.log(2 * np.pi * variance) + 1 + np.log1p(gain).sum(1) / n) / 2


def h_score(features: ArrayLike, labels: ArrayLike, shrunk: bool = True) -> float:
    """H-score tr(cov(f)⁺ cov(E[f|y])) of Bao et al. 2019, from 0 to the number of classes less one.

    Without shrinkage it is at its largest for any k ≥ n − 1 features in general position. If `shrunk`, it is that of
    Ibrahim et al. 2022 (arXiv 2110.06893): with the intensity s of Ledoit and Wolf, cov(f) is replaced by
    (1 − s) cov(f) + s tr(cov(f))/k I, and cov(E[f|y]) by (1 − s) cov(E[f|y]). Covariances divide by n.
    """
    F = _columns("features", features, varying=any)
    _, sizes, averaging = _classes(labels, len(F))
    intensity = float(ledoit_wolf_shrinkage(F)) if shrunk else 0.0
    vectors, lengths, _ = np.linalg.svd(F - F.mean(0), full_matrices=False)
    kept = lengths > lengths[0] * max(F.shape) * np.finfo(float).eps
    # Along an eigenvector of cov(f), cov(E[f|y]) is its eigenvalue times the sum of squares of the class means.
    between = sizes @ (averaging @ vectors[:, kept]) ** 2
    values = (1 - intensity) * lengths[kept] ** 2
    return float(np.sum(between * values / (values + intensity * np.sum(lengths**2) / F.shape[1])))


def transrate(features: ArrayLike, labels: ArrayLike, eps: float = 1e-4) -> float:
    """TransRate: coding rate of all features less the mean one of the classes (Huang et al. 2022, arXiv 2106.09362).

    The rate of n rows Z is log det(I + ZᵀZ/(n eps))/2. Features are centred on the mean of all samples and scaled to a
    covariance of trace 1, for their scale is arbitrary and eps is not. Classes are weighted by size, as in the authors'
    code, so that the score is not negative; the unweighted mean of other implementations agrees for equal sizes.
    """
    F = _columns("features", features, varying=any)
    kinds, sizes, _ = _classes(labels, len(F))
    if not 0 < eps < np.inf:
        raise UserError(f"eps must be a finite number above 0, got {eps}")
    Z = (F - F.mean(0)) / np.sqrt(F.var(0).sum())
    groups = [Z, *(Z[kinds == kind] for kind in range(len(sizes)))]
    rates = [np.log1p(np.linalg.svd(G, compute_uv=False) ** 2 / (len(G) * eps)).sum() / 2 for G in groups]
    return float(rates[0] - np.average(rates[1:], weights=sizes))


def gbc(features: ArrayLike, labels: ArrayLike) -> float:
    """Gaussian Bhattacharyya coefficient −Σ_{i≠j} exp(−D_ij) of classes i, j (Pándy et al. 2022, arXiv 2111.12780).

    D is the distance of normal densities with the classes' means and diagonal covariances; each pair counts twice.
    Variances divide by the number of samples and are at least 1e-4 times the mean variance of features; in the
    authors' code the least is 1e-4, which depends on the features' scale.
    """
    F = _columns("features", features, varying=any)
    kinds, _, averaging = _classes(labels, len(F))
    means = averaging @ F
    variances = (averaging @ (F - means[kinds]) ** 2).clip(min=_SMALLEST * F.var(0).mean())
    overlaps = []
    for mean, variance in zip(means, variances, strict=True):
        middle = (variance + variances) / 2
        distances = (mean - means) ** 2 / (8 * middle) + np.log(middle / np.sqrt(variance * variances)) / 2
        overlaps.append(np.exp(-distances.sum(1)).sum() - 1)  # less the class's overlap with itself
    return float(-np.sum(overlaps))


def parc(features: ArrayLike, targets: ArrayLike) -> float:
    """PARC: Spearman's correlation of dissimilarities of features and of targets (Bolya et al. 2021, arXiv 2111.06977).

    Samples differ by 1 − Pearson's correlation of their k ≥ 2 features, or r targets (n, r), one-hot for classes; it is
    1 for a sample whose values are all the same. That of single numbers is undefined: targets (n,) or (n, 1) differ by
    the squared distance, which is not the paper's. The authors' code standardises features over samples first.
    """
    F = _columns("features", features)
    Y = _columns("targets", targets, len(F), varying=all)
    pairs = np.tril_indices(len(F), -1)
    both = _dissimilarity(F)[pairs], ((Y - Y.T) ** 2 if Y.shape[1] == 1 else _dissimilarity(Y))[pairs]
    if not (len(F) > 2 and np.ptp(both, axis=1).all()):
        raise UserError("features and targets must each differ more between some pairs of samples than between others")
    return float(spearmanr(*both).statistic)


def _dissimilarity(X):
    """1 − Pearson's correlation of the rows of X (n, r), (n, n), rounded: ranks must not see rounding errors."""
    rows = (X - X.mean(1, keepdims=True)) * (np.ptp(X, axis=1, keepdims=True) > 0)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(float).tiny)
    return 1 - (rows @ rows.T).round(12)


def leep(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """LEEP: mean log probability Σ_z P(y|z) θ_z of labels y (Nguyen et al. 2020, arXiv 2002.12462), at most 0.

    probabilities: (n, source classes) θ that the source's classifier gives; P is their joint distribution with labels.
    """
    theta = _columns("probabilities", probabilities)
    kinds, sizes, averaging = _classes(labels, len(theta))
    if (theta < 0).any() or not np.allclose(theta.sum(1), 1, rtol=0, atol=1e-4):  # in single precision, too
        raise UserError("probabilities must not be negative and must have the sum 1 for each sample")
    joint = sizes[:, None] * (averaging @ theta)
    conditional = joint / np.maximum(joint.sum(0), np.finfo(float).tiny)  # source classes of probability 0 add nothing
    return float(np.log((conditional[kinds] * theta).sum(1)).mean())


def nce(source_labels: ArrayLike, labels: ArrayLike) -> float:
    """NCE: minus the conditional entropy H(labels | source_labels) of counts (Tran et al. 2019, arXiv 1908.08142).

    source_labels: (n,) classes of the same samples in the source task, known or guessed by its classifier.
    """
    kinds, sizes, _ = _classes(labels, np.size(labels))
    sources, totals, _ = _classes(source_labels, len(kinds), "source_labels", fewest=1)
    _, pairs, counts = np.unique(sources * len(sizes) + kinds, return_inverse=True, return_counts=True)
    return float(np.log(counts[pairs] / totals[sources]).mean())


def discretise(targets: ArrayLike, bins: int = 5) -> np.ndarray:
    """Classes 0 to bins − 1 (n,), in rising order and of equal size up to one, of numbers (n,): between quantiles.

    So scores of classes, as TransRate, apply to regression. Equal numbers at a quantile are divided in their order.
    """
    values = _columns("targets", targets, varying=all)
    if values.shape[1] != 1 or not 2 <= bins <= len(values):
        raise UserError(f"targets must be one column, and bins from 2 to its {len(values)} samples, got {bins}")
    return np.argsort(np.argsort(values[:, 0], kind="stable")) * bins // len(values)


def _columns(name, values, n=None, varying=None):
    """`values`, (n,) or (n, columns), as float64 (n, columns); UserError, about `name`, unless they are finite numbers.

    `n` is the number of rows required, if any. `varying` is the built-in `any` or `all`: whether one column at least or
    each must vary between samples.
    """
    values = np.asarray(values)
    if values.dtype.kind not in "biuf" or values.ndim not in (1, 2) or not values.size or n not in (None, len(values)):
        raise UserError(f"{name} must be numbers, a row for each sample, got {values.dtype} of shape {values.shape}")
    if not np.isfinite(values).all():
        raise UserError(f"{name} must be finite")
    values = values.reshape(len(values), -1).astype(np.float64)
    if varying and not varying(np.ptp(values, axis=0) > 0):
        raise UserError(f"{name} must vary between samples")
    return values


def _classes(labels, n, name="labels", fewest=2):
    """Classes of n samples: (n,) numbers from 0, (classes,) sizes, and A (classes, n) such that A @ X has class means.

    UserError, about `name`, unless `labels` are n whole numbers of at least `fewest` classes.
    """
    labels = np.asarray(labels)
    if labels.dtype.kind not in "biu" or labels.shape != (n,):
        raise UserError(f"{name} must be {n} whole numbers, got {labels.dtype} of shape {labels.shape}")
    _, kinds, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if len(sizes) < fewest:
        raise UserError(f"{name} must be of two classes or more")
    return kinds, sizes, np.eye(len(sizes))[kinds].T / sizes[:, None]
