"""Agreement with the published risks: z-scores worked out by hand, and shares of cells on runs made to agree or not."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

from carryover.claims import agreement
from toy.made_up_runs import checks_of

TABLE = pd.read_csv(Path(__file__).resolve().parents[2] / "resources/published/feature-reuse-seeds.csv")
NESTED = TABLE[TABLE["published"].isin(["diagonal_nested", "diagonal_rescaled"])].assign(experiment="nested")
CELL = {"experiment": "nested", "protocol": "finetuning", "main_features": 40, "overlap": 0.5, "rescale": 1.0,
        "samples": 16}  # fmt: skip


def test_z_is_that_of_welch_on_the_logarithms():
    theirs, ours = (0.3, 0.25, 0.5, 0.31), (0.2, 0.4, 0.3)
    table = pd.DataFrame([{**CELL, "published": "diagonal_nested", "unit_correlations": None, "seed": s, "risk": r}
                          for s, r in enumerate(theirs)])  # fmt: skip
    runs = pd.DataFrame([{**CELL, "seed": s, "risk_final": r} for s, r in enumerate(ours)])
    data = {"published": table.drop(columns="experiment"), "nested": runs.drop(columns="experiment").to_xarray()}
    (row,) = agreement.z_scores(data, "diagonal", "risk_final").itertuples()
    assert row.z == pytest.approx(stats.ttest_ind(np.log(ours), np.log(theirs), equal_var=False).statistic, rel=1e-12)
    assert (row.ours, row.published) == pytest.approx((stats.gmean(ours), stats.gmean(theirs)), rel=1e-12)


def runs(**factors):
    """Two seeds at every nested cell of some protocols; {protocol: factors on its published risk, (last, smallest)}."""
    rows = NESTED[NESTED["protocol"].isin(factors)].groupby(agreement.CELLS["diagonal"], as_index=False)["risk"]
    rows = rows.agg(stats.gmean).merge(pd.DataFrame({"seed": [0, 1], "spread": [0.8, 1.25]}), "cross")
    risks = np.array([factors[protocol] for protocol in rows["protocol"]]) * rows[["risk"]].to_numpy()
    names = [*agreement.CELLS["diagonal"], "seed"]
    return xr.Dataset(
        {name: ("run", risks[:, place] * rows["spread"]) for place, name in enumerate(agreement.RISKS)},
        {name: ("run", rows[name]) for name in names},
    )


def test_the_smallest_risk_counts_where_there_is_one_and_the_last_elsewhere(monkeypatch):
    monkeypatch.setattr(agreement, "FLOOR", 1e-12)
    data = runs(single_task=(30.0, 1.0), finetuning=(30.0, 30.0), single_task_probe=(1.0, np.nan))
    table = checks_of("published_risk", {"published": TABLE, "nested": data}).to_dataframe()
    found, many = table["statistic"], NESTED[NESTED["seed"] == 0]["protocol"].value_counts()
    assert found["scratch"] == found["probes"] == 1
    assert found["finetuned"] < 0.1
    agree = many["single_task"] + many["single_task_probe"] + found["finetuned"] * many["finetuning"]
    assert found["all"] == pytest.approx(agree / (agree + (1 - found["finetuned"]) * many["finetuning"]))
    assert found["smallest"] == pytest.approx(many["single_task"] / (many["single_task"] + many["finetuning"]), abs=0.1)
    verdicts = table["verdict"][["scratch", "probes", "smallest", "finetuned"]]
    assert verdicts.tolist() == ["holds", "holds", "holds", "fails"]
    assert "kernels" not in found
