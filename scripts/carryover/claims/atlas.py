"""Whether pretraining helps and hurts where theory predicts it, on the maps of several families."""

from functools import partial

import numpy as np

from carryover.claims.support import atlas_cells, checks
from carryover.statistics.correlation import rank_correlation
from carryover.statistics.intervals import clopper_pearson
from carryover.statistics.jackknife import DIFFERENCE, WHOLE_SHARE, estimate

SHARE = 0.9
CHANCE = 0.5
ORDERS = 0.5  # rank correlation from which on a prediction counts, as of the ReLU penalty
PREDICTORS = {
    "predicted": ("predicted", "what theory predicts"),
    "similarity": ("similarity", "the similarity of the tasks"),
    "readout": (
        "probe_r_squared",
        "how well a readout of the pretrained features predicts, or is to predict, samples left out",
    ),
    "alignment": ("target_alignment", "the alignment of the pretrained features' kernel with the target"),
}
"""{check: (column of the maps, in words)}; each check is on how well the column orders gains."""
OF_FEATURES = ("probe_r_squared", "target_alignment")
"""Columns that are compared over the families that have both."""


@checks.group(checks.OWN)
def check(data, p):
    """Roles: maps of families, as comparisons.atlas makes them; checks are named after them.

    For each map with a prediction, the share of its decided cells, of all settings, with the predicted sign, and
    whether that says more than a constant guess. Over all maps of finetuning, how well prediction, similarity and
    properties of the pretrained features order the gains.
    """
    found = []
    for role, one in atlas_cells.maps(data).items():
        for protocol, frame in atlas_cells.by_seed(one).groupby("protocol"):
            if frame["predicted"].notna().any():
                tuned = protocol == "finetuning"
                what = f"{one.attrs['map_family']}, {'finetuning' if tuned else 'linear transfer'}"
                found += _signs(role if tuned else f"{role}_transfer", what, frame, one.attrs["map_theory_is"])
    return [*found, *_orders({one.attrs["map_family"]: atlas_cells.finetuned(one) for one in data.values()})]


def _signs(name, what, frame, theory):
    """How often the predicted sign is right, and how often for the sign that fewer cells have."""
    measured = "share of the cells with a decided gain that are "
    where = f"{what}: pretraining helps and hurts where it is predicted to, by {theory}"
    rarer = f"{what}: that tells more than that all are alike: the rarer of gain and loss comes where predicted"
    cells = atlas_cells.predictable(frame)
    sign = -1.0 if (cells["gain"] > 0).mean() > 0.5 else 1.0

    def right(part):
        return atlas_cells.predictable(part)["right"]

    def right_if_rarer(part):
        table = atlas_cells.predictable(part)
        return table["right"][sign * table["predicted"] > atlas_cells.ROUNDING]

    return [
        _share(f"{name}_side", where, frame, right, SHARE, f"{measured}on the predicted side"),
        _share(f"{name}_rarer", rarer, frame, right_if_rarer, CHANCE,
               f"{measured}predicted to be on the rarer side, and are there"),
    ]  # fmt: skip


def _share(name, statement, frame, right, bound, measured):
    """A jackknife over seeds; if no seed changes the share, it has no spread, and the interval is over cells."""
    values, estimator = right(frame), partial(clopper_pearson, over="cells")
    shares = atlas_cells.leave_one_out(frame, lambda part: right(part).mean())
    if not len(values) or len(shares) == 1 or len(set(shares)) > 1:
        values, estimator = shares, partial(estimate, scale=WHOLE_SHARE, over="seeds")
    return checks.Check(name, statement, values, bound, measured=measured, estimate=estimator)


def _orders(frames):
    """Rank correlations of predictors with the gain of finetuning, means over the families that have a prediction."""
    frames = {family: frame for family, frame in frames.items() if frame["predicted"].notna().any()}
    within, measured = "Within families of finetuned networks", "rank correlation with the gain, mean over families"
    check = partial(checks.Check, estimate=partial(estimate, scale=DIFFERENCE, over="groups of seeds"))
    found, orders = [], {}
    for name, (column, what) in PREDICTORS.items():
        wanted = OF_FEATURES if column in OF_FEATURES else (column,)
        having = {family: frame for family, frame in frames.items()
                  if all(other in frame and frame[other].notna().any() for other in wanted)}  # fmt: skip
        if len(having) > 1:
            mean = partial(_mean_order, column=column)
            orders[name] = np.array(atlas_cells.leave_groups_out(having, mean))
            found.append(check(name, f"{within}, {what} orders the gains", orders[name], ORDERS, measured=measured))
    if orders:
        # A prediction that does not depend on the number of samples orders tasks, not cells.
        alike = [family for family, frame in frames.items() if _ordered_alike(frame)]
        but = f" (both give one order of {' and '.join(alike)})" if alike else ""
        prediction, similarity = PREDICTORS["predicted"][1], PREDICTORS["similarity"][1]
        statement = f"{within}, {prediction} orders the gains better than {similarity}{but}"
        better = orders["predicted"] - orders["similarity"]
        found.append(check("better", statement, better, 0.0, measured=f"difference of {measured}"))
    return found


def _mean_order(frames, column):
    return np.mean([atlas_cells.order(frame, column) for frame in frames.values()])


def _ordered_alike(frame):
    """Whether prediction, but for rounding, and similarity give cells the same ranks."""
    predicted = (frame["predicted"] / atlas_cells.ROUNDING).round()
    return np.isclose(rank_correlation(predicted, frame["similarity"]), 1.0)
