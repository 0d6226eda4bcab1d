"""Whether predicted boundaries of gain and loss are where they are found, on the maps of several families."""

from functools import partial

import numpy as np

from carryover.analysis import atlas, intervals
from carryover.analysis.jackknife import DIFFERENCE, WHOLE_SHARE, estimate

SHARE = 0.9
CHANCE = 0.5
ORDERS = 0.5  # rank correlation from which on a prediction counts, as of the ReLU penalty
FINETUNING = "finetuning"
KNOWN = {
    "predicted": ("predicted", "what theory predicts"),
    "similarity": ("similarity", "the similarity of the tasks"),
    "readout": (
        "probe_r_squared",
        "how well a readout of the pretrained features predicts, or is to predict, samples left out",
    ),
    "alignment": ("target_alignment", "the alignment of the pretrained features' kernel with the target"),
}
"""Columns of maps, each with a claim on how well it orders gains."""
OF_FEATURES = ("probe_r_squared", "target_alignment")
"""Columns that are compared over the families that have both."""
WORDS = {True: "finetuning", False: "linear transfer"}


@intervals.claims(intervals.OWN)
def check(data, p):
    """Roles: maps of families, as comparisons.atlas makes them; claims are named after them.

    Of each map with a prediction the share of its decided cells, of all settings, that are on the predicted side, and
    whether that says more than a constant guess. Of all maps of finetuning how well prediction and similarity order the
    gains, and what is known of pretrained features.
    """
    claims = []
    for role, one in atlas.maps(data).items():
        frame, about = atlas.by_seed(one), one.attrs
        for protocol, part in frame.groupby("protocol"):
            name = role if protocol == FINETUNING else f"{role}_transfer"
            what = f"{about['map_family']}, {WORDS[protocol == FINETUNING]}"
            if part["predicted"].notna().any():
                claims += _sides(name, what, part, about)
    return [*claims, *_orders({one.attrs["map_family"]: atlas.finetuned(one) for one in data.values()})]


def _orders(frames):
    """Means over maps of finetuning with a prediction, and with what is to order the gains, of rank correlations."""
    frames = {family: frame for family, frame in frames.items() if frame["predicted"].notna().any()}
    within, measured = "Within families of finetuned networks", "rank correlation with the gain, mean over families"
    claims, found = [], {}
    for name, (column, what) in KNOWN.items():
        wanted = OF_FEATURES if column in OF_FEATURES else (column,)
        having = {family: one for family, one in frames.items() if all(_known(one, other) for other in wanted)}
        if len(having) > 1:
            found[name] = np.array(atlas.without_groups(having, partial(_mean_order, column=column)))
            statement = f"{within}, {what} orders the gains"
            claims.append((name, statement, found[name], ORDERS, None, measured, _of_groups))
    if found:
        # A prediction that does not depend on the number of samples orders tasks, not cells.
        alike = [family for family, one in frames.items() if _ordered_alike(one)]
        but = f" (both give one order of {' and '.join(alike)})" if alike else ""
        statement = f"{within}, {KNOWN['predicted'][1]} orders the gains better than {KNOWN['similarity'][1]}{but}"
        better = found["predicted"] - found["similarity"]
        claims.append(("better", statement, better, 0.0, None, f"difference of {measured}", _of_groups))
    return claims


def _ordered_alike(frame):
    """Whether prediction, but for rounding, and similarity give cells the same ranks."""
    predicted = (frame["predicted"] / atlas.ROUNDING).round()
    return np.isclose(atlas.rank_correlation(predicted, frame["similarity"], np.ones(len(frame))), 1.0)


def _known(frame, column):
    return column in frame and frame[column].notna().any()


def _mean_order(frames, column):
    return np.mean([atlas.order(one, column) for one in frames.values()])


def _sides(name, what, frame, about):
    """How often the predicted side is right, and how often where most cells are on the other."""
    theory, measured = f"by {about['map_theory_is']}", "share of the cells with a decided gain that are "
    where = f"{what}: pretraining helps and hurts where it is predicted to, {theory}"
    rarer = f"{what}: that tells more than that all are alike: the rarer of gain and loss comes where predicted"
    to_be_rarer = partial(atlas.predicted_to_be, sign=atlas.rarer(frame))
    return [
        _share(f"{name}_side", where, frame, atlas.predicted, SHARE, f"{measured}on the predicted side"),
        _share(f"{name}_rarer", rarer, frame, to_be_rarer, CHANCE,
               f"{measured}predicted to be on the rarer side, and are there"),
    ]  # fmt: skip


def _share(name, statement, frame, of_cells, bound, measured):
    """The jackknife's over seeds; where no seed matters that tells nothing, and cells are counted."""
    found = of_cells(frame)
    values = atlas.without_each_seed(frame, lambda part: of_cells(part).mean())
    if len(found) and len(values) > 1 and len(set(values)) == 1:
        return name, statement, found, bound, None, measured, _of_cells
    return name, statement, values, bound, None, measured, _of_seeds


def _of_cells(values, statement, bound):
    return intervals.counted(values, bound, "cells")


def _of_seeds(values, statement, bound):
    return estimate(values, statement, bound, WHOLE_SHARE, over="seeds")


def _of_groups(values, statement, bound):
    return estimate(values, statement, bound, DIFFERENCE, over="groups of seeds")
