"""Cells against a loop over them, and what is missing is said."""

import numpy as np
import pytest
from scipy import stats

from carryover.claims import atlas
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


@pytest.mark.parametrize(("sign", "share"), [(1, 1.0), (-1, 0.0), (0, 0.0), (1e-8, 0.0), (np.nan, np.nan)])
def test_decided_cells_are_on_the_predicted_side_or_not(sign, share):
    """What is predicted to change nothing is on no side, and wrong where something changes."""
    frame = atlas.by_seed(mapped())
    frame["predicted"] *= sign
    np.testing.assert_equal(atlas.predictable(frame)["right"].mean(), share)
    right = atlas.cells(frame)["right"]
    assert right.notna().sum() == (0 if np.isnan(sign) else 6)


def test_rounding_is_no_gain():
    frame = atlas.by_seed(mapped(runs(spread=0.0)))
    frame["gain"] = 1e-9 + 1e-12 * frame["seed"]
    assert not atlas.cells(frame)["decided"].any()


def test_cells_without_runs_have_no_gain_and_others_count_their_seeds():
    risk = runs()
    cell = (risk["protocol"] == "finetuning") & (risk["overlap"] == 0.5) & (risk["samples"] == 20)
    one = (risk["protocol"] == "single_task") & (risk["overlap"] == 1) & (risk["samples"] == 10) & (risk["seed"] == 4)
    frame = atlas.by_seed(mapped(risk.isel(run=~(cell | one).values)))
    table = atlas.cells(frame).set_index(["row", "samples"])
    assert np.isnan(table.loc[1, 20]["gain"])
    assert table.loc[1, 20]["seeds"] == 0
    assert not table.loc[1, 20]["decided"]
    assert table.loc[2, 10]["seeds"] == 5
