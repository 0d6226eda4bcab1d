"""The smallest risk along training, had it ended at a larger training loss."""

import numpy as np

from carryover.runs import measured

LOSSES = 10.0 ** np.arange(-2, -10.5, -0.5)


def stopped(data, p):
    """`risk_stopped` (run, stopping_loss), the smallest risk until the training loss is first at most each of `LOSSES`.

    Between two checkpoints log risk is linear in log loss. A run that does not reach a loss counts until its end.
    NaN for networks that were solved without training.
    """
    risks = np.full((data.sizes["run"], len(LOSSES)), np.nan, np.float32)
    for run, (losses, curve) in enumerate(zip(data["loss_curve"].values, data["risk_curve"].values, strict=True)):
        loss, risk = np.log(np.fmax([losses, curve], 1e-300)[:, np.isfinite(curve)])
        for place, level in enumerate(np.log(LOSSES) if len(risk) else ()):
            reached = np.flatnonzero(loss <= level)
            stop = reached[0] if len(reached) else len(loss)
            seen = risk[:stop]
            if len(reached):
                before = slice(max(stop - 1, 0), stop + 1)
                seen = np.append(seen, np.interp(-level, -loss[before], risk[before]))
            risks[run, place] = np.exp(seen.min())
    meaning = "smallest risk until the training loss is the stopping loss"
    losses = (LOSSES, "training loss at which training stops")
    return measured(data, {"risk_stopped": (("run", "stopping_loss"), risks, meaning)}, stopping_loss=losses)
