"""Does the penalty of ReLU units predict which function finetuning finds? The premise of "The implicit penalty of
finetuning in ReLU networks", on problems so small that the function of least penalty is known (A3)."""

from itertools import product

import numpy as np
import pandas as pd

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs
from carryover.statistics.correlation import rank_correlation_by_row

FACTOR = 1.25  # ratio of predicted risks from which on pretraining is predicted to help or hurt
UNFITTED = 1e-4  # share of the targets' mean square up to which samples count as fitted
FLOOR = 1e-4  # share of the teacher's mean square below which risks count as the same
CELL = ["protocol", "samples", "correlation", "magnitude"]
PENALTIES = ("penalty", "penalty_least", "turned", "turned_predicted")
RISKS = ("risk_found", "risk_predicted")
TINY = 1e-12  # what weights that have not turned have turned


def check(data, p):
    """Role `least`: the measure `least_penalty` of networks finetuned and from scratch, over correlation and magnitude;
    `spread`: of networks finetuned on similar units from pretrained weights that were turned apart.

    Networks that do not fit their samples are left out, since the prediction is of those that do. Each statistic is of
    the mean over conditions, seed by seed.
    """
    runs, spread = (Runs(role, data[role].where(data[role]["unfitted"] <= UNFITTED)) for role in ("least", "spread"))
    log = {name: np.log10(_by_condition(runs, name, TINY)) for name in PENALTIES}
    _, same = runs.extremes("correlation")
    least, large = runs.extremes("magnitude")
    # Units that need not turn together come nearer to the least penalty than those that must.
    whole = log["penalty"] - log["penalty_least"]
    penalty, smallest = (np.log10(_by_condition(spread, name, TINY)) for name in PENALTIES[:2])
    apart = {"apart": (whole.loc[:, penalty.columns] - (penalty - smallest)).mean(axis=1)}
    found = _nearness(log, same, large) | _risks(runs, same, least, large) | apart
    return checks(found, same=same, least=least, large=large, magnitude=spread.only("magnitude"))


def _nearness(log, same, large):
    """Whether what is found is the function of least penalty: by its penalty, and in its weights."""
    of = log["penalty"].columns.to_frame()
    tuned, similar, small = of["protocol"] == "finetuning", of["correlation"] < same, of["magnitude"] < large
    groups = {
        "scratch": ~tuned,
        "shared": tuned & ~similar,
        "similar": tuned & similar & ~small,
        "small": tuned & similar & small,
    }
    excess = 10 ** (log["penalty"] - log["penalty_least"]) - 1
    turned = log["turned"] - log["turned_predicted"]
    found = {f"least_{name}": -_mean(excess, chosen) for name, chosen in groups.items()}
    return found | {"whole": _mean(turned, groups["small"])}


def _risks(runs, same, least, large):
    """Whether risks, and what pretraining does to them, are those of the functions of least penalty."""
    logs = (np.log10(_by_condition(runs, name, FLOOR)) for name in RISKS)
    found, predicted = (log["single_task"] - log["finetuning"] for log in logs)
    mean = predicted.where(found.notna()).mean()
    similar = mean.index.get_level_values("correlation") < same
    on_similar = [table.loc[:, similar] for table in (found, predicted)]
    rise, predicted_rise = (table.xs(large, axis=1, level="magnitude") - table.xs(least, axis=1, level="magnitude")
                            for table in on_similar)  # fmt: skip
    return {
        "gains": rank_correlation_by_row(found, predicted),
        "gains_similar": rank_correlation_by_row(*on_similar),
        "reversal": _mean(rise, predicted_rise.mean() > 0),
        "helps": _mean(found, mean >= np.log10(FACTOR)),
        "hurts": -_mean(found, -mean >= np.log10(FACTOR)),
    }


def _by_condition(runs, quantity, floor):
    """A quantity, not below a floor, by seed (rows) and condition, a DataFrame; UserError where one is missing."""
    conditions = product(*(runs.options(name) for name in CELL))
    values = {at: runs.by_seed(quantity, **dict(zip(CELL, at, strict=True))) for at in conditions}
    return pd.DataFrame(values).rename_axis(columns=CELL).clip(lower=floor)


def _mean(table, chosen):
    """Mean over some conditions of a table, by seed; NaN where there is none."""
    return table.loc[:, chosen].mean(axis=1)
