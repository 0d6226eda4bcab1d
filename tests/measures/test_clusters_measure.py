"""The measure of clusters on datasets of hand-made networks."""

import numpy as np
import pytest
import xarray as xr

from carryover.config.parameters import model_of
from carryover.errors import UserError
from carryover.measures import clusters
from carryover.measures.clusters import effective_clusters, inertia
from toy.students import built, noisy

FRAME = np.linalg.qr(np.random.default_rng(0).standard_normal((8, 8)))[0]


def networks(copies=4):
    """Three runs in 8 inputs: a student of its main teacher, one of an auxiliary task, one of half of the main units.

    The third run's teacher has two units, which the others' third one exceeds: its array is filled up with NaN.
    """
    named = {"long_name": "made for a test", "units": "1"}
    main, auxiliary = FRAME[:3], FRAME[2:6]  # one unit shared
    parts = [
        built(teacher, copies * 12 // len(teacher), seed) for seed, teacher in enumerate((main, auxiliary, main[:2]))
    ]
    directions = np.stack([main] * 3)
    directions[2, 2] = np.nan
    return xr.Dataset(
        {
            "first": (("run", "unit", "input"), np.stack([first for first, _ in parts]).astype(np.float32), named),
            "second": (("run", "output", "unit"), np.stack([second for _, second in parts]).astype(np.float32), named),
            "teacher_directions": (("run", "teacher_unit", "input"), directions, named),
            "teacher_readout": (("run", "teacher_unit"), [[1.0, -1, 1], [1, 1, 1], [1, 1, 0]], named),
            "auxiliary_directions": (("run", "auxiliary_unit", "input"), np.stack([auxiliary] * 3), named),
            "auxiliary_readout": (("run", "auxiliary_unit"), np.ones((3, 4)), named),
        },
        coords={
            "seed": ("run", [5, 6, 7], named),
            "protocol": ("run", ["single_task", "finetuning_kernel", "single_task"], named),
            "output": ("output", ["main"], named),
        },
    )


PARAMETERS = model_of("measures", "clusters")(largest_k=6)


def test_measure_compares_networks_with_their_main_teachers():
    measured = clusters.measure(networks(), PARAMETERS)
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
    measured = clusters.measure(data, PARAMETERS)
    assert float(measured["alignment"][0]) == pytest.approx(1, abs=1e-6)  # six: three and four, one of them shared
    assert float(measured["alignment_by_clusters"][0, 2]) < 0.9
    assert float(measured["inertia"][0, 4]) > 0.01
    fewer = clusters.measure(data, model_of("measures", "clusters")(largest_k=4))
    assert float(fewer["alignment"][0]) == float(measured["alignment_by_clusters"][0, 3])


def test_further_numbers_leave_the_others_as_they_are_and_are_as_good_as_each_alone():
    W, weights = noisy(6, 8, units=48)
    data = networks().isel(run=[0]).drop_dims(["unit"]).assign(
        first=(("run", "unit", "input"), W[None]),
        second=(("run", "output", "unit"), (weights / np.linalg.norm(W, axis=1))[None, None]),
    )  # fmt: skip
    few, more = (
        clusters.measure(data, model_of("measures", "clusters")(largest_k=6, further_k=k)) for k in ((), (8, 24, 40))
    )
    assert more["clusters"].values.tolist() == [1, 2, 3, 4, 5, 6, 8, 24, 40]
    xr.testing.assert_equal(few["inertia"], more["inertia"].isel(clusters=slice(6)))
    for k in (8, 24, 40):
        best = inertia(W, weights, k, 0, restarts=20)
        assert best * 0.999 <= float(more["inertia"].sel(clusters=k)[0]) <= best * 1.05 + 1e-12
    expected = effective_clusters(more["inertia"].values, more["clusters"].values)
    np.testing.assert_array_equal(more["effective_clusters"], expected)
    for wrong in ((6,), (24, 8)):
        with pytest.raises(UserError, match="further_k must rise from above largest_k, 6, not"):
            clusters.measure(data, model_of("measures", "clusters")(largest_k=6, further_k=wrong))
    with pytest.raises(UserError, match="further_k is 49, but the networks have 48 units"):
        clusters.measure(data, model_of("measures", "clusters")(largest_k=6, further_k=(49,)))
