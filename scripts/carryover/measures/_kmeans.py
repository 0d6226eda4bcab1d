"""Weighted k-means of a few hundred points, where a general library's checks of its input cost ten times the work."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_MOST = 300  # rounds, of which a dozen is common


@dataclass(frozen=True)
class Clusters:
    centers: np.ndarray  # (k, input), mean points of the clusters
    labels: np.ndarray  # (points,)
    inertia: float  # Σ masses |point − centre|²


def starts(points: np.ndarray, masses: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """k of the points (points, input) by greedy k-means++ (Arthur & Vassilvitskii 2007); of fewer they are the first.

    Each is drawn in proportion to its mass and squared distance from those before, a few times, and the one kept that
    brings all points nearest to their centres.
    """
    chosen = [int(rng.choice(len(points), p=masses / masses.sum()))]
    nearest = _squares(points, points[chosen])[0]
    for size in range(2, k + 1):
        shares = np.cumsum(masses * nearest)
        drawn = np.searchsorted(shares, rng.random(2 + int(np.log(size))) * shares[-1])
        candidates = drawn.clip(max=len(points) - 1)
        left = np.minimum(nearest, _squares(points, points[candidates]))
        best = (left @ masses).argmin()
        chosen.append(int(candidates[best]))
        nearest = left[best]
    return points[chosen]


def fit(points: np.ndarray, masses: np.ndarray, centers: np.ndarray) -> Clusters:
    """Where Lloyd's rounds lead from these centres (k, input); an empty cluster gets the point that is worst off."""
    numbers, labels = np.arange(len(centers))[:, None], np.full(len(points), -1)
    for _ in range(_MOST):
        scores = centers @ points.T
        scores -= (centers * centers).sum(1)[:, None] / 2
        before, labels = labels, scores.argmax(0)
        shares = np.where(labels == numbers, masses, 0.0)
        sums = shares.sum(1)
        if not sums.all():
            labels, shares = _without_empty(points, masses, centers, labels, sums == 0)
            sums = shares.sum(1)
        elif (labels == before).all():
            break
        centers = shares @ points / sums[:, None]
    return Clusters(centers, labels, float(masses @ ((points - centers[labels]) ** 2).sum(1)))


def _without_empty(points, masses, centers, labels, empty):
    """Labels in which each empty cluster has one point, of those that cost most, and the masses (k, points) in each."""
    labels, numbers = labels.copy(), np.arange(len(centers))
    for cluster in np.flatnonzero(empty):
        costs = masses * ((points - centers[labels]) ** 2).sum(1)
        alone = np.bincount(labels, minlength=len(centers))[labels] == 1
        labels[np.where(alone, -1.0, costs).argmax()] = cluster
    return labels, np.where(labels == numbers[:, None], masses, 0.0)


def _squares(points, centers):
    """Squared distances (k, points), not below 0."""
    products = (points * points).sum(1) - 2 * centers @ points.T + (centers * centers).sum(1)[:, None]
    return products.clip(min=0)
