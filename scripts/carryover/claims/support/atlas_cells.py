"""Cells of the maps that `comparisons.atlas` makes: mean gains over seeds, and whether predictions have their sign."""

import numpy as np
import pandas as pd
from scipy import special  # scipy.stats would take a second more of every job

from carryover.statistics.correlation import rank_correlation
from carryover.statistics.intervals import LEVEL

ROUNDING = 1e-6
"""Gains and predictions up to this size are none: where nothing differs, rounding is as large."""
CELL = ["protocol", "setting", "row", "samples"]


def by_seed(data):
    """The pairs of a map as a data frame with a row for each cell and seed: means over draws."""
    frame = data.to_dataframe().reset_index(drop=True).drop(columns="draw")
    return frame.groupby([*CELL, "seed"], sort=True).mean().reset_index()


def cells(frame):
    """The cells of a map.

    Parameters
    ----------
    frame : pandas.DataFrame
        As `by_seed` returns it.

    Returns
    -------
    pandas.DataFrame
        Means over seeds, the number of `seeds`, and Student's 95 % interval `low`, `high` of the gain. `decided` are
        gains whose interval excludes 0, to `ROUNDING`. `right` is 1 for a decided gain with the predicted sign, 0 for
        another, also if no change is predicted, and NaN if nothing is decided or predicted. A cell without runs, of a
        setting, row and number of samples that its protocol has elsewhere, has no numbers, and 0 seeds.
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
    complete = [pd.MultiIndex.from_product([[name], *(part[key].unique() for key in CELL[1:])], names=CELL)
                for name, part in frame.groupby("protocol")]  # fmt: skip
    table = table.reindex(complete[0].append(complete[1:]).sort_values())
    table["seeds"] = table["seeds"].fillna(0).astype(int)
    table["decided"] = table["decided"].fillna(False).astype(bool)
    return table.reset_index()


def leave_one_out(frame, statistic):
    """Values of a statistic of all seeds, then without each of them, if there are several."""
    seeds = sorted(frame["seed"].unique())
    return [statistic(frame), *(statistic(frame[frame["seed"] != seed]) for seed in seeds if len(seeds) > 1)]


def leave_groups_out(frames, statistic, groups=6):
    """Values of a statistic of several frames {name: frame}, then without each of so many groups of seeds.

    A group is left out of all frames at once; there are at most as many groups as the smallest frame has seeds.
    """
    groups = min(groups, *(frame["seed"].nunique() for frame in frames.values()))
    parts = [{name: frame[frame["seed"] % groups != left] for name, frame in frames.items()} for left in range(groups)]
    return [statistic(frames), *(statistic(part) for part in parts if groups > 1)]


def predictable(frame):
    """Decided cells with a prediction, as `cells` has them."""
    table = cells(frame)
    return table[table["right"].notna()]


def finetuned(data):
    """The cells and seeds of a map, as `by_seed` has them, in which a finetuned network has a gain."""
    frame = by_seed(data)
    return frame[(frame["protocol"] == "finetuning") & frame["gain"].notna()]


def order(frame, name):
    """Rank correlation of a column with the gain."""
    return rank_correlation(frame[name], frame["gain"])
