"""What predicts gains of finetuning: rank correlations of what could be known beforehand, within families and over all
of them, with intervals over seeds."""

from functools import partial

import numpy as np
import pandas as pd

from carryover.claims import atlas
from carryover.statistics import jackknife

CANDIDATES = {
    "similarity": "similarity of the tasks (rows of the maps)",
    "predicted": "what theory predicts of the gain",
    "samples_per_parameter": "samples per parameter",
    "probe_gain": "gain of a linear probe on the same samples",
    "target_alignment": "alignment of the pretrained kernel with the target",
    "probe_r_squared": "R² of a readout of the pretrained features, samples left out",
    "participation_ratio_start": "participation ratio of the pretrained features",
    "divergence": "−KL divergence of the data",
    "wasserstein": "−Wasserstein-1 distance of the data",
    "ratio_flow_penalty_teacher": "penalty of the target (eq 22)",
    "ratio_bound": "tangent kernel's bound",
    "ratio_distance": "squared distance of the teachers",
    "ratio_benign_overfitting": "benign overfitting bound",
    "ratio_covariance": "covariance bound",
}
FALLS = ("divergence", "wasserstein")
"""Candidates that are small where much is gained."""


def rows(data, p):
    """Roles: maps, as comparisons.atlas makes them.

    A data frame of texts: for each candidate Spearman's correlation with the gain of finetuning over the cells and
    seeds of each map, and over those of all maps that have it, each map with the same weight; jackknife intervals of
    95 %.
    """
    frames = {}
    for pairs in data.values():
        frame = atlas.finetuned(pairs)
        if len(frame):
            frames[pairs.attrs["map_family"]] = frame.assign(**{name: -frame[name] for name in FALLS if name in frame})
    names = [name for name in CANDIDATES if any(name in frame for frame in frames.values())]
    texts = []
    for name in names:
        with_name = {family: frame for family, frame in frames.items() if name in frame and frame[name].nunique() > 1}
        order = partial(_order, name=name)
        by_family = {family: _text(atlas.leave_seeds_out([frame], order)) for family, frame in with_name.items()}
        pooled = [*with_name.values()]
        together = _text(atlas.leave_seeds_out(pooled, order, atlas.GROUPS)) if len(pooled) > 1 else ""
        cells = [by_family.get(family, "") for family in frames]
        texts.append((CANDIDATES[name], *cells, together, f"{len(pooled)} of {len(frames)}"))
    return pd.DataFrame(texts, columns=["known beforehand", *frames, "all together", "families"])


def _order(frames, name):
    """Rank correlation of a column with the gain over the pairs of all maps, each map with the same total weight."""
    counts = [frame[name].count() for frame in frames]
    pairs = pd.concat([frame.assign(weight=max(counts) / n) for frame, n in zip(frames, counts, strict=True)])
    return rank_correlation(pairs[name], pairs["gain"], pairs["weight"])


def rank_correlation(x, y, weights):
    """Spearman's correlation of weighted points (n,); NaN if x or y is constant.

    The rank of a value, which may be infinite, is the weight below it and half of the weight at it. Points with a NaN
    are left out.
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


def _text(values):
    order = jackknife.estimate(values, 0.0, jackknife.DIFFERENCE, over="seeds")
    low, high = max(order["low"], -1), min(order["high"], 1)
    return f"{order['statistic']:.2f} ({low:.2f} to {high:.2f})".replace("-", "−") if np.isfinite(values).all() else ""
