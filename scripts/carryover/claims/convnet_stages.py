"""Finetuning lowers the dimensionality of a convolutional network only if its weights are rescaled before, and keeps
dimensions that were there: Fig. 8d of "Feature reuse …" (B7)."""

import numpy as np

from carryover.analysis import intervals
from carryover.analysis.by_task import seed_means, table
from carryover.analysis.runs import Runs
from carryover.errors import UserError

RATIO = "participation ratio after finetuning over that before"


@intervals.claims("App. G, Fig. 8d", "relative change, or ratio, of dimensions")
def check(data, p):
    """Role: `stages` of networks finetuned with factors below 1, and with 1. PR: participation ratio of a stage's
    outputs for test images of the task; ENSD: effective number of shared dimensions of start and end."""
    runs = Runs("stages", data["stages"]).where(protocol="finetuning")
    factors = runs.options("rescale")
    if factors[0] >= 1:
        raise UserError(f"this claim needs rescale below 1 of the role stages, not from {factors[0]:g}.")
    plain = runs.where(rescale=1.0)
    claims = []
    for stage in p.stages:
        claims += [claim for factor in factors if factor < 1 for claim in _rescaled(runs, plain, factor, stage, p)]
        claims += [_kept(runs, factor, stage, p) for factor in factors if factor >= 1]
    return [(name, statement, seed_means(values), *told) for name, statement, values, *told in claims]


def _rescaled(runs, plain, factor, stage, p):
    """That PR falls, to less than without the factor, and that what is left was there before."""
    small = runs.where(rescale=factor)
    after, shared = _values(small, "participation_ratio", stage), _values(small, "ensd", stage)
    multiplied = f"all weights were multiplied by {factor:g}"
    return [
        (f"falls_{factor:g}_{stage}", f"Finetuning leaves {stage} fewer dimensions than before where {multiplied}",
         1 - _change(small, stage), p.change, None, "relative fall of the participation ratio"),
        (f"lower_{factor:g}_{stage}",
         f"Finetuning leaves {stage} fewer dimensions where {multiplied} than where they were not",
         np.log10(_values(plain, "participation_ratio", stage) / after), 0.0, None,
         "decades between participation ratios"),
        (f"inherited_{factor:g}_{stage}",
         f"Where {multiplied} before finetuning, {stage} shares as many dimensions (ENSD) with its start "
         "as it has left",
         -abs(shared / after - 1), -p.near, None, "relative distance of ENSD from the participation ratio after, "
         "with the sign changed"),
    ]  # fmt: skip


def _kept(runs, factor, stage, p):
    how = "no weights were multiplied" if factor == 1 else f"all weights were multiplied by {factor:g}"
    statement = f"Finetuning leaves {stage} no fewer dimensions than before where {how}"
    ratio = _change(runs.where(rescale=factor), stage)
    return f"kept_{factor:g}_{stage}", statement, ratio, 1 - p.change, None, RATIO


def _change(runs, stage):
    return _values(runs, "participation_ratio", stage) / _values(runs, "participation_ratio_start", stage)


def _values(runs, quantity, stage):
    """A quantity of one stage, seeds by tasks; UserError for a stage that the networks do not have."""
    known = runs.data["stage"].values.tolist()
    if stage not in known:
        raise UserError(f"stages is {stage}, but these networks have {', '.join(known)}.")
    return table(runs.data.sel(stage=stage), quantity)
