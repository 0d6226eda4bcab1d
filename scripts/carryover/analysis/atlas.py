"""Cells of the maps that comparisons.atlas makes: mean gains over seeds, which of them are decided, whether predictions
are on the right side, what is missing; and rank correlations of what predicts."""

import numpy as np
import pandas as pd
from scipy import special  # stats would take a second more of every job

from carryover.analysis.intervals import LEVEL
from carryover.errors import UserError

ROUNDING = 1e-6
"""Gains and predictions up to this size, either way, are none: as great as that is rounding where nothing differs."""
CELL = ["protocol", "setting", "row", "samples"]


def maps(data):
    """Data by role, all of which must be maps; UserError naming the first role whose are not."""
    for role, one in data.items():
        if "map_family" not in one.attrs:
            raise UserError(f"the data of the role {role} are no map, such as comparisons.atlas makes.")
    return data


def by_seed(data):
    """The pairs of a map as a DataFrame, one row for each cell and seed: means over draws."""
    frame = data.to_dataframe().reset_index(drop=True).drop(columns="draw")
    return frame.groupby([*CELL, "seed"], sort=True).mean().reset_index()


def cells(frame):
    """DataFrame of the cells of what `by_seed` gives: means over seeds, how many `seeds` there are, and
    the ends `low` and `high` of Student's 95 % interval of the gain.

    `decided` are gains whose interval leaves 0 out, but for `ROUNDING`; `right` is 1 for those of them that are on the
    predicted side, 0 for others, also where the prediction is that nothing changes, NaN where nothing is decided or
    predicted. A cell that its protocol has for other settings, rows or
    samples and of which no run is there has no numbers, and 0 seeds.
    """
    groups = frame.groupby(CELL)
    table = groups.mean().drop(columns="seed")
    gain = groups["gain"].agg(["std", "count"])
    table["seeds"] = gain["count"]
    several = gain["count"] > 1
    half = special.stdtrit(gain["count"].where(several) - 1, 1 - LEVEL / 2) * gain["std"] / np.sqrt(gain["count"])
    table["low"], table["high"] = table["gain"] - half, table["gain"] + half
    table["decided"] = (table["low"] > ROUNDING) | (table["high"] < -ROUNDING)
    clear = table["predicted"].where(table["predicted"].abs() > ROUNDING, 0.0 * table["predicted"])
    agrees = (np.sign(clear) == np.sign(table["gain"])).astype(float)
    table["right"] = agrees.where(table["decided"] & table["predicted"].notna())
    whole = [pd.MultiIndex.from_product([[name], *(part[key].unique() for key in CELL[1:])], names=CELL)
             for name, part in frame.groupby("protocol")]  # fmt: skip
    table = table.reindex(whole[0].append(whole[1:]).sort_values())
    table["seeds"] = table["seeds"].fillna(0).astype(int)
    table["decided"] = table["decided"].fillna(False).astype(bool)
    return table.reset_index()


def missing(frame):
    """[(cell as a dictionary, seeds that it lacks)] of the cells of what `by_seed` gives that lack some."""
    seeds, found = set(frame["seed"]), frame[frame["gain"].notna()].groupby(CELL)["seed"].agg(set)
    places = pd.MultiIndex.from_frame(cells(frame)[CELL])
    lacking = ((place, seeds - found.get(place, set())) for place in places)
    return [(dict(zip(CELL, place, strict=True)), sorted(lost)) for place, lost in lacking if lost]


def without_each_seed(frame, statistic):
    """The values of a statistic of such a frame: of all seeds, then without each of them where there are others."""
    seeds = sorted(frame["seed"].unique())
    return [statistic(frame), *(statistic(frame[frame["seed"] != seed]) for seed in seeds if len(seeds) > 1)]


def without_groups(frames, statistic, groups=6):
    """The same of a statistic of several such frames {name: frame}, whose seeds are drawn apart: of so many groups of
    seeds, or as many as the frame of fewest has, one is left out of all at once."""
    groups = min(groups, *(frame["seed"].nunique() for frame in frames.values()))
    parts = [{name: frame[frame["seed"] % groups != left] for name, frame in frames.items()} for left in range(groups)]
    return [statistic(frames), *(statistic(part) for part in parts if groups > 1)]


def predicted(frame):
    """Of what `by_seed` gives, which decided cells with a prediction are on the predicted side, 0 or 1: a Series."""
    return _known(frame)["right"]


def rarer(frame):
    """The sign, 1 or -1, that fewer of these cells have, of as many the gains': a constant guess is that of most."""
    known = _known(frame)
    return -1.0 if (known["gain"] > 0).mean() > 0.5 else 1.0


def predicted_to_be(frame, sign):
    """`predicted` of those cells alone whose prediction has a sign."""
    known = _known(frame)
    return known["right"][sign * known["predicted"] > ROUNDING]


def _known(frame):
    table = cells(frame)
    return table[table["right"].notna()]


def finetuned(data):
    """The cells and seeds of a map, as `by_seed` gives them, in which a finetuned network has a gain."""
    frame = by_seed(data)
    return frame[(frame["protocol"] == "finetuning") & frame["gain"].notna()]


def order(frame, name):
    """Rank correlation of what a column holds with the gain."""
    return rank_correlation(frame[name], frame["gain"], np.ones(len(frame)))


def rank_correlation(x, y, weights):
    """Spearman's correlation of weighted points whose x and y are numbers, or infinite: Pearson's of their ranks, the
    rank of a value being the weight below it and half of that at it. NaN where either is the same all over."""
    known = ~(np.isnan(x) | np.isnan(y))
    x, y, weights = (np.asarray(values, dtype=float)[known] for values in (x, y, weights))
    if not len(x):
        return np.nan
    x, y = (values - np.average(values, weights=weights) for values in (_ranks(x, weights), _ranks(y, weights)))
    spread = np.sqrt((weights * x**2).sum() * (weights * y**2).sum())
    return (weights * x * y).sum() / spread if spread > 0 else np.nan


def _ranks(values, weights):
    _, place = np.unique(values, return_inverse=True)
    at = np.bincount(place, weights)
    return (np.cumsum(at) - at / 2)[place]
