"""Finetuning lowers the dimensionality of a convolutional network only if its weights are rescaled before, and keeps
dimensions that were there: Fig. 8d of "Feature reuse …" (B7)."""

import pandas as pd

from carryover.claims.support.checks import checks
from carryover.claims.support.image_tasks import by_task, seed_means
from carryover.claims.support.runs import Runs, worst

STAGES = ("layer3", "layer4")


def check(data, p):
    """Role: `stages` of networks finetuned with factors below 1, and with 1. PR: participation ratio of a stage's
    outputs for test images of the task; ENSD: effective number of shared dimensions of start and end."""
    runs = Runs("stages", data["stages"]).where(protocol="finetuning")
    found = {}
    for stage in STAGES:

        def values(factor, quantity, stage=stage):
            return by_task(runs.where(rescale=factor).data.sel(stage=stage), quantity)

        def change(factor, values=values):
            return values(factor, "participation_ratio") / values(factor, "participation_ratio_start")

        falls, apart = {}, {}
        for factor in (one for one in runs.options("rescale") if one < 1):
            falls[factor] = seed_means(1 - change(factor))
            apart[factor] = seed_means(-abs(values(factor, "ensd") / values(factor, "participation_ratio") - 1))
        found |= checks(
            {f"falls_{stage}": worst(pd.DataFrame(falls)), f"inherited_{stage}": worst(pd.DataFrame(apart)),
             f"kept_{stage}": seed_means(change(1.0))},
            stage=stage,
        )  # fmt: skip
    return found
