"""Whether predicted boundaries of gain and loss are where they are found, on the maps of several families."""

import numpy as np

from carryover.analysis import atlas, intervals
from carryover.analysis.jackknife import DIFFERENCE, WHOLE_SHARE, estimate
from carryover.config.parameters import NoParameters

Parameters = NoParameters
SHARE = 0.9
ORDERS = 0.5  # rank correlation from which on a prediction counts, as of the ReLU penalty
FINETUNING = "finetuning"
WORDS = {True: "finetuning", False: "linear transfer"}


@intervals.claims(intervals.OWN)
def check(data, p):
    """Roles: maps of families, as comparisons.atlas makes them; claims are named after them.

    Of each map with a prediction the share of its decided cells, of all settings, that are on the predicted side. Of
    each map of finetuning the mean gain on the most and on the least similar tasks, over samples at the usual setting.
    Of all of these how well prediction and similarity order the gains.
    """
    claims = []
    for role, one in atlas.maps(data).items():
        frame, about = atlas.by_seed(one), one.attrs
        for protocol, part in frame.groupby("protocol"):
            name = role if protocol == FINETUNING else f"{role}_transfer"
            what = f"{about['map_family']}, {WORDS[protocol == FINETUNING]}"
            if part["predicted"].notna().any():
                claims.append(_share(name, what, part, about))
            usual = part[part["setting"] == about["map_shown"]]
            if protocol == FINETUNING:
                claims += _ends(role, what, usual)
    return [*claims, *_orders({role: atlas.finetuned(one) for role, one in data.items()})]


def _orders(frames):
    """Of the maps of finetuning that have both: means over them of rank correlations."""
    frames = {role: frame for role, frame in frames.items() if frame["predicted"].notna().any()}
    if len(frames) < 2:
        return []

    def orders(name):
        def mean(parts):
            return np.mean([atlas.order(one, name) for one in parts.values()])

        return np.array(atlas.without_groups(frames, mean))

    predicted, similar = orders("predicted"), orders("similarity")
    measured, within = "rank correlation with the gain, mean over families", "Within families of finetuned networks"
    return [
        ("predicted", f"{within}, what theory predicts orders the gains", predicted, ORDERS, None, measured,
         _of_groups),
        ("similarity", f"{within}, the similarity of the tasks orders the gains", similar, ORDERS, None, measured,
         _of_groups),
        ("better", f"{within}, what theory predicts orders the gains better than the similarity of the tasks",
         predicted - similar, 0.0, None, f"difference of {measured}", _of_groups),
    ]  # fmt: skip


def _share(name, what, frame, about):
    values = atlas.without_each_seed(frame, atlas.share_right)
    statement = f"{what}: pretraining helps and hurts where it is predicted to, by {about['map_theory_is']}"
    measured = "share of the cells with a decided gain that are on the predicted side"
    return f"{name}_side", statement, values, SHARE, None, measured, _of_seeds


def _of_seeds(values, statement, bound):
    return estimate(values, statement, bound, WHOLE_SHARE, over="seeds")


def _of_groups(values, statement, bound):
    return estimate(values, statement, bound, DIFFERENCE, over="groups of seeds")


def _ends(name, what, frame):
    """Gains by seed of the most and of the least similar tasks."""
    gain = frame.groupby(["row", "seed"])["gain"].mean().unstack("seed")
    measured = "log₁₀ of the risk from scratch over that after pretraining, mean over samples"
    return [
        (f"{name}_similar", f"{what}: pretraining helps on the most similar tasks", gain.iloc[-1], 0.0, None, measured),
        (f"{name}_different", f"{what}: pretraining hurts on the least similar tasks", -gain.iloc[0], 0.0, None,
         f"{measured}, with the sign changed"),
    ]  # fmt: skip
