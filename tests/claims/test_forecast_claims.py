"""Forecasts beside gains: which transfers are decided, what predictors get right, and what the claims say of it."""

import numpy as np
import pandas as pd
import pytest

from carryover.analysis import forecasts
from carryover.analysis.atlas import best_threshold
from carryover.figures.tables.forecasts import forecasts as table_of
from toy.forecast_runs import GRID, PROTOCOLS, transferred
from toy.made_up_runs import checks_of


def test_transfers_are_those_of_all_runs_and_halves_are_of_whole_settings():
    data = transferred().to_dataframe()
    assert len(data) == 6 * len(PROTOCOLS) * np.prod([len(values) for values in GRID.values()])
    np.testing.assert_allclose(data["gain"], data["predicted"])
    np.testing.assert_allclose(data["score"], data["forecast"])
    halves = data.groupby(["protocol", "setting"])["half"].agg(["nunique", "first"])
    assert (halves["nunique"] == 1).all()
    assert halves.groupby("protocol")["first"].sum().tolist() == [2, 2]


def test_claims_count_decided_transfers_of_the_reported_half():
    rows = checks_of("forecast", {"one": transferred(), "other": transferred("Other", width=0.2)}).to_dataframe()
    assert rows.loc[["finetuning_right", "linear_transfer_covered"], "statistic"].tolist() == [1.0, 1.0]
    # At .25 the forecast is .15 from 0: undecided where the interval is twice as wide.
    table = forecasts.transfers({"one": transferred(), "other": transferred("Other", width=0.2)})
    reported = table[(table["half"] == 1) & table["tuned"]]
    assert rows.loc["finetuning_undecided", "statistic"] == pytest.approx(
        ((reported["family"] == "Other") & (reported["gain"].abs() < 0.2)).mean()
    )


def test_wrong_forecasts_count_and_thresholds_are_chosen_on_the_other_half():
    data = {"one": transferred(wrong=(1.0,)), "other": transferred("Other")}
    table = forecasts.transfers(data)
    known = forecasts.right(table)
    assert known[table["half"] == 0].isna().all(axis=None)
    reported = table["half"] == 1
    assert (
        known.loc[reported, forecasts.OURS].mean()
        == ((table["family"] == "Other") | (table["setting"].map(lambda text: "overlap 1.0" not in text)))[
            reported
        ].mean()
    )
    assert known.loc[reported, "logme_beyond"].all()
    assert (known["parc"] == known[forecasts.CONSTANT])[reported].all()  # it has no value
    texts = table_of(data).set_index("predictor")
    assert texts.loc["LogME, beyond features drawn anew", "finetuning, right"].startswith("1.00")
    assert texts.loc[forecasts.NAMES[forecasts.CONSTANT], "finetuning, order"] == ""


def test_the_best_threshold_is_that_of_trying_all():
    rng = np.random.default_rng(0)
    for _ in range(20):
        values = pd.Series(rng.integers(0, 5, 30).astype(float))
        gains = pd.Series(rng.random(30) < 0.2 + 0.15 * values)
        tried = {cut: ((values > cut) == gains).sum() for cut in [-np.inf, *values.unique()]}
        table = pd.DataFrame({"value": values, "gain": np.where(gains, 1.0, -1.0)})
        assert tried[best_threshold([table], "value").item()] == max(tried.values())
