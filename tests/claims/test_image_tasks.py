"""Tables of seeds and tasks, and means over seeds that have tasks of their own."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

from carryover.claims.convnets import by_classes, by_task, interval


def runs(**coordinates):
    count = len(coordinates["seed"])
    return xr.Dataset({"risk": ("run", np.arange(count, dtype=float))}, {k: ("run", v) for k, v in coordinates.items()})


def test_a_table_has_seeds_by_tasks_and_nothing_where_there_is_no_run():
    found = by_task(runs(seed=[1, 0, 1], task=[7, 7, 3]), "risk")
    assert found.index.tolist() == [0, 1]
    assert found.columns.tolist() == [3, 7]
    np.testing.assert_array_equal(found, [[np.nan, 1], [2, 0]])


def test_a_seed_counts_once_however_many_of_its_tasks_have_values():
    values = pd.DataFrame([[1.0, 3.0, np.nan], [5.0, np.nan, np.nan], [np.nan] * 3], index=[4, 7, 9])
    expected = stats.ttest_1samp([2, 5], 0).confidence_interval(0.95)
    np.testing.assert_allclose(interval(values), [3.5, expected.low, expected.high])
    np.testing.assert_array_equal(interval(values.iloc[:1]), [2, np.nan, np.nan])


SPREADS = [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (1, 1, 1, 1)]


@pytest.mark.extended
@pytest.mark.parametrize("spread", SPREADS, ids=["seeds", "classes", "pairs", "all"])
def test_a_true_mean_of_all_pairs_of_ten_classes_is_missed_in_one_of_twenty_whatever_varies(spread):
    """Six seeds leave out five classes each, with three pairs of these; the mean is that of all 45 pairs."""
    rng, trials, missed = np.random.default_rng(1), 1500, 0
    first, second = np.triu_indices(10, 1)
    for _ in range(trials):
        of_seed, of_class, of_pair, of_run = (size * rng.normal(size=shape) for size, shape in
                                              zip(spread, (6, 10, 45, (6, 3)), strict=True))  # fmt: skip
        effect = of_class[first] + of_class[second] + of_pair
        left = [rng.choice(10, 5, replace=False) for _ in range(6)]
        own = [np.flatnonzero(np.isin(first, some) & np.isin(second, some)) for some in left]
        drawn = np.array([effect[rng.choice(pairs, 3, replace=False)] for pairs in own])
        _, low, high = interval(pd.DataFrame(drawn + of_seed[:, None] + of_run))
        missed += not low <= effect.mean() <= high
    assert 0.03 < missed / trials < 0.075


def of_classes(*classes):
    data = xr.Dataset({"risk_final": ("run", np.arange(len(classes)))})
    return data.assign_coords(target_classes=("run", list(classes)))


def test_each_number_of_classes_is_a_system_of_its_own():
    data = of_classes("5 6 7 8 9", "5 6", "7 9", "4 5 6")
    found = by_classes("vgg", data)
    assert list(found) == ["vgg_pairs", "vgg_3_classes", "vgg_5_classes"]
    assert [system["risk_final"].values.tolist() for system in found.values()] == [[1, 2], [3], [0]]
