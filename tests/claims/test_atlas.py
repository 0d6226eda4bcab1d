"""Cells of maps against a loop over them, and claims about the atlas, which hold, fail or stay open as its maps say."""

import numpy as np
import pytest
from scipy import stats

from carryover.claims import atlas
from carryover.statistics import jackknife
from toy.atlas_runs import mapped, runs
from toy.made_up_runs import checks_of


def checked(**maps):
    found = checks_of("atlas", maps)
    return found.to_dataframe()


def test_cells_that_are_all_as_predicted_are_so_many_draws_and_not_certain():
    """Six of six, without each of the seeds, too: the interval is the binomial's, not one without length."""
    row = checked(toy=mapped()).loc["toy_side"]
    expected = stats.binomtest(6, 6, 0.9)
    interval = expected.proportion_ci(method="exact")
    assert (row["statistic"], row["high"], row["seeds"]) == (1.0, 1.0, 6)
    assert row["low"] == pytest.approx(interval.low)
    assert row["p_value"] == pytest.approx(min(1.0, 2 * stats.binom.sf(5, 6, 0.9)))
    assert row["verdict"] == "undecided"
    assert row["interval"] == "Clopper and Pearson's over cells, as if independent"


def test_a_prediction_that_a_constant_guess_equals_tells_nothing():
    data = mapped()
    losses = data["row"] == 0
    assert checked(toy=data).loc["toy_rarer", "seeds"] == 3  # of six decided cells half gain
    data["gain"] = data["gain"].where(~losses, 0.5 + 0.01 * data["seed"])
    data["predicted"] = data["predicted"].where(~losses, -1.0)
    found = checked(toy=data).loc["toy_rarer"]
    assert (found["statistic"], found["seeds"]) == (0.0, 3)
    data["predicted"] = abs(data["predicted"])
    found = checked(toy=data).loc["toy_rarer"]
    assert np.isnan(found["statistic"])
    assert found["verdict"] == "undecided"


def test_a_share_that_hangs_on_one_seed_has_an_interval():
    """Without the last seed the gain of one more cell is decided, and not as predicted."""
    data = mapped(runs(spread=0.0))
    cell, last = (data["row"] == 1) & (data["samples"] == 10), data["seed"] == 5
    data["gain"] = data["gain"].where(~cell, 0.1 + 0.01 * data["seed"]).where(~(cell & last), -0.5)
    data["predicted"] = data["predicted"].where(~cell, -1.0)
    row = checked(toy=data).loc["toy_side"]
    expected = jackknife.estimate([1.0] * 6 + [6 / 7], 0.9)
    assert (row["statistic"], row["high"]) == (1.0, 1.0)
    assert row["low"] == pytest.approx(expected["low"])
    assert row["verdict"] == "undecided"


def test_what_is_known_of_features_has_a_claim_over_the_families_that_have_all_of_it():
    maps = [mapped(runs(spread=0.3), family=name) for name in ("First", "Second", "Third")]
    for data, sign in zip(maps, (1, -1, 1), strict=True):
        data["probe_r_squared"] = sign * data["predicted"] + 0.1 * data["seed"]
    for data in maps[:2]:
        data["target_alignment"] = data["similarity"]
    found = checked(**dict(zip("abc", maps, strict=True)))
    frames = [data.to_dataframe() for data in maps[:2]]
    for name, column in (("readout", "probe_r_squared"), ("alignment", "target_alignment")):
        expected = np.mean([stats.spearmanr(frame[column], frame["gain"]).statistic for frame in frames])
        assert found.loc[name, "statistic"] == pytest.approx(expected)
    assert "readout of the pretrained features" in found.loc["readout", "statement"]
    assert "readout" not in checked(a=maps[0], c=maps[2]).index  # one family alone has both


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
    assert table["decided"].sum() == 6  # at an overlap of a half nothing is


@pytest.mark.parametrize(("sign", "share"), [(1, 1.0), (-1, 0.0), (0, 0.0), (1e-8, 0.0), (np.nan, np.nan)])
def test_decided_cells_are_on_the_predicted_side_or_not(sign, share):
    """What is predicted to change nothing is on no side, and wrong where something changes."""
    frame = atlas.by_seed(mapped())
    frame["predicted"] *= sign
    right = atlas.cells(frame)["right"]
    np.testing.assert_equal(right.mean(), share)
    assert right.notna().sum() == (0 if np.isnan(sign) else 6)
