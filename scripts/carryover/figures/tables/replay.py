"""Why our cells differ from the published ones, one switch at a time (E10)."""

import numpy as np
import pandas as pd
from scipy import stats

from carryover.analysis.replay import RUN, match_published
from carryover.config import plugins

NEAR = 2  # standard errors within which a risk agrees with the published one
SWITCHES = {
    "": "none: as published",
    "final": "the risk at the end in place of the smallest",
    "leave-one-out": "ridge strength by leave-one-out in place of the test risk",
    "stop": "training to a loss of 1e-8 of that of outputs of 0",
    "batches": "full batch above n = 128",
    "layers": "factors on the first layer alone, from scratch",
    "pretraining": "pretraining to a loss of 1e-8 of that of outputs of 0",
    "signs": "paired signs",
}


@plugins.table()
def replay_switches(data):
    """Share of cells that agree with the published ones after each switch from the authors' protocol to ours.

    Roles: `published` (the table), and risks of replayed runs, as published and with switches, by any names. A cell
    agrees where the means of both sides' log risks over seeds are within two standard errors (Welch).
    """
    rows = match_published(data)  # a data frame with a row for each run; `ours` names its switch
    plain = rows[rows["ours"] == ""]
    ridge = plain["protocol"].str.contains("probe|kernel") & plain["published"].str.startswith("relu")
    # Two switches need no runs of their own: the same runs by their final risk, or ridge strength chosen otherwise.
    ends = plain.assign(risk_best=plain["risk_final"], ours=np.where(ridge, "leave-one-out", "final"))
    rows = pd.concat([rows, ends], ignore_index=True)
    cells = np.log(rows[["risk_best", "risk_published"]]).groupby([rows[name] for name in ("ours", *RUN[:-1])])
    distance, errors = cells.mean().diff(axis=1).iloc[:, 1].abs(), cells.sem().dropna()  # of several runs
    agree = distance[errors.index] < NEAR * np.hypot(errors["risk_best"], errors["risk_published"])
    found = agree.groupby("ours").agg(["size", "mean"])
    texts = [(words, f"{found.loc[name, 'size']}", f"{found.loc[name, 'mean']:.1%}")
             for name, words in SWITCHES.items() if name in found.index]  # fmt: skip
    # Two samples of six normal log risks of equal variance are as near as this.
    perfect = stats.t.cdf(NEAR, 10) - stats.t.cdf(-NEAR, 10)
    texts.append(("other seeds of the same protocol, in expectation", "", f"{perfect:.1%}"))
    return pd.DataFrame(texts, columns=["switch", "cells", "agree with the published risks"])
