"""Margins of networks trained on cross-entropy, which make initial scales and protocols comparable."""

import numpy as np

FITTED = np.log(2)
"""Training loss below which the margin of all samples is positive."""


def margin_over_scale(loss, initial_scale, fitted=np.inf):
    """γ/α², on which the state of a network of degree 2 depends once its samples are fitted.

    γ = −log(e^L − 1) is the margin of every sample if all had the training loss L; α is the initial scale (Moroshko et
    al. 2020, "Implicit bias in deep linear classification: initialization scale vs training accuracy", for α → ∞).

    Parameters
    ----------
    loss : array_like, shape (run, checkpoint)
        NaN after a run's last checkpoint.
    initial_scale : array_like, shape (run,)
    fitted : float
        Largest loss for which it is defined.

    Returns
    -------
    numpy.ndarray, shape (run, checkpoint)
        Never falling along a run; NaN where it is not defined.
    """
    loss = np.asarray(loss, dtype=float)
    least = np.fmin.accumulate(loss, axis=1)  # noise of mini-batches must not lead back
    defined = np.isfinite(loss) & (least > 0) & (least <= fitted)
    margin = -np.log(np.expm1(np.where(defined, least, np.nan)))
    return margin / np.asarray(initial_scale, dtype=float)[:, None] ** 2


def at_margins(data, curve, margins):
    """A curve along training at given margins of all samples, interpolated in logarithms of both.

    Parameters
    ----------
    data : xarray.Dataset
        `loss_curve` and the curve, of positive values, (run, checkpoint).
    curve : str
    margins : array_like, shape (margin,)
        Rising.

    Returns
    -------
    xarray.DataArray, dims (run, margin)
        NaN where a run has not had that margin.
    """
    reached = margin_over_scale(data["loss_curve"].values, np.ones(data.sizes["run"]), FITTED)
    values = data[curve].transpose("run", "checkpoint").values
    curves = np.full((len(values), len(margins)), np.nan)
    for run, known in enumerate(np.isfinite(reached) & np.isfinite(values)):
        if known.any():
            logs = np.log(margins), np.log(reached[run, known]), np.log(values[run, known])
            curves[run] = np.exp(np.interp(*logs, left=np.nan, right=np.nan))
    runs = data[curve].isel(checkpoint=0, drop=True)
    return runs.expand_dims(margin=np.asarray(margins, dtype=float), axis=1).copy(data=curves)
