"""Whether pretraining helps and hurts where theory predicts it, on the maps of several families.

A cell of a map that `comparisons.atlas` makes is a protocol, setting, row and number of samples.
"""

from functools import partial

import numpy as np
from scipy import stats

from carryover.claims.support.checks import Check, checks
from carryover.statistics import jackknife
from carryover.statistics.intervals import LEVEL, clopper_pearson

ROUNDING = 1e-6  # gains and predictions up to this size are none: where nothing differs, rounding is as large
CELL = ["protocol", "setting", "row", "samples"]
PREDICTORS = {
    "predicted": "predicted",
    "similarity": "similarity",
    "readout": "probe_r_squared",
    "alignment": "target_alignment",
}
"""{check: column of the maps}; each check is on how well the column orders gains."""
FEATURES = ["probe_r_squared", "target_alignment"]  # columns that are compared over the families that have both
GROUPS = 6  # groups of seeds of which each is left out in turn, where several families are compared


def atlas(data, p):
    """Roles: maps of families, as comparisons.atlas makes them; checks are named after them.

    For each map with a prediction, the share of its decided cells, of all settings, with the predicted sign, and
    whether that says more than a constant guess. Over all maps of finetuning, how well prediction, similarity and
    properties of the pretrained features order the gains.
    """
    results = {}
    for role, pairs in data.items():
        for protocol, frame in by_seed(pairs).groupby("protocol"):
            if frame["predicted"].notna().any():
                name, transfer = (role, "finetuning") if protocol == "finetuning" else (
                    f"{role}_transfer", "linear transfer")  # fmt: skip
                # Decided cells with a prediction, of all seeds, then without each.
                tables = leave_seeds_out([frame], lambda parts: cells(*parts).dropna(subset="right"))
                # The sign that fewer cells have, which a constant guess would not predict.
                rarer = -1.0 if (tables[0]["gain"] > 0).mean() > 0.5 else 1.0
                of_sign = [table[rarer * table["predicted"] > ROUNDING] for table in tables]
                values = {f"{name}_side": _share(tables), f"{name}_rarer": _share(of_sign)}
                results |= checks(values, family=pairs.attrs["map_family"], transfer=transfer,
                                  theory=pairs.attrs["map_theory_is"])  # fmt: skip
    return results | _orders({pairs.attrs["map_family"]: finetuned(pairs) for pairs in data.values()})


def _share(tables):
    """The check of the share of cells with the predicted sign, from tables of all seeds and without each.

    Its interval is a jackknife over seeds, or, if no seed changes the share, over cells.
    """
    values, shares = tables[0]["right"], [table["right"].mean() for table in tables]
    if not len(values) or len(shares) == 1 or len(set(shares)) > 1:
        return Check(shares, partial(jackknife.estimate, scale=jackknife.PROPORTION, over="seeds"))
    return Check(values, partial(clopper_pearson, over="cells"))


def _orders(frames):
    """Rank correlations of predictors with the gain of finetuning, means over the families that have a prediction."""
    theories = {family: frame for family, frame in frames.items() if frame["predicted"].notna().any()}
    features = {family: frame for family, frame in theories.items()
                if frame.reindex(columns=FEATURES).notna().any().all()}  # fmt: skip

    def order(frames, column):
        """Rank correlation of a column with the gain, mean over families."""
        return np.mean([frame[column].corr(frame["gain"], method="spearman") for frame in frames])

    orders = {}
    for name, column in PREDICTORS.items():
        compared = features if column in FEATURES else theories
        if len(compared) > 1:
            orders[name] = np.array(leave_seeds_out([*compared.values()], partial(order, column=column), GROUPS))
    if not orders:
        return {}
    orders["better"] = orders["predicted"] - orders["similarity"]
    # A prediction that does not depend on the number of samples orders tasks, not cells: but for rounding, it gives
    # cells the ranks that similarity gives them.
    same = []
    for family, frame in theories.items():
        predicted = (frame["predicted"] / ROUNDING).round()
        same += [family] if np.isclose(predicted.corr(frame["similarity"], method="spearman"), 1.0) else []
    alike = f" (both give one order of {' and '.join(same)})" if same else ""
    return checks(orders, partial(jackknife.estimate, over="groups of seeds"), alike=alike)


def by_seed(data):
    """The pairs of a map as a data frame with a row for each cell and seed: means over draws."""
    frame = data.to_dataframe().reset_index(drop=True).drop(columns="draw")
    return frame.groupby([*CELL, "seed"], sort=True).mean().reset_index()


def cells(frame):
    """The cells of a map, from a frame as `by_seed` returns it: a data frame.

    Means over seeds, and Student's 95 % interval `low`, `high` of the gain. `decided` are gains whose interval excludes
    0, to `ROUNDING`. `right` is 1 for a decided gain with the predicted sign, 0 for another, also if no change is
    predicted, and NaN if nothing is decided or predicted.
    """
    groups = frame.groupby(CELL)
    table, gain = groups.mean().drop(columns="seed"), groups["gain"]
    half = stats.t.ppf(1 - LEVEL / 2, gain.count().clip(lower=2) - 1) * gain.sem()
    table["low"], table["high"] = table["gain"] - half, table["gain"] + half
    table["decided"] = (table["low"] > ROUNDING) | (table["high"] < -ROUNDING)
    clear = table["predicted"].where(table["predicted"].abs() > ROUNDING, 0.0 * table["predicted"])
    agrees = (np.sign(clear) == np.sign(table["gain"])).astype(float)
    table["right"] = agrees.where(table["decided"] & table["predicted"].notna())
    return table.reset_index()


def finetuned(data):
    """The rows of `by_seed` of finetuned networks, where the gain is known."""
    return by_seed(data).query("protocol == 'finetuning'").dropna(subset="gain")


def leave_seeds_out(frames, statistic, groups=np.inf):
    """A list of values of a statistic of several frames: with all seeds, then without each group of seeds in turn.

    A group is left out of all frames at once. There are at most `groups`, and no more than any frame has seeds.
    """
    groups = min(groups, *(frame["seed"].nunique() for frame in frames))

    def of_groups(included):
        return statistic([frame[(frame["seed"] % groups).isin(included)] for frame in frames])

    return jackknife.leave_one_out(of_groups, range(groups))
