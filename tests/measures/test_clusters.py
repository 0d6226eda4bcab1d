"""Clusters of hand-made networks, against all partitions, closed forms and many random starts."""

import numpy as np
import pytest

from carryover.measures.clusters import alignment, cluster_centers, effective_clusters, importance, inertia
from toy.students import built, noisy, student, unit


def partitions(items, most):
    """Every way to sort `items` things into at most `most` sets: a set's number for each."""
    if items == 0:
        yield ()
        return
    for start in partitions(items - 1, most):
        for label in range(min(max(start, default=-1) + 2, most)):
            yield (*start, label)


def best_partition(W, weights, k):
    """Smallest inertia of all, from squared distances within sets: no centre is computed."""
    squared = 2 - 2 * unit(W) @ unit(W).T
    paired = weights[:, None] * weights * squared / 2
    best = np.inf
    for labels in partitions(len(W), k):
        labels = np.array(labels)
        sets = [labels == label for label in set(labels)]
        best = min(best, sum(paired[np.ix_(some, some)].sum() / weights[some].sum() for some in sets))
    return best / weights.sum()


@pytest.mark.parametrize(("units", "inputs", "seed"), [(5, 3, 0), (6, 2, 1), (7, 4, 2), (7, 3, 3)])
def test_no_partition_is_better(units, inputs, seed):
    W, weights = student(units, inputs, seed)
    for k in range(1, units + 1):
        assert inertia(W, weights, k, 0, restarts=20) == pytest.approx(best_partition(W, weights, k), abs=1e-12), k


@pytest.mark.parametrize("features", [1, 3, 6])
def test_a_student_built_from_its_teacher_is_explained_by_as_many_clusters(features):
    teacher = unit(np.random.default_rng(features).standard_normal((features, 8)))
    first, second = built(teacher)
    weights = importance(first, second)
    assert inertia(first, weights, features, 0) <= 1e-12
    assert alignment(cluster_centers(first, weights, features, 0), teacher) == pytest.approx(1, abs=1e-12)
    if features > 1:
        assert inertia(first, weights, features - 1, 0) > 1e-3
        assert alignment(cluster_centers(first, weights, features - 1, 0), teacher) < 0.999
    random = np.random.default_rng(9).standard_normal(first.shape)
    if features > 1:
        assert inertia(random, weights, features, 0) > 0.05
        assert alignment(cluster_centers(random, weights, features, 0), teacher) < 0.95


def test_importance_joins_the_readouts_of_all_outputs():
    first, second = np.array([[3.0, 4], [0, 0], [1, 0]]), np.array([[1.0, 7, 0], [2, 7, 0], [2, 7, 0]])
    np.testing.assert_allclose(importance(first, second), [15, 0, 0])
    np.testing.assert_allclose(importance(np.stack([first] * 2), np.stack([second] * 2)), [[15, 0, 0]] * 2)


W, WEIGHTS = student(4, 3)
BAD = {
    "k must be from 1 to the number of units, 4, got 5": (W, WEIGHTS, 5),
    "weights must be finite, not negative, and not all zero": [
        (W, values, 2) for values in (np.zeros(4), [1, 1, -1, 1], [1, np.nan, 1, 1], [1, np.inf, 1, 1])
    ],
    "W must have no row of zeros with a positive weight": (W * [[1], [1], [0], [1]], WEIGHTS, 2),
    "W and weights must have the shapes (units, input) and (units,), got (4, 3) and (3,)": (W, WEIGHTS[:3], 2),
}


@pytest.mark.parametrize(
    ("message", "arguments"),
    [(message, one) for message, some in BAD.items() for one in (some if isinstance(some, list) else [some])],
)
def test_what_has_no_clusters_is_refused(message, arguments):
    for function in (inertia, cluster_centers):
        with pytest.raises(ValueError) as raised:  # noqa: PT011
            function(*arguments, seed=0)
        assert str(raised.value) == message


def test_alignment_is_the_mean_over_teacher_units_of_the_best_cosine():
    rng = np.random.default_rng(0)
    centers, teacher = rng.standard_normal((4, 5)), rng.standard_normal((3, 5))
    best = [max(sum(c * t) / (sum(c * c) * sum(t * t)) ** 0.5 for c in centers) for t in teacher]
    assert alignment(centers, teacher) == pytest.approx(sum(best) / 3, rel=1e-12)
    assert alignment(centers * [[2], [3], [4], [5]], 7 * teacher) == pytest.approx(sum(best) / 3, rel=1e-12)
    assert alignment(-np.eye(2), [[1, 1]]) == pytest.approx(-(0.5**0.5))
    assert alignment([[0, 0], [-1, 0]], [[1, 0]]) == 0


def test_the_effective_number_counts_equal_features_and_hardly_the_background():
    for features in (1, 5, 12):
        curve = np.clip(1 - np.arange(1, 15) / features, 0, 1)
        assert effective_clusters(curve) == pytest.approx(features, rel=1e-12)
    assert effective_clusters([0.25, 0]) == pytest.approx(1 / (0.75**2 + 0.25**2))
    np.testing.assert_allclose(effective_clusters([[0.5, 0], [0, 0]]), [2, 1])
    assert np.isnan(effective_clusters([1.0, 1.0]))
    straight = 1 - np.arange(1, 13) / 12
    assert effective_clusters(straight[[0, 1, 3, 11]], [1, 2, 4, 12]) == pytest.approx(12)
    for features in (1, 6, 9, 12):
        W, weights = noisy(features, 15)
        curve = [inertia(W, weights, k, 0) for k in range(1, 13)]
        assert features - 0.5 < effective_clusters(curve) < features + 1
        assert min(curve) > 0.045  # so a threshold that tells eleven features from twelve, 1/12, is no better
