"""Shares of cells that agree with the published risks, on runs that are made to agree or not."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from carryover.claims.support import published_risks
from toy.made_up_runs import checks_of

TABLE = pd.read_csv(Path(__file__).resolve().parents[2] / "resources/published/feature-reuse-risk.csv")
CELLS = published_risks.cells(TABLE, "diagonal")


def runs(**factors):
    """Two seeds at every nested cell of some protocols; {protocol: factors on its published risk, (last, smallest)}."""
    chosen = CELLS[(CELLS["experiment"] == "nested") & CELLS["protocol"].isin(factors)]
    rows = [(row, seed) for _, row in chosen.iterrows() for seed in (0, 1)]
    columns = {name: ("run", np.array([row[name] for row, _ in rows])) for name in published_risks.CELLS["diagonal"]}
    risks = np.array([np.array(factors[row["protocol"]]) * row["risk_mean"] * (0.8, 1.25)[seed] for row, seed in rows])
    return xr.Dataset(
        {name: ("run", risks[:, place]) for place, name in enumerate(published_risks.RISKS)},
        {**columns, "seed": ("run", np.array([seed for _, seed in rows]))},
    )


@pytest.fixture(autouse=True)
def cells_of_any_risk_count(monkeypatch):
    monkeypatch.setattr("carryover.claims.published_risk.FLOOR", 1e-12)


def checked(data, **options):
    table = checks_of("published_risk", {"published": TABLE, "nested": data}, **options).to_dataframe()
    return table["statistic"], table["verdict"]


def test_the_smallest_risk_counts_where_there_is_one_and_the_last_elsewhere():
    found, verdict = checked(runs(single_task=(30.0, 1.0), finetuning=(30.0, 30.0), single_task_probe=(1.0, np.nan)))
    many = {name: (CELLS[CELLS["experiment"] == "nested"]["protocol"] == name).sum() for name in (
        "single_task", "finetuning", "single_task_probe")}  # fmt: skip
    assert found["scratch"] == found["probes"] == 1
    assert found["finetuned"] < 0.1
    agree = many["single_task"] + many["single_task_probe"] + found["finetuned"] * many["finetuning"]
    assert found["all"] == pytest.approx(agree / sum(many.values()))
    assert found["smallest"] == pytest.approx(many["single_task"] / (many["single_task"] + many["finetuning"]), abs=0.1)
    assert verdict[["scratch", "probes", "smallest", "finetuned"]].tolist() == ["holds", "holds", "holds", "fails"]
    assert "kernels" not in found
