"""Cells of maps against a loop over them, and claims about the atlas, which hold, fail or stay open as its maps say."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import r2_score

from carryover.analysis.atlas import by_seed, cells
from carryover.claims import atlas
from carryover.statistics import jackknife
from toy.atlas_runs import mapped, runs
from toy.made_up_runs import checks_of


def checked(**maps):
    return checks_of("atlas", maps).to_dataframe()


def test_scores_of_cells_are_those_of_a_table_by_hand():
    """Ten decided cells, of which four lose; theory names three, two of them rightly; and one that is not decided."""
    gain = np.array([3.0, 3, 2, 2, 1, 1, -1, -1, -2, -2, 0.1])
    predicted = np.array([2.0, 2, 2, 2, 1, -1, -1, -1, 1, np.inf, np.nan])
    similarity = np.array([9.0, 8, 7, 6, 5, 3, 4, 2, 1, 0, 0])  # above 4 five gain; the best threshold errs once
    right = np.where(np.arange(11) < 10, np.sign(gain) == np.sign(predicted), np.nan)
    table = pd.DataFrame(
        {"gain": gain, "predicted": predicted, "similarity": similarity, "right": right, "setting": 0.0}
    )
    found = atlas.scores(table, -1.0)
    assert found["side"] == 0.7
    assert (found["precision"], found["recall"]) == (2 / 3, 1 / 2)
    assert (found["constant"], found["similarity"]) == pytest.approx((0.1, -0.2))
    fitted = stats.linregress(predicted[:9], gain[:9])  # what is finite
    assert found["slope"] == pytest.approx(fitted.slope)
    assert found["r_squared"] == pytest.approx(r2_score(gain[:9], predicted[:9]))


def test_a_prediction_that_is_right_everywhere_is_not_certain_to_beat_a_constant():
    """All six decided cells are as predicted, three of them lose, and no seed changes that."""
    rows = checked(toy=mapped())
    for name, at_best in (("side", 1.0), ("precision", 1.0), ("recall", 1.0), ("constant", 0.5)):
        row = rows.loc[f"toy_{name}"]
        assert (row["statistic"], row["interval"], row["seeds"]) == (at_best, "none, all seeds are equal", 6)
        assert np.isnan(row["p_value"])
        assert row["verdict"] == ("undecided" if name == "constant" else "holds")
    assert "3 of 9 cells" in rows.loc["toy_side", "statement"]
    assert "gain, the rarer sign" in rows.loc["toy_recall", "statement"]


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


def test_thresholds_come_from_the_other_families():
    """Two families gain above an overlap of a half; all similarities of the third are above it."""
    maps = [mapped(family=name) for name in ("First", "Second", "Third")]
    maps[2]["similarity"] = maps[2]["similarity"] + 2
    found = checks_of("atlas_orders", dict(zip("abc", maps, strict=True))).to_dataframe()["statistic"]
    assert found["left_out_predicted"] == 1.0
    assert found["left_out_similarity"] == pytest.approx((1 + 1 + 0.5) / 3)


def test_what_is_known_of_features_has_a_claim_over_the_families_that_have_all_of_it():
    maps = [mapped(runs(spread=0.3), family=name) for name in ("First", "Second", "Third")]
    for data, sign in zip(maps, (1, -1, 1), strict=True):
        data["probe_r_squared"] = sign * data["predicted"] + 0.1 * data["seed"]
    for data in maps[:2]:
        data["target_alignment"] = data["similarity"]
    found = checks_of("atlas_orders", dict(zip("abc", maps, strict=True))).to_dataframe()
    frames = [data.to_dataframe() for data in maps[:2]]
    for name, column in (("readout", "probe_r_squared"), ("alignment", "target_alignment")):
        expected = np.mean([stats.spearmanr(frame[column], frame["gain"]).statistic for frame in frames])
        assert found.loc[name, "statistic"] == pytest.approx(expected)
    assert "readout of the pretrained features" in found.loc["readout", "statement"]
    assert (
        "readout" not in checks_of("atlas_orders", {"a": maps[0], "c": maps[2]})["claim"]
    )  # one family alone has both


def test_cells_have_means_over_seeds_and_students_interval():
    data = mapped(runs(spread=0.3))
    frame, pairs = by_seed(data), data.to_dataframe()
    table = cells(frame)
    assert len(table) == 9
    for cell in table.itertuples():
        gains = pairs[(pairs["row"] == cell.row) & (pairs["samples"] == cell.samples)]["gain"]
        ends = stats.t.interval(0.95, 5, gains.mean(), stats.sem(gains))
        np.testing.assert_allclose([cell.gain, cell.low, cell.high], [gains.mean(), *ends])
        assert cell.open == (ends[0] < 0 < ends[1])
    assert table["open"].sum() == 3  # at an overlap of a half


@pytest.mark.parametrize(("sign", "share"), [(1, 1.0), (-1, 0.0), (0, 0.0), (1e-8, 0.0), (np.nan, np.nan)])
def test_decided_cells_are_on_the_predicted_side_or_not(sign, share):
    """What is predicted to change nothing is on no side, and wrong where something changes."""
    frame = by_seed(mapped())
    frame["predicted"] *= sign
    right = cells(frame)["right"]
    np.testing.assert_equal(right.mean(), share)
    assert right.notna().sum() == (0 if np.isnan(sign) else 6)
