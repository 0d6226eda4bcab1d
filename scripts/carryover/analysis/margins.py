"""How far networks are trained on cross-entropy, told so that initial scales and protocols can be compared."""

import numpy as np

FITTED = np.log(2)
"""Training loss from which on the margin of all samples is positive."""


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


def at_margins(data, curve, margins):
    """A curve along training where the margin of all samples has these values; DataArray (run, margin).

    Args: data with `loss_curve` and the curve, (run, checkpoint), of positive values; margins, rising. It is
    interpolated in logarithms of both, and NaN where a run has not been at that margin.
    """
    reached = margin_over_scale(data["loss_curve"].values, np.ones(data.sizes["run"]), FITTED)
    values = data[curve].transpose("run", "checkpoint").values
    curves = [_interpolated(margins, *run) for run in zip(reached, values, strict=True)]
    runs = data[curve].isel(checkpoint=0, drop=True)
    return runs.expand_dims(margin=np.asarray(margins, dtype=float), axis=1).copy(data=np.array(curves))


def _interpolated(margins, reached, values):
    there = np.isfinite(reached) & np.isfinite(values)
    if not there.any():
        return np.full(len(margins), np.nan)
    logs = (np.log(of) for of in (margins, reached[there], values[there]))
    return np.exp(np.interp(*logs, left=np.nan, right=np.nan))
