"""Whether pretraining helps and hurts where theory predicts it, on the maps of several families."""

from functools import partial

import numpy as np

from carryover.claims.support import atlas_cells
from carryover.claims.support.checks import Check, checks
from carryover.statistics.correlation import rank_correlation
from carryover.statistics.intervals import clopper_pearson
from carryover.statistics.jackknife import DIFFERENCE, WHOLE_SHARE, estimate

PREDICTORS = {
    "predicted": "predicted",
    "similarity": "similarity",
    "readout": "probe_r_squared",
    "alignment": "target_alignment",
}
"""{check: column of the maps}; each check is on how well the column orders gains."""
OF_FEATURES = ("probe_r_squared", "target_alignment")
"""Columns that are compared over the families that have both."""


def check(data, p):
    """Roles: maps of families, as comparisons.atlas makes them; checks are named after them.

    For each map with a prediction, the share of its decided cells, of all settings, with the predicted sign, and
    whether that says more than a constant guess. Over all maps of finetuning, how well prediction, similarity and
    properties of the pretrained features order the gains.
    """
    found = {}
    for role, one in data.items():
        for protocol, frame in atlas_cells.by_seed(one).groupby("protocol"):
            if frame["predicted"].notna().any():
                name, transfer = (role, "finetuning") if protocol == "finetuning" else (
                    f"{role}_transfer", "linear transfer")  # fmt: skip
                values = {f"{name}_{which}": share for which, share in _signs(frame).items()}
                found |= checks(values, family=one.attrs["map_family"], transfer=transfer,
                                theory=one.attrs["map_theory_is"])  # fmt: skip
    return found | _orders({one.attrs["map_family"]: atlas_cells.finetuned(one) for one in data.values()})


def _signs(frame):
    """How often the predicted sign is right, and how often for the sign that fewer cells have."""
    cells = atlas_cells.predictable(frame)
    sign = -1.0 if (cells["gain"] > 0).mean() > 0.5 else 1.0

    def right(part):
        return atlas_cells.predictable(part)["right"]

    def right_if_rarer(part):
        table = atlas_cells.predictable(part)
        return table["right"][sign * table["predicted"] > atlas_cells.ROUNDING]

    return {"side": _share(frame, right), "rarer": _share(frame, right_if_rarer)}


def _share(frame, right):
    """A jackknife over seeds; if no seed changes the share, it has no spread, and the interval is over cells."""
    values, shares = right(frame), atlas_cells.leave_one_out(frame, lambda part: right(part).mean())
    if not len(values) or len(shares) == 1 or len(set(shares)) > 1:
        return Check(shares, partial(estimate, scale=WHOLE_SHARE, over="seeds"))
    return Check(values, partial(clopper_pearson, over="cells"))


def _orders(frames):
    """Rank correlations of predictors with the gain of finetuning, means over the families that have a prediction."""
    frames = {family: frame for family, frame in frames.items() if frame["predicted"].notna().any()}
    orders = {}
    for name, column in PREDICTORS.items():
        wanted = OF_FEATURES if column in OF_FEATURES else (column,)
        having = {family: frame for family, frame in frames.items()
                  if all(other in frame and frame[other].notna().any() for other in wanted)}  # fmt: skip
        if len(having) > 1:
            mean = partial(_mean_order, column=column)
            orders[name] = np.array(atlas_cells.leave_groups_out(having, mean))
    if not orders:
        return {}
    # A prediction that does not depend on the number of samples orders tasks, not cells.
    alike = " and ".join(family for family, frame in frames.items() if _ordered_alike(frame))
    orders["better"] = orders["predicted"] - orders["similarity"]
    return checks(orders, partial(estimate, scale=DIFFERENCE, over="groups of seeds"),
                  alike=f" (both give one order of {alike})" if alike else "")  # fmt: skip


def _mean_order(frames, column):
    return np.mean([atlas_cells.order(frame, column) for frame in frames.values()])


def _ordered_alike(frame):
    """Whether prediction, but for rounding, and similarity give cells the same ranks."""
    predicted = (frame["predicted"] / atlas_cells.ROUNDING).round()
    return np.isclose(rank_correlation(predicted, frame["similarity"]), 1.0)
