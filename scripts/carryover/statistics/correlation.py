"""Rank correlations."""

import numpy as np
import pandas as pd


def rank_correlation(x, y, weights=None):
    """Spearman's correlation of weighted points.

    The rank of a value is the weight below it and half of the weight at it.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        May be infinite. Points with a NaN are left out.
    weights : array_like, shape (n,), optional

    Returns
    -------
    float
        NaN if x or y is constant.
    """
    known = ~(np.isnan(x) | np.isnan(y))
    weights = np.ones(len(known)) if weights is None else weights
    x, y, weights = (np.asarray(values, dtype=float)[known] for values in (x, y, weights))
    if not len(x):
        return np.nan
    x, y = (ranks - np.average(ranks, weights=weights) for ranks in (_ranks(x, weights), _ranks(y, weights)))
    spread = np.sqrt((weights * x**2).sum() * (weights * y**2).sum())
    return (weights * x * y).sum() / spread if spread > 0 else np.nan


def _ranks(values, weights):
    _, place = np.unique(values, return_inverse=True)
    at = np.bincount(place, weights)
    return (np.cumsum(at) - at / 2)[place]


def rank_correlations(frame, x, y, by):
    """Spearman's correlation of two columns of a data frame in each group of rows with the same values of `by`."""
    return pd.Series({key: rank_correlation(rows[x], rows[y]) for key, rows in frame.groupby(by)})
