"""Networks that are trained on cross-entropy, by their margins."""

import numpy as np

FITTED = 0.3  # training loss from which on networks count as fitted
POSITIVE = np.log(2)  # training loss below which the margin of all samples is positive
FAMILIES = {"diagonal": "Diagonal networks", "relu": "ReLU networks"}


def interpolate(x, y, at):
    """The curve y of rising x, interpolated at other x; NaN beyond its ends, and if it has no finite point."""
    known = np.isfinite(x) & np.isfinite(y)
    if not known.any():
        return np.full(np.shape(at), np.nan)
    return np.interp(at, x[known], y[known], left=np.nan, right=np.nan)


def margins(loss, fitted=np.inf):
    """γ = −log(e^L − 1) of losses L (run, checkpoint): the margin of every sample if all had the training loss L.

    The state of a network of degree 2 from an initial scale α depends on γ/α² once its samples are fitted (Moroshko et
    al. 2020, "Implicit bias in deep linear classification: initialization scale vs training accuracy", for α → ∞).
    Margins never fall along a run. They are NaN after its last checkpoint, and where the loss is above `fitted`.
    """
    loss = np.asarray(loss, dtype=float)
    least = np.fmin.accumulate(loss, axis=1)  # noise of mini-batches must not lead back
    defined = np.isfinite(loss) & (least > 0) & (least <= fitted)
    return -np.log(np.expm1(np.where(defined, least, np.nan)))


def at_margins(data, curve, wanted):
    """A variable along training at which each run had given margins of all samples: a DataArray (run, margin).

    `data` has `loss_curve`, from which margins follow (see `margins`), and the variable `curve`, of positive values;
    both are (run, checkpoint). `wanted` are positive margins. Values are interpolated linearly in the logarithms of
    margin and curve, and NaN for margins that a run did not pass through.
    """
    reached, values = margins(data["loss_curve"].values, POSITIVE), np.log(data[curve].transpose("run", ...).values)
    curves = np.exp([interpolate(np.log(x), y, np.log(wanted)) for x, y in zip(reached, values, strict=True)])
    runs = data[curve].isel(checkpoint=0, drop=True)
    return runs.expand_dims(margin=np.asarray(wanted, dtype=float), axis=1).copy(data=curves)
