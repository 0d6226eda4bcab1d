"""Tables of seeds and tasks, and intervals that count both."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from carryover.crossed import interval, table, usual
from carryover.errors import UserError

TABLES = arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=st.floats(-10, 10, width=16))


def runs(**coordinates):
    count = len(coordinates["seed"])
    return xr.Dataset({"risk": ("run", np.arange(count, dtype=float))}, {k: ("run", v) for k, v in coordinates.items()})


def test_a_table_has_seeds_by_tasks_and_nothing_where_there_is_no_run():
    found = table(runs(seed=[1, 0, 1], task=[7, 7, 3]), "risk")
    assert found.index.tolist() == [0, 1]
    assert found.columns.tolist() == [3, 7]
    np.testing.assert_array_equal(found, [[np.nan, 1], [2, 0]])


def test_several_runs_of_a_seed_and_task_are_named_by_what_differs():
    with pytest.raises(UserError, match="several runs of a task, which differ in samples"):
        table(runs(seed=[0, 0], task=[1, 1], samples=[4, 8], rescale=[1.0, 1.0]), "risk")
    with pytest.raises(UserError, match="differ in nothing"):
        table(runs(seed=[0, 0], task=[1, 1]), "risk")


def draws(values, count=40_000):
    """Means of a table of which rows and columns are drawn anew, one after the other."""
    rng = np.random.default_rng(3)
    rows, columns = (rng.integers(n, size=(count, n)) for n in values.shape)
    return np.nanmean(values[rows[:, :, None], columns[:, None, :]], axis=(1, 2))


def test_ends_are_quantiles_of_tables_whose_rows_and_columns_were_drawn():
    values = np.random.default_rng(0).normal(size=(5, 7)) + 2 * np.arange(5)[:, None]
    values[1, 2] = values[4, 6] = np.nan
    mean, low, high = interval(values, "quantiles")
    assert mean == pytest.approx(np.nanmean(values))
    # Of 2000 draws the 2.5 % quantile is known to about a tenth of a standard deviation.
    np.testing.assert_allclose([low, high], np.quantile(draws(values), [0.025, 0.975]), atol=0.15 * draws(values).std())


def test_intervals_cover_the_mean_where_seeds_and_tasks_both_differ():
    rng = np.random.default_rng(1)
    hits = 0
    for trial in range(200):
        values = rng.normal(size=(12, 1)) + rng.normal(size=(1, 12)) + rng.normal(size=(12, 12))
        _, low, high = interval(values, f"trial {trial}")
        hits += low <= 0 <= high
    # Counting values as independent covers half of them; a percentile bootstrap of 12 by 12 a little less than 95 %.
    assert stats.binomtest(hits, 200, 0.925).pvalue > 0.01


def test_one_task_leaves_an_interval_over_seeds():
    values = np.random.default_rng(2).normal(size=(400, 1))
    _, low, high = interval(values, "one task")
    np.testing.assert_allclose([low, high], values.mean() + np.array([-1.96, 1.96]) * values.std() / 20, atol=0.01)


@given(TABLES, st.floats(-5, 5, width=16))
def test_an_interval_lies_within_the_values_and_moves_with_them(values, shift):
    if values.size == 1:
        return
    mean, low, high = interval(values, "any")
    tiny = 1e-9
    assert values.min() - tiny <= low <= high <= values.max() + tiny
    np.testing.assert_allclose(interval(values + shift, "any"), np.array([mean, low, high]) + shift, atol=1e-9)


def test_too_few_values_have_no_interval():
    assert np.isnan(interval([[np.nan]], "none")).all()
    np.testing.assert_array_equal(interval([[1.5, np.nan]], "one"), [1.5, np.nan, np.nan])


def test_the_usual_value_is_that_of_most_runs():
    runs = xr.Dataset(coords={"learning_rate": ("run", [0.05, 0.01, 0.05, 0.1])})
    assert usual(runs, "learning_rate") == 0.05
