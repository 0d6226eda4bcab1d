"""The table of switches from the authors' protocol to ours, on made-up runs."""

import numpy as np
import pandas as pd

from carryover.figures.tables import replay
from toy import plotted


def test_a_switch_that_changes_risks_costs_agreement():
    runs = plotted.replayed()
    runs = runs.isel(run=runs["protocol"].values == "single_task")
    runs["risk_final"] = runs["risk_best"]
    far = runs.assign(risk_best=1e3 * runs["risk_best"]).assign_coords(
        ours=("run", np.full(runs.sizes["run"], "signs"))
    )
    found = replay.replay_switches({"published": pd.read_csv(plotted.TABLE), "relu": runs, "far": far})
    assert found["cells"].tolist() == ["72", "72", "72", ""]
    assert found.iloc[:, 2].tolist() == ["100.0%", "100.0%", "0.0%", "92.7%"]
