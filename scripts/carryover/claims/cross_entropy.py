"""On cross-entropy, training longer acts like starting smaller: appendix C of "Feature reuse …"."""

from itertools import pairwise

import numpy as np
import pandas as pd

from carryover.claims.support.checks import checks
from carryover.claims.support.margins import margin_over_scale
from carryover.claims.support.runs import Runs

FITTED = 0.3  # training loss from which on networks count as fitted
NETWORKS = {"diagonal": "Diagonal networks", "relu": "ReLU networks"}
FEATURES = "effective_features_curve"


def check(data, p):
    """Roles `diagonal` and `relu`: trajectories on cross-entropy from several initial scales. Means over seeds."""
    found = {}
    for role, networks in NETWORKS.items():
        runs = Runs(role, data[role])
        small, large = runs.extremes("initial_scale")
        curves = {scale: _curves(runs.where(initial_scale=scale).data) for scale in runs.options("initial_scale")}
        start, end = (_features(curves[large], pick) for pick in (_when_fitted, _last))
        nearer = [_nearer(one, other) for one, other in pairwise(curves.values())]
        values = {
            f"{role}_smaller": np.log10(end / _features(curves[small], _last)),
            f"{role}_longer": np.log10(start / end),
            f"{role}_alike": pd.concat(nearer, axis=1).mean(axis=1),
        }
        found |= checks(values, networks=networks, small=small, large=large)
    return found


def _curves(data):
    """{seed: its trajectory from one initial scale, a DataFrame over checkpoints}."""
    ratio = margin_over_scale(data["loss_curve"].values, data["initial_scale"].values, FITTED)
    columns = {name: data[name].values for name in ("time", FEATURES)} | {"ratio": ratio}
    frames = (pd.DataFrame({name: values[run] for name, values in columns.items()}) for run in range(len(ratio)))
    return {seed: frame.dropna(subset="time") for seed, frame in zip(data["seed"].values, frames, strict=True)}


def _features(curves, pick):
    return pd.Series({seed: pick(curve) for seed, curve in curves.items()})


def _last(curve):
    return curve[FEATURES].iloc[-1]


def _when_fitted(curve):
    """At the first checkpoint at which samples are fitted; NaN where they never are."""
    return curve[FEATURES].reindex([curve["ratio"].first_valid_index()]).iloc[0]


def _nearer(one, other):
    """Distance of the numbers of features from two scales at the same time, less that at the same ratio, by seed.

    Both are taken as late as the two have them; NaN where they have no ratio in common.
    """
    pairs = {seed: (one[seed], other[seed]) for seed in one.keys() & other.keys()}
    return pd.Series(
        {s: _distance("time", *pair) - _distance("ratio", *pair) for s, pair in pairs.items()}
    ).sort_index()


def _distance(along, *pair):
    """log₁₀ distance of two numbers of features at the largest x that both curves have."""
    known = [curve.dropna(subset=along) for curve in pair]
    if any(curve.empty for curve in known):
        return np.nan
    x = min(curve[along].iloc[-1] for curve in known)
    if x < max(curve[along].iloc[0] for curve in known):
        return np.nan
    one, other = (np.interp(x, curve[along], np.log10(curve[FEATURES])) for curve in known)
    return abs(one - other)
