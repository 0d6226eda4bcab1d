"""Tables of seeds and tasks, and intervals that count both."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from carryover.analysis import two_way
from carryover.analysis.two_way import errors, interval, p_value, table, usual
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


def test_the_p_value_is_the_largest_of_t_tests_over_seeds_over_tasks_and_of_welchs_on_both():
    values = np.random.default_rng(0).normal(size=(3, 4)) + 1
    seeds, tasks = values.mean(axis=1), values.mean(axis=0)
    # Welch's test adds the squared errors of two samples, as min F' does, with the same degrees of freedom.
    both = stats.ttest_ind(seeds, tasks - values.mean() + 0.25, equal_var=False)
    alone = [stats.ttest_1samp(means, 0.25) for means in (seeds, tasks)]
    assert p_value(values, 0.25) == pytest.approx(max(found.pvalue for found in (*alone, both)))
    ends = [found.confidence_interval(0.95) for found in alone]
    half = max([(found.high - found.low) / 2 for found in ends] + [both.confidence_interval(0.95).high - seeds.mean()
                                                                  + 0.25])  # fmt: skip
    np.testing.assert_allclose(interval(values), values.mean() + np.array([0, -half, half]))


@pytest.mark.parametrize("shape", [(3, 1), (3, 4), (3, 8), (10, 8)], ids=str)
@pytest.mark.parametrize("spread", [(1, 0, 0), (1, 1, 0), (2, 1, 1), (0, 0, 1)], ids=str)
def test_a_true_bound_is_refused_no_more_often_than_said(shape, spread):
    rng, trials = np.random.default_rng(1), 1500
    (count, tasks), (seed, task, run) = shape, spread
    drawn = seed * rng.normal(size=(trials, count, 1)) + run * rng.normal(size=(trials, count, tasks))
    drawn += (task if tasks > 1 else 0) * rng.normal(size=(trials, 1, tasks))
    refused = sum(p_value(values, 0.0) < 0.05 for values in drawn)
    assert stats.binomtest(refused, trials, 0.05, alternative="greater").pvalue > 0.01
    if not task and not run:  # then it is the t-test over seeds
        assert stats.binomtest(refused, trials, 0.05, alternative="less").pvalue > 0.01


def test_missing_values_leave_the_level():
    rng, trials = np.random.default_rng(2), 2000
    drawn = rng.normal(size=(trials, 5, 1)) + rng.normal(size=(trials, 1, 6)) + rng.normal(size=(trials, 5, 6))
    drawn[rng.random(drawn.shape) < 0.3] = np.nan
    refused = sum(p_value(values, 0.0) < 0.05 for values in drawn)
    assert stats.binomtest(refused, trials, 0.05, alternative="greater").pvalue > 0.01


def test_seeds_and_tasks_without_a_value_do_not_count():
    values = np.random.default_rng(3).normal(size=(3, 4))
    more = np.pad(values, ((0, 1), (1, 0)), constant_values=np.nan)
    np.testing.assert_allclose(interval(more), interval(values))
    assert p_value(more, 1.0) == pytest.approx(p_value(values, 1.0))


@pytest.mark.parametrize("turned", [False, True])
def test_one_task_leaves_a_t_test_over_seeds_and_one_seed_over_tasks(turned):
    values = np.random.default_rng(2).normal(size=(5, 1))
    expected = stats.ttest_1samp(values[:, 0], 0.5)
    values = values.T if turned else values
    assert p_value(values, 0.5) == pytest.approx(expected.pvalue)
    np.testing.assert_allclose(interval(values)[1:], expected.confidence_interval(0.95))
    assert list(errors(values)[1]) == (["tasks"] if turned else ["seeds"])


@given(TABLES, st.floats(-5, 5, width=16), st.floats(-10, 10))
def test_intervals_move_with_the_values_and_agree_with_p_values(values, shift, bound):
    mean, low, high = interval(values)
    np.testing.assert_allclose(interval(values + shift), np.array([mean, low, high]) + shift, atol=1e-9)
    np.testing.assert_allclose(interval(values.T), [mean, low, high], atol=1e-9)
    p = p_value(values, bound)
    if values.size > 1 and abs(p - 0.05) > 1e-6:
        assert (p < 0.05) == (not low <= bound <= high)


@pytest.mark.parametrize(("bound", "expected"), [(0.1, 1.0), (0.0, 0.0)])
def test_values_without_spread_are_their_own_interval(bound, expected):
    values = np.full((3, 4), 0.1)
    assert interval(values) == (0.1, 0.1, 0.1)
    assert p_value(values, bound) == expected


def test_too_few_values_have_no_interval():
    assert np.isnan([*interval([[np.nan]]), p_value([[np.nan]], 0.0)]).all()
    np.testing.assert_array_equal(interval([[1.5, np.nan]]), [1.5, np.nan, np.nan])
    assert np.isnan(p_value([[1.5, np.nan]], 0.0))


def test_the_usual_value_is_that_of_most_runs():
    runs = xr.Dataset(coords={"learning_rate": ("run", [0.05, 0.01, 0.05, 0.1])})
    assert usual(runs, "learning_rate") == 0.05


def test_a_claim_has_the_spread_of_the_seeds_means_and_of_the_tasks_means():
    values = np.random.default_rng(0).normal(size=(3, 5))
    found = two_way.estimate(values, "it is", 0.0)
    assert found["deviation"] == pytest.approx(values.mean(axis=1).std(ddof=1))
    assert found["task_deviation"] == pytest.approx(values.mean(axis=0).std(ddof=1))
    alone = two_way.estimate(values[:, :1], "it is", 0.0)
    assert alone["deviation"] == pytest.approx(values[:, 0].std(ddof=1))
    assert np.isnan(alone["task_deviation"])
