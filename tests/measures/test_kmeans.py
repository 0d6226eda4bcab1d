"""Weighted k-means against scikit-learn's."""

import numpy as np
import pytest
from sklearn.cluster import KMeans, kmeans_plusplus

from carryover.measures import _kmeans


def cloud(seed, points=60, inputs=5):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((points, inputs)), rng.random(points)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("k", [1, 2, 7, 20])
def test_from_the_same_start_rounds_lead_to_the_same_clusters(seed, k):
    points, masses = cloud(seed)
    expected = KMeans(k, init=points[:k], n_init=1, tol=0).fit(points, sample_weight=masses)
    found = _kmeans.fit(points, masses, points[:k])
    np.testing.assert_array_equal(found.labels, expected.labels_)
    np.testing.assert_allclose(found.centers, expected.cluster_centers_)
    assert found.inertia == pytest.approx(expected.inertia_)


def test_starts_are_as_good_as_those_of_the_library_and_fewer_are_the_first():
    def left(points, masses, centers):
        return masses @ ((points[:, None] - centers) ** 2).sum(2).min(1)

    ours, theirs = [], []
    for seed in range(40):
        points, masses = cloud(seed)
        starts = _kmeans.starts(points, masses, 9, np.random.default_rng(seed))
        ours.append(left(points, masses, starts))
        theirs.append(left(points, masses, kmeans_plusplus(points, 9, sample_weight=masses, random_state=seed)[0]))
        np.testing.assert_array_equal(_kmeans.starts(points, masses, 4, np.random.default_rng(seed)), starts[:4])
    assert np.mean(ours) < 1.05 * np.mean(theirs)


def test_a_cluster_that_no_point_is_nearest_to_gets_the_worst_one():
    points, masses = np.array([[0.0], [0.1], [5.0], [9.0]]), np.ones(4)
    found = _kmeans.fit(points, masses, np.array([[0.0], [0.0], [0.0]]))
    assert sorted(found.centers[:, 0]) == pytest.approx([0.05, 5, 9])
    assert found.inertia == pytest.approx(0.005)
