"""What predicts gains of finetuning: rank correlations of what could be known beforehand, within families and over all
of them, with intervals over seeds."""

import numpy as np
import pandas as pd

from carryover.analysis import atlas, jackknife
from carryover.config.parameters import NoParameters

Parameters = NoParameters
FINETUNING = "finetuning"
GROUPS = 6  # of seeds, of which each in turn is left out of what is pooled over families
CANDIDATES = {
    "similarity": "similarity of the tasks (rows of the maps)",
    "predicted": "what theory predicts of the gain",
    "samples_per_parameter": "samples per parameter",
    "probe_gain": "gain of a linear probe on the same samples",
    "divergence": "−KL divergence of the data",
    "ratio_flow_penalty_teacher": "penalty of the target (eq 22)",
    "ratio_bound": "tangent kernel's bound",
    "ratio_distance": "squared distance of the teachers",
    "ratio_benign_overfitting": "benign overfitting bound",
    "ratio_covariance": "covariance bound",
}
FALLS = ("divergence",)
"""Candidates that are small where much is gained."""


def rows(data, p):
    """Roles: maps, as comparisons.atlas makes them.

    A data frame of texts: for each candidate Spearman's correlation with the gain of finetuning over the pairs of each
    map, and over those of all maps that have it, each map with the same weight; jackknife intervals of 95 % over seeds.
    """
    frames = {one.attrs["map_family"]: _finetuned(one) for one in data.values()}
    frames = {family: frame for family, frame in frames.items() if len(frame)}
    names = [name for name in CANDIDATES if any(name in frame for frame in frames.values())]
    texts = []
    for name in names:
        having = {family: frame for family, frame in frames.items() if name in frame and frame[name].notna().any()}
        cells = [_text([_alone(frame, name) for frame in _without_each(having[family])]) if family in having else ""
                 for family in frames]  # fmt: skip
        texts.append((CANDIDATES[name], *cells, _pooled(having, name), f"{len(having)} of {len(frames)}"))
    return pd.DataFrame(texts, columns=["known beforehand", *frames, "all together", "families"])


def _finetuned(one):
    frame = atlas.by_seed(one)
    frame = frame[(frame["protocol"] == FINETUNING) & frame["gain"].notna()]
    return frame.assign(**{name: -frame[name] for name in FALLS if name in frame})


def _without_each(frame, groups=None):
    """The frame, then that without each of its seeds, or of so many groups of them."""
    place = frame["seed"] if groups is None else frame["seed"] % groups
    return [frame, *(frame[place != one] for one in sorted(place.unique()))]


def _alone(frame, name):
    return atlas.rank_correlation(frame[name], frame["gain"], np.ones(len(frame)))


def _pooled(frames, name):
    """Of several maps, those of one number of seeds' group left out of all at once."""
    if len(frames) < 2:
        return ""
    values = []
    for parts in zip(*(_without_each(frame, GROUPS) for frame in frames.values()), strict=True):
        whole = pd.concat([part[[name, "gain"]].assign(weight=1 / part[name].notna().sum()) for part in parts])
        values.append(atlas.rank_correlation(whole[name], whole["gain"], whole["weight"]))
    return _text(values)


def _text(values):
    found = jackknife.estimate(values, "", 0.0, jackknife.DIFFERENCE, over="seeds")
    low, high = max(found["low"], -1), min(found["high"], 1)
    return f"{found['statistic']:.2f} ({low:.2f} to {high:.2f})".replace("-", "−") if np.isfinite(values).all() else ""
