"""Gains of mean-field networks by transfer, and where they change sign."""

import numpy as np
import pandas as pd

from carryover.analysis.transferability import normalise_risk, transferability
from carryover.runs import select_runs

READOUT = "zero"  # how the readout was trained in the runs of linear transfer that claims are about


def gains(risk, readout):
    """The data frame that `transferability` makes of the runs of linear transfer with this `readout`, a way to train
    it, at the longest flow times of both. Risks are shares of the target's variance.

    `risk` is a dataset of runs, also from scratch, with `risk_final` and `target_variance` (run,). UserError if no run
    has the readout.
    """
    # Descent only verifies what is solved.
    solved = select_runs(normalise_risk(risk), protocol="linear_transfer", readout=readout, solver="exact")
    scratch = at_longest(select_runs(normalise_risk(risk), protocol="single_task"))
    # A readout's flow time is not that of a network from scratch; least squares have none.
    return transferability(at_longest(solved), "linear_transfer", scratch.drop_vars("max_time", errors="ignore"))


def at_longest(runs):
    """The runs of a dataset that had the longest flow times in pretraining, and in training; without one, they stay.

    Pretraining by each solver has flow times of its own: those of infinite anchors are solved.
    """
    for name in ("pretrain_time", "max_time"):
        if name in runs.coords:
            times = pd.Series(runs[name].values)
            longest = times.groupby(
                runs["pretrain_solver"].values if "pretrain_solver" in runs.coords else 0 * times.index
            )
            runs = runs.isel(run=times.isna() | (times == longest.transform("max")))
    return runs


def boundary(gain):
    """The number of samples n at which gains, a Series by n, turn from positive to negative, interpolated in log n.

    Noisy gains may change their sign more than once: n is where the sum of gains on the wrong side of it is smallest.
    It is infinite if gains are positive throughout, and 0 if they are negative.
    """
    gain = gain.sort_index()
    values, n = gain.to_numpy(), gain.index.to_numpy(dtype=float)
    before = np.concatenate([[0.0], np.cumsum(values)])
    after = (2 * before - before[-1]).argmax()  # gains before, less gains from there on
    if after in (0, len(values)):
        return np.inf if after else 0.0
    pair, ends = values[after - 1 : after + 1], n[after - 1 : after + 1]
    return float(np.exp(np.interp(0.0, pair[::-1], np.log(ends[::-1]))).clip(*ends))


def leave_one_out_choice(gains):
    """Gains by seed and n, each seed's with the anchor that has the largest mean gain over all *other* seeds and n.

    `gains` are by seed (rows), and anchor and n (columns). The anchor is the strength of the penalty that pretraining
    puts on the distance of the features from their start. To choose it by the seed's own gains would overestimate them.
    A single seed has its first anchor.
    """
    means = gains.T.groupby(level="anchor").mean().T
    best = {seed: means.drop(index=seed).mean().fillna(-np.inf).idxmax() for seed in means.index}
    return pd.DataFrame({seed: gains.loc[seed, anchor] for seed, anchor in best.items()}).T
