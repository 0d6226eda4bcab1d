"""The cells of an atlas map, by seed, and orders of them."""

import numpy as np
from scipy import stats

from carryover.analysis.run_tables import evenly_spaced
from carryover.statistics import jackknife
from carryover.statistics.intervals import LEVEL

ROUNDING = 1e-6  # gains and predictions up to this size are none: where nothing differs, rounding is as large
CELL = ["protocol", "setting", "row", "samples"]
LARGEST = 1.0  # gain, log₁₀ of a ratio of risks, at which colours of maps end
GROUPS = 6  # groups of seeds of which each is left out in turn, where several families are compared


def order(frames, column):
    """Rank correlation of a column with the gain in frames as `by_seed` returns them, mean over frames."""
    return np.mean([frame[column].corr(frame["gain"], method="spearman") for frame in frames])


def by_seed(data):
    """The pairs of a map as a data frame with a row for each cell and seed: means over draws."""
    frame = data.to_dataframe().reset_index(drop=True).drop(columns="draw")
    return frame.groupby([*CELL, "seed"], sort=True).mean().reset_index()


def cells(frame):
    """The cells of a map, from a frame as `by_seed` returns it: a data frame.

    Means over seeds, the number of `seeds` with a gain, and Student's 95 % interval `low`, `high` of the gain. Gains
    are decided if it excludes 0, to `ROUNDING`, and `open` if it does not, and seeds differ. `right` is 1 for a decided
    gain with the predicted sign, 0 for another, also if no change is predicted, and NaN if nothing is decided or
    predicted.
    """
    groups = frame.groupby(CELL)
    table, gain = groups.mean().drop(columns="seed"), groups["gain"]
    half = stats.t.ppf(1 - LEVEL / 2, gain.count().clip(lower=2) - 1) * gain.sem()
    table["seeds"] = gain.count()
    table["low"], table["high"] = table["gain"] - half, table["gain"] + half
    decided = (table["low"] > ROUNDING) | (table["high"] < -ROUNDING)
    table["open"] = ~decided & table["gain"].notna() & ~(half <= ROUNDING)
    # Predictions up to rounding are none: sign 0, at which no decided gain has the predicted sign; NaN remains.
    clear = table["predicted"].where(table["predicted"].abs() > ROUNDING, 0.0 * table["predicted"])
    agrees = (np.sign(clear) == np.sign(table["gain"])).astype(float)
    table["right"] = agrees.where(decided & table["predicted"].notna())
    return table.reset_index()


def maps(data, settings=0):
    """One map for each protocol and setting of several families, in the order in which a figure shows them.

    Parameters
    ----------
    data : {role: pairs}, each a dataset by `comparisons.atlas` for one family
    settings : how many values of a family's setting (such as the noise) have maps; 0: only the attribute `map_shown`

    Returns
    -------
    A list of [role, title, table]; `table` is a data frame by `cells`, of the cells of that map.
    """
    found = []
    for role, pairs in data.items():
        table, about = cells(by_seed(pairs)), pairs.attrs
        shown = evenly_spaced(table["setting"].unique(), settings) if settings else [about["map_shown"]]
        table = table[table["setting"].isin(shown)]
        for (protocol, setting), part in table.groupby(["protocol", "setting"]):
            # Sort key: finetuning 0, transfer of the features alone 1, families that have only one of the two 2.
            place = 2 if table["protocol"].nunique() == 1 else int(protocol != "finetuning")
            transfer = "finetuning" if protocol == "finetuning" else "linear transfer"
            at_setting = f", {about['map_setting']} {setting:g}" if about["map_setting"] else ""
            right, opened = part["right"].dropna(), part["open"].sum()
            agreement = f", {right.sum():.0f} of {len(right)} right, {opened} open" if len(right) else ""
            title = f"{about['map_family']}{at_setting}\n{transfer}{agreement}"
            found.append((place, role, title, part))
    return [panel for _, *panel in sorted(found, key=lambda panel: panel[0])]


def select_finetuned(data):
    """The rows of `by_seed` of finetuned networks, where the gain is known."""
    return by_seed(data).query("protocol == 'finetuning'").dropna(subset="gain")


def share_right(tables, column, thresholds):
    """(k,) share of cells whose gain is positive just where `column` is above each of `thresholds` (k,), mean over
    `tables`, a list of data frames by `cells`."""
    sides = [(table[column].to_numpy() > thresholds[:, None]) == (table["gain"].to_numpy() > 0) for table in tables]
    return np.mean([right.mean(axis=1) for right in sides], axis=0)


def best_threshold(tables, column):
    """The value of a column, or −∞, above which to expect gains is right most often, by `share_right`: (1,)."""
    values = np.unique(np.concatenate([[-np.inf], *(table[column] for table in tables)]))
    return values[[share_right(tables, column, values).argmax()]]


def leave_one_family_out(tables, column):
    """Share of cells on the side that a threshold chosen on the other families gives, mean over families."""
    return np.mean([share_right([own], column, best_threshold(tables[:place] + tables[place + 1 :], column))
                    for place, own in enumerate(tables)])  # fmt: skip


def leave_seeds_out(frames, statistic):
    """Values of a statistic for the jackknife over seeds: with all seeds, then leaving out one group at a time.

    Parameters
    ----------
    frames : list of data frames with a column `seed`; a group is left out of all of them at once
    statistic : function of such a list

    Returns
    -------
    A list of 1 + groups values (one value if there is only one group). There are as many groups as the frame with the
    fewest seeds has seeds, but at most `GROUPS` if there are several frames.
    """
    groups = min(GROUPS if len(frames) > 1 else np.inf, *(frame["seed"].nunique() for frame in frames))

    def of_groups(included):
        return statistic([frame[(frame["seed"] % groups).isin(included)] for frame in frames])

    return jackknife.leave_one_out(of_groups, range(groups))
