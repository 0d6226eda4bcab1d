"""Rank correlations."""

import numpy as np


def rank_correlation(x, y, weights):
    """Spearman's correlation of weighted points.

    The rank of a value is the weight below it and half of the weight at it.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        May be infinite. Points with a NaN are left out.
    weights : array_like, shape (n,)

    Returns
    -------
    float
        NaN if x or y is constant.
    """
    known = ~(np.isnan(x) | np.isnan(y))
    x, y, weights = (np.asarray(values, dtype=float)[known] for values in (x, y, weights))
    if not len(x):
        return np.nan
    (xx, xy), (_, yy) = np.cov(_ranks(x, weights), _ranks(y, weights), aweights=weights, ddof=0)
    return xy / np.sqrt(xx * yy) if xx * yy > 0 else np.nan


def _ranks(values, weights):
    _, place = np.unique(values, return_inverse=True)
    at = np.bincount(place, weights)
    return (np.cumsum(at) - at / 2)[place]
