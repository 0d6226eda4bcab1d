"""The smallest risk along training, had it ended at a larger training loss."""

import numpy as np

from carryover.runs import measured

LOSSES = 10.0 ** np.arange(-2, -10.5, -0.5)


def stopped(data, p):
    """`risk_stopped` (run, stopping_loss): the smallest risk before the training loss first falls to each of `LOSSES`.

    Between two checkpoints log risk is interpolated linearly in log loss. Where a run never reaches a loss, it is the
    smallest risk of the whole run. It is NaN for networks that were solved without training.
    """
    risks = np.full((data.sizes["run"], len(LOSSES)), np.nan, np.float32)
    for run, (losses, curve) in enumerate(zip(data["loss_curve"].values, data["risk_curve"].values, strict=True)):
        log_loss, log_risk = np.log(np.fmax([losses, curve], 1e-300)[:, np.isfinite(curve)])
        for index, level in enumerate(np.log(LOSSES) if len(log_risk) else ()):
            reached = np.flatnonzero(log_loss <= level)
            stop = reached[0] if len(reached) else len(log_loss)
            seen = log_risk[:stop]
            if len(reached):  # add the risk where the loss crosses the level; np.interp takes rising abscissas
                crossing = slice(max(stop - 1, 0), stop + 1)
                seen = np.append(seen, np.interp(-level, -log_loss[crossing], log_risk[crossing]))
            risks[run, index] = np.exp(seen.min())
    meaning = "smallest risk until the training loss is the stopping loss"
    losses = (LOSSES, "training loss at which training stops")
    return measured(data, {"risk_stopped": (("run", "stopping_loss"), risks, meaning)}, stopping_loss=losses)
