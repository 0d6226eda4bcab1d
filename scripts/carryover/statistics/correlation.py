"""R² and rank correlations."""

import numpy as np
import pandas as pd


def squared_correlation(x, y):
    """R², the squared Pearson correlation, along the last axis.

    Parameters
    ----------
    x, y : numpy.ndarray, shape (…, n)

    Returns
    -------
    numpy.ndarray, shape (…)
        NaN where x or y is constant or not finite.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        # The mean of equal numbers is rounded, and they would vary about it.
        constant = (np.ptp(x, axis=-1) == 0) | (np.ptp(y, axis=-1) == 0)
        x, y = (values - values.mean(-1, keepdims=True) for values in (x, y))
        squared = (x * y).sum(-1) ** 2 / ((x**2).sum(-1) * (y**2).sum(-1))
        return np.where(constant, np.nan, squared)


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


def rank_correlation_by_row(x, y):
    """Spearman's correlation of the rows of two data frames, over the columns that both have values of: a Series."""
    known = x.notna() & y.notna()
    return x.where(known).rank(axis=1).corrwith(y.where(known).rank(axis=1), axis=1)
