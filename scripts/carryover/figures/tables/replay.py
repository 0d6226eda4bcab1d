"""Why our cells differ from the published ones, one switch at a time (E10)."""

import numpy as np
import pandas as pd
from scipy import stats

from carryover.claims.replay import RUN, replayed

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


def replay_switches(data, p):
    """Share of cells that agree with the published ones after each switch from the authors' protocol to ours.

    Roles: `published` (the table), and risks of replayed runs, as published and with switches, by any names. A cell
    agrees where the means of both sides' log risks over seeds are within two standard errors (Welch).
    """
    rows = replayed(data)
    plain, fitted = rows[rows["ours"] == ""], rows["protocol"].str.contains("probe|kernel")
    final = plain.assign(risk_best=plain["risk_final"])
    rows = pd.concat([
        rows,
        final[~fitted.reindex(final.index)].assign(ours="final"),
        final[fitted.reindex(final.index)].assign(ours="leave-one-out"),
    ])  # fmt: skip
    cells = rows.groupby(["ours", *RUN[:-1]]).filter(lambda runs: len(runs) > 1).groupby(["ours", *RUN[:-1]])
    agree = cells[["risk_best", "risk_published"]].apply(agrees).groupby("ours").agg(["sum", "size"])
    # Two samples of six normal log risks of equal variance are as near as this.
    perfect = stats.t.cdf(NEAR, 10) - stats.t.cdf(-NEAR, 10)
    texts = [(words, f"{agree.loc[name, 'size']}", f"{agree.loc[name, 'sum'] / agree.loc[name, 'size']:.1%}")
             for name, words in SWITCHES.items() if name in agree.index]  # fmt: skip
    texts.append(("other seeds of the same protocol, in expectation", "", f"{perfect:.1%}"))
    return pd.DataFrame(texts, columns=["switch", "cells", "agree with the published risks"])


def agrees(cell):
    """Whether ours and the published risks of a cell, over the same seeds, agree."""
    ours, theirs = (np.log(cell[name]) for name in ("risk_best", "risk_published"))
    error = ((ours.var() + theirs.var()) / len(cell)) ** 0.5
    return abs(ours.mean() - theirs.mean()) < NEAR * error
