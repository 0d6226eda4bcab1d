"""Clusters of hand-made networks, against all partitions, closed forms and many random starts."""

import numpy as np
import pytest
import xarray as xr

from carryover.config.plugins import model_of
from carryover.errors import UserError
from carryover.measures import clusters
from carryover.measures.clusters import alignment, effective_clusters, inertia
from carryover.networks.relu import Weights
from toy import made_up_networks
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


def test_importance_joins_the_readouts_of_all_outputs():
    first, second = np.array([[3.0, 4], [0, 0], [1, 0]]), np.array([[1.0, 7, 0], [2, 7, 0], [2, 7, 0]])
    np.testing.assert_allclose(Weights(first, second).importance(), [15, 0, 0])
    np.testing.assert_allclose(Weights.stack([Weights(first, second)] * 2).importance(), [[15, 0, 0]] * 2)


W, WEIGHTS = student(4, 3)


@pytest.mark.parametrize(
    ("W", "weights", "k", "message"),
    [
        (W, WEIGHTS, 5, "k must be from 1 to the number of units, 4, got 5"),
        (W, [1, 1, -1, 1], 2, "weights must be finite, not negative, and not all zero"),
        (W, [1, np.nan, 1, 1], 2, "weights must be finite, not negative, and not all zero"),
        (W, np.zeros(4), 2, "weights must be finite, not negative, and not all zero"),
        (W * [[1], [1], [0], [1]], WEIGHTS, 2, "W must have no row of zeros with a positive weight"),
        (W, WEIGHTS[:3], 2, r"W and weights must have the shapes .*, got \(4, 3\) and \(3,\)"),
    ],
)
def test_what_has_no_clusters_is_refused(W, weights, k, message):
    with pytest.raises(ValueError, match=message):
        inertia(W, weights, k, seed=0)


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


FRAME = np.linalg.qr(np.random.default_rng(0).standard_normal((8, 8)))[0]


def networks(copies=4):
    """Three runs in 8 inputs: a student of its main teacher, one of an auxiliary task, one of half of the main units.

    The third run's teacher has two units, which the others' third one exceeds: its array is filled up with NaN.
    """
    main, auxiliary = FRAME[:3], FRAME[2:6]  # one unit shared
    parts = [
        built(teacher, copies * 12 // len(teacher), seed) for seed, teacher in enumerate((main, auxiliary, main[:2]))
    ]
    directions = np.stack([main] * 3)
    directions[2, 2] = np.nan
    variables = {
        "first": np.stack([first for first, _ in parts]).astype(np.float32),
        "second": np.stack([second for _, second in parts]).astype(np.float32),
        "teacher_directions": directions,
        "teacher_readout": [[1.0, -1, 1], [1, 1, 1], [1, 1, 0]],
        "auxiliary_directions": np.stack([auxiliary] * 3),
        "auxiliary_readout": np.ones((3, 4)),
    }
    return made_up_networks.networks(variables, protocol=["single_task", "finetuning_kernel", "single_task"])


PARAMETERS = model_of("measures", "clusters")(largest_k=6)


def test_measure_compares_networks_with_their_main_teachers():
    measured = clusters.clusters(networks(), PARAMETERS)
    for run, features in enumerate((3, 4, 2)):
        assert measured["inertia"].values[run, features - 1] < 1e-12
        assert measured["inertia"].values[run, features - 2] > 0.01
    assert measured["alignment"].values == pytest.approx([1, 1 / 3, 1], abs=1e-6)  # run 1 has one of the three
    assert measured["alignment_by_clusters"].values[:, -1] == pytest.approx([1, 1 / 3, 1], abs=1e-6)
    assert measured["alignment_by_clusters"].values[0, 0] < 0.9
    np.testing.assert_array_equal(measured["effective_clusters"], effective_clusters(measured["inertia"].values))
    assert measured["clusters"].values.tolist() == [1, 2, 3, 4, 5, 6]


def test_a_network_of_two_tasks_is_aligned_with_as_many_clusters_as_both_have_features():
    data = networks().isel(run=[0])
    first, second = built(FRAME[:6], 8)
    data = data.drop_dims(["unit", "output"]).assign(
        first=(("run", "unit", "input"), first[None].astype(np.float32)),
        second=(("run", "output", "unit"), np.stack([second, second], axis=1).astype(np.float32)),
    )
    measured = clusters.clusters(data, PARAMETERS)
    assert float(measured["alignment"][0]) == pytest.approx(1, abs=1e-6)  # six: three and four, one of them shared
    assert float(measured["alignment_by_clusters"][0, 2]) < 0.9
    assert float(measured["inertia"][0, 4]) > 0.01
    fewer = clusters.clusters(data, model_of("measures", "clusters")(largest_k=4))
    assert float(fewer["alignment"][0]) == float(measured["alignment_by_clusters"][0, 3])


def test_further_numbers_leave_the_others_as_they_are_and_are_as_good_as_each_alone():
    W, weights = noisy(6, 8, units=48)
    data = networks().isel(run=[0]).drop_dims(["unit"]).assign(
        first=(("run", "unit", "input"), W[None]),
        second=(("run", "output", "unit"), (weights / np.linalg.norm(W, axis=1))[None, None]),
    )  # fmt: skip
    few, more = (
        clusters.clusters(data, model_of("measures", "clusters")(largest_k=6, further_k=k)) for k in ((), (8, 24, 40))
    )
    assert more["clusters"].values.tolist() == [1, 2, 3, 4, 5, 6, 8, 24, 40]
    xr.testing.assert_equal(few["inertia"], more["inertia"].isel(clusters=slice(6)))
    for k in (8, 24, 40):
        best = inertia(W, weights, k, 0, restarts=20)
        assert best * 0.999 <= float(more["inertia"].sel(clusters=k)[0]) <= best * 1.05 + 1e-12
    expected = effective_clusters(more["inertia"].values, more["clusters"].values)
    np.testing.assert_array_equal(more["effective_clusters"], expected)
    with pytest.raises(UserError, match="must not exceed 48, the networks' units; got 49"):
        clusters.clusters(data, model_of("measures", "clusters")(largest_k=6, further_k=(49,)))
