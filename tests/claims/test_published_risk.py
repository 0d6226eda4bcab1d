"""Agreement with the published risks: z-scores worked out by hand, and shares of cells on runs made to agree or not."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from carryover.claims import agreement
from toy.made_up_runs import checks_of

TABLE = pd.read_csv(Path(__file__).resolve().parents[2] / "resources/published/feature-reuse-risk.csv")
NESTED = TABLE[(TABLE["family"] == "diagonal") & (TABLE["experiment"] == "nested")]
CELL = {"experiment": "nested", "protocol": "finetuning", "main_features": 40, "overlap": 0.5, "rescale": 1.0,
        "samples": 16}  # fmt: skip


def test_moments_are_those_of_sampled_log_normals():
    for mu, sigma in ((-3.0, 0.1), (0.5, 0.8), (2.0, 1.1)):
        logs = mu + sigma * np.random.default_rng(0).standard_normal(400_000)
        found = agreement.log_moments(np.exp(logs).mean(), np.exp(logs).std())
        np.testing.assert_allclose(found, (mu, sigma), atol=0.02)


def test_z_is_the_difference_of_mean_logs_in_standard_errors():
    theirs = pd.DataFrame([{"family": "diagonal", **CELL, "risk_mean": 0.3, "risk_std": 0.15, "seeds": 6}])
    ours = pd.DataFrame([{**CELL, "seed": s, "risk_final": r} for s, r in enumerate((0.2, 0.4, 0.3))])
    data = {"published": theirs, CELL["experiment"]: ours.drop(columns="experiment").to_xarray()}
    (row,) = agreement.z_scores(data, "diagonal", "risk_final").itertuples()
    logs = np.log([0.2, 0.4, 0.3])
    variance = np.log(1 + 0.25)  # (.15/.3)²
    mu = np.log(0.3) - variance / 2
    assert row.z == pytest.approx((logs.mean() - mu) / np.sqrt(variance / 6 + logs.var(ddof=1) / 3), rel=1e-12)
    assert (row.ours, row.published) == pytest.approx(((0.2 * 0.4 * 0.3) ** (1 / 3), np.exp(mu)), rel=1e-12)


def runs(**factors):
    """Two seeds at every nested cell of some protocols; {protocol: factors on its published risk, (last, smallest)}."""
    rows = NESTED[NESTED["protocol"].isin(factors)].merge(
        pd.DataFrame({"seed": [0, 1], "spread": [0.8, 1.25]}), "cross"
    )
    risks = np.array([factors[protocol] for protocol in rows["protocol"]]) * rows[["risk_mean"]].to_numpy()
    names = [*agreement.CELLS["diagonal"], "seed"]
    return xr.Dataset(
        {name: ("run", risks[:, place] * rows["spread"]) for place, name in enumerate(agreement.RISKS)},
        {name: ("run", rows[name]) for name in names},
    )


def test_the_smallest_risk_counts_where_there_is_one_and_the_last_elsewhere(monkeypatch):
    monkeypatch.setattr(agreement, "FLOOR", 1e-12)
    data = runs(single_task=(30.0, 1.0), finetuning=(30.0, 30.0), single_task_probe=(1.0, np.nan))
    table = checks_of("published_risk", {"published": TABLE, "nested": data}).to_dataframe()
    found, many = table["statistic"], NESTED["protocol"].value_counts()
    assert found["scratch"] == found["probes"] == 1
    assert found["finetuned"] < 0.1
    agree = many["single_task"] + many["single_task_probe"] + found["finetuned"] * many["finetuning"]
    assert found["all"] == pytest.approx(agree / (agree + (1 - found["finetuned"]) * many["finetuning"]))
    assert found["smallest"] == pytest.approx(many["single_task"] / (many["single_task"] + many["finetuning"]), abs=0.1)
    verdicts = table["verdict"][["scratch", "probes", "smallest", "finetuned"]]
    assert verdicts.tolist() == ["holds", "holds", "holds", "fails"]
    assert "kernels" not in found
