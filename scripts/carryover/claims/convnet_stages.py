"""Finetuning lowers the dimensionality of a convolutional network only if its weights are rescaled before, and keeps
dimensions that were there: Fig. 8d of "Feature reuse …" (B7)."""

import pandas as pd

from carryover.claims.support import checks
from carryover.claims.support.image_tasks import by_task, most_common, seed_means
from carryover.claims.support.runs import Runs, worst
from carryover.errors import UserError

CHANGE = 0.1  # relative change of a dimensionality from which on it counts
NEAR = 0.2  # relative distance of ENSD from PR up to which they count as the same


@checks.group("App. G, Fig. 8d", "relative change, or ratio, of dimensions")
def check(data, p):
    """Role: `stages` of networks finetuned with factors below 1, and with 1. PR: participation ratio of a stage's
    outputs for test images of the task; ENSD: effective number of shared dimensions of start and end."""
    tuned = Runs("stages", data["stages"]).where(protocol="finetuning")
    usual = most_common(data["stages"], "learning_rate")
    runs = tuned.where(learning_rate=usual)
    higher = [rate for rate in tuned.where(rescale=1.0).options("learning_rate") if rate > usual]
    factors = runs.options("rescale")
    if factors[0] >= 1:
        raise UserError(f"this claim needs rescale below 1 of the role stages, not from {factors[0]:g}.")
    small = {factor: runs.where(rescale=factor) for factor in factors if factor < 1}
    multiplied = "all weights were multiplied by less than 1, at every such factor"
    claims = []
    for stage in p.stages:
        falls = {factor: seed_means(1 - _change(one, stage)) for factor, one in small.items()}
        apart = {
            factor: seed_means(-abs(_values(one, "ensd", stage) / _values(one, "participation_ratio", stage) - 1))
            for factor, one in small.items()
        }
        claims += [
            (f"falls_{stage}", f"Finetuning leaves {stage} fewer dimensions than before where {multiplied}",
             worst(pd.DataFrame(falls)), CHANGE, None, "relative fall of the participation ratio"),
            (f"inherited_{stage}", f"After finetuning, {stage} shares as many dimensions (ENSD) with its start as it "
             f"has, where {multiplied}", worst(pd.DataFrame(apart)), -NEAR, None,
             "relative distance of ENSD from the participation ratio after, with the sign changed"),
            (f"kept_{stage}", f"Finetuning leaves {stage} no fewer dimensions than before where no weights were "
             "multiplied", seed_means(_change(runs.where(rescale=1.0), stage)), 1 - CHANGE, None,
             "participation ratio after finetuning over that before"),
        ]  # fmt: skip
        if higher:
            by_rate = (tuned.where(rescale=1.0, learning_rate=rate) for rate in higher)
            kept = {rate: seed_means(_change(one, stage)) for rate, one in zip(higher, by_rate, strict=True)}
            claims.append((
                f"kept_rates_{stage}", f"Finetuning leaves {stage} no fewer dimensions than before where no weights "
                f"were multiplied, at learning rates up to {max(higher) / usual:g} times as large",
                worst(pd.DataFrame(kept)), 1 - CHANGE, checks.OWN,
                "participation ratio after finetuning over that before",
            ))  # fmt: skip
    return claims


def _change(runs, stage):
    return _values(runs, "participation_ratio", stage) / _values(runs, "participation_ratio_start", stage)


def _values(runs, quantity, stage):
    """A quantity of one stage, seeds by tasks; UserError for a stage that the networks do not have."""
    known = runs.data["stage"].values.tolist()
    if stage not in known:
        raise UserError(f"stages is {stage}, but these networks have {', '.join(known)}.")
    return by_task(runs.data.sel(stage=stage), quantity)
