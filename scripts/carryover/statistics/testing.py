"""Multiple testing."""

import numpy as np


def holm(p_values):
    """P-values adjusted for multiple testing by Holm's procedure (1979).

    Parameters
    ----------
    p_values : array_like, shape (n,)
        NaN are no tests, and remain.

    Returns
    -------
    numpy.ndarray, shape (n,)
    """
    p_values = np.array(p_values, dtype=float)
    order = np.argsort(p_values)[: np.isfinite(p_values).sum()]  # NaN come last
    p_values[order] = np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1)).clip(max=1)
    return p_values
