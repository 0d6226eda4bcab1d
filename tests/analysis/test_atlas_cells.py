"""Cells against a loop over them, rank correlations against SciPy, and what is missing is said."""

import numpy as np
import pytest
from scipy import stats

from carryover.analysis import atlas
from carryover.errors import UserError
from toy.atlas_runs import mapped, runs


def test_cells_have_means_over_seeds_and_students_interval():
    data = mapped(runs(spread=0.3))
    frame, pairs = atlas.by_seed(data), data.to_dataframe()
    table = atlas.cells(frame)
    assert len(table) == 9
    for cell in table.itertuples():
        gains = pairs[(pairs["row"] == cell.row) & (pairs["samples"] == cell.samples)]["gain"]
        ends = stats.t.interval(0.95, 5, gains.mean(), stats.sem(gains))
        np.testing.assert_allclose([cell.gain, cell.low, cell.high], [gains.mean(), *ends])
        assert cell.decided == (ends[0] > 0 or ends[1] < 0)
        assert cell.seeds == 6
    assert table["decided"].sum() == 6  # at an overlap of a half nothing is


def test_draws_of_a_seed_are_no_seeds_of_their_own():
    data = mapped(runs(draw=[0, 1, 2]))
    assert data.sizes["pair"] == 3 * 54
    assert (atlas.cells(atlas.by_seed(data))["seeds"] == 6).all()


@pytest.mark.parametrize(("sign", "share"), [(1, 1.0), (-1, 0.0), (0, 0.0), (1e-8, 0.0), (np.nan, np.nan)])
def test_decided_cells_are_on_the_predicted_side_or_not(sign, share):
    """What is predicted to change nothing is on no side, and wrong where something changes."""
    frame = atlas.by_seed(mapped())
    frame["predicted"] *= sign
    np.testing.assert_equal(atlas.predicted(frame).mean(), share)
    right = atlas.cells(frame)["right"]
    assert right.notna().sum() == (0 if np.isnan(sign) else 6)


@pytest.mark.parametrize("gaining", [4, 3, 2])
def test_cells_that_are_predicted_to_be_on_the_rarer_side_against_a_loop(gaining):
    """Of six decided cells; of as many gains and losses gains are the rarer."""
    frame = atlas.by_seed(mapped(runs(spread=0.0)))
    frame = frame[frame["row"] != 1]
    predictions = [1.0, -1.0, 0.0, 1.0, -1.0, 1.0]
    for number, (row, n) in enumerate((row, n) for row in (0, 2) for n in (10, 20, 40)):
        here = (frame["row"] == row) & (frame["samples"] == n)
        frame.loc[here, "gain"] = (1 if number < gaining else -1) + 0.01 * frame.loc[here, "seed"]
        frame.loc[here, "predicted"] = predictions[number]
    sign = -1.0 if gaining > 3 else 1.0
    expected = [float((number < gaining) == (sign > 0)) for number in range(6) if predictions[number] == sign]
    assert atlas.rarer(frame) == sign
    assert atlas.predicted_to_be(frame, sign).tolist() == expected


def test_rounding_is_no_gain():
    frame = atlas.by_seed(mapped(runs(spread=0.0)))
    frame["gain"] = 1e-9 + 1e-12 * frame["seed"]
    assert not atlas.cells(frame)["decided"].any()


def test_missing_cells_and_seeds_are_named():
    risk = runs()
    assert atlas.missing(atlas.by_seed(mapped(risk))) == []
    cell = (risk["protocol"] == "finetuning") & (risk["overlap"] == 0.5) & (risk["samples"] == 20)
    one = (risk["protocol"] == "single_task") & (risk["overlap"] == 1) & (risk["samples"] == 10) & (risk["seed"] == 4)
    frame = atlas.by_seed(mapped(risk.isel(run=~(cell | one).values)))
    place = {"protocol": "finetuning", "setting": 0.0}
    assert atlas.missing(frame) == [
        ({**place, "row": 1, "samples": 20}, [0, 1, 2, 3, 4, 5]),
        ({**place, "row": 2, "samples": 10}, [4]),
    ]
    table = atlas.cells(frame).set_index(["row", "samples"])
    assert np.isnan(table.loc[1, 20]["gain"])
    assert table.loc[1, 20]["seeds"] == 0
    assert not table.loc[1, 20]["decided"]
    assert table.loc[2, 10]["seeds"] == 5


@pytest.mark.parametrize("weights", [None, [1, 2, 3]])
def test_rank_correlation_is_spearmans_of_points_as_often_as_they_weigh(weights):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, 60).astype(float)
    y = x + rng.normal(size=60) * 4
    x[0], y[1] = np.inf, -np.inf
    count = np.ones(60, int) if weights is None else rng.choice(weights, 60)
    expected = stats.spearmanr(np.repeat(x, count), np.repeat(y, count)).statistic
    assert atlas.rank_correlation(x, y, count) == pytest.approx(expected)
    x = np.append(x, np.nan)
    assert atlas.rank_correlation(x, np.append(y, 1.0), np.append(count, 5)) == pytest.approx(expected)
    assert np.isnan(atlas.rank_correlation(np.ones(4), np.arange(4.0), np.ones(4)))
    assert np.isnan(atlas.rank_correlation([np.nan], [1.0], [1.0]))


def test_what_is_no_map_is_named_by_its_role():
    data = {"one": mapped(runs()), "other": runs()}
    assert atlas.maps({"one": data["one"]}) == {"one": data["one"]}
    with pytest.raises(UserError, match=r"^the data of the role other are no map, such as comparisons.atlas makes\.$"):
        atlas.maps(data)
