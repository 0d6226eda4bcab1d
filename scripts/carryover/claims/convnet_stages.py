"""Finetuning lowers the dimensionality of a convolutional network only if its weights are rescaled before, and keeps
dimensions that were there: Fig. 8d of "Feature reuse …" (B7)."""

import pandas as pd

from carryover.claims.support.checks import Check, checks
from carryover.claims.support.image_tasks import by_task, most_common, seed_means
from carryover.claims.support.runs import Runs, worst


def check(data, p):
    """Role: `stages` of networks finetuned with factors below 1, and with 1. PR: participation ratio of a stage's
    outputs for test images of the task; ENSD: effective number of shared dimensions of start and end."""
    tuned = Runs("stages", data["stages"]).where(protocol="finetuning")
    usual = most_common(data["stages"], "learning_rate")
    runs, plain = tuned.where(learning_rate=usual), tuned.where(rescale=1.0)
    higher = [rate for rate in plain.options("learning_rate") if rate > usual]
    found = {}
    for stage in p.stages:

        def values(runs, quantity, stage=stage):
            return by_task(runs.data.sel(stage=stage), quantity)

        def change(runs, values=values):
            return values(runs, "participation_ratio") / values(runs, "participation_ratio_start")

        falls, apart = {}, {}
        for factor in (one for one in runs.options("rescale") if one < 1):
            small = runs.where(rescale=factor)
            falls[factor] = seed_means(1 - change(small))
            apart[factor] = seed_means(-abs(values(small, "ensd") / values(small, "participation_ratio") - 1))
        ours = {
            f"falls_{stage}": worst(pd.DataFrame(falls)),
            f"inherited_{stage}": worst(pd.DataFrame(apart)),
            f"kept_{stage}": seed_means(change(plain.where(learning_rate=usual))),
        }
        if higher:
            kept = {rate: seed_means(change(plain.where(learning_rate=rate))) for rate in higher}
            ours[f"kept_rates_{stage}"] = Check(worst(pd.DataFrame(kept)), facts={"times": max(higher) / usual})
        found |= checks(ours, stage=stage)
    return found
