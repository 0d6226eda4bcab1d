"""How far networks are trained on cross-entropy, told so that initial scales can be compared."""

import numpy as np


def margin_over_scale(loss, initial_scale, fitted=np.inf):
    """γ/α², by which what a network of degree 2 has become after its samples are fitted is told.

    γ = −log(e^L − 1) is the margin of every sample if all had the training loss L, α the initial scale ("Implicit bias
    in deep linear classification: initialization scale vs training accuracy", Moroshko et al. 2020, for α → ∞).

    Args: loss (run, checkpoint), NaN after a run's last; initial_scale (run,); fitted, the loss from which on it is
    told. Returns (run, checkpoint), never falling along a run, NaN before `fitted` and after the last checkpoint.
    """
    loss = np.asarray(loss, dtype=float)
    least = np.fmin.accumulate(loss, axis=1)  # noise of mini-batches must not lead back
    told = np.isfinite(loss) & (least > 0) & (least <= fitted)
    margin = -np.log(np.expm1(np.where(told, least, np.nan)))
    return margin / np.asarray(initial_scale, dtype=float)[:, None] ** 2
