"""Does the penalty of ReLU units predict which function finetuning finds? The premise of "The implicit penalty of
finetuning in ReLU networks", on problems so small that the function of least penalty is known (A3)."""

from itertools import product

import numpy as np
import pandas as pd

from carryover.claims.support import checks
from carryover.claims.support.runs import Runs
from carryover.statistics.correlation import rank_correlation_by_row

EXCESS = 0.1  # share by which the penalty of what was found may exceed the least
ORDER = 0.5  # rank correlation from which on a prediction counts
FACTOR = 1.25  # ratio of predicted risks from which on pretraining is predicted to help or hurt
UNFITTED = 1e-4  # share of the targets' mean square up to which samples count as fitted
FLOOR = 1e-4  # share of the teacher's mean square below which risks count as the same
CELL = ["protocol", "samples", "correlation", "magnitude"]
PENALTIES = ("penalty", "penalty_least", "turned", "turned_predicted")
RISKS = ("risk_found", "risk_predicted")
TINY = 1e-12  # what weights that have not turned have turned


@checks.group(checks.own("1.2, Fig. 1c"), "log₁₀ of a ratio of risks")
def check(data, p):
    """Role `least`: the measure `least_penalty` of networks finetuned and from scratch, over correlation and magnitude;
    `spread`: of networks finetuned on similar units from pretrained weights that were turned apart.

    Networks that do not fit their samples are left out, since the prediction is of those that do. Each statistic is of
    the mean over conditions, seed by seed.
    """
    runs, spread = (Runs(role, data[role].where(data[role]["unfitted"] <= UNFITTED)) for role in ("least", "spread"))
    smallest = dict.fromkeys(RISKS, FLOOR)
    log = {name: np.log10(_by_condition(runs, name, smallest.get(name, TINY))) for name in (*PENALTIES, *RISKS)}
    _, same = runs.extremes("correlation")
    least, large = runs.extremes("magnitude")
    return [*_nearness(log, same, large), _apart(log, spread), *_risks(log, same, least, large)]


def _nearness(log, same, large):
    """Whether what is found is the function of least penalty: by its penalty, and in its weights."""
    of = log["penalty"].columns.to_frame()
    tuned, similar, small = of["protocol"] == "finetuning", of["correlation"] < same, of["magnitude"] < large
    groups = {
        "scratch": ("trained from scratch", ~tuned),
        "shared": (f"finetuned on the pretrained units (cosine {same:g})", tuned & ~similar),
        "similar": (f"finetuned on similar units (cosines below {same:g}) of magnitude {large:g}",
                    tuned & similar & ~small),
        "small": (f"finetuned on similar units of magnitudes below {large:g}", tuned & similar & small),
    }  # fmt: skip
    excess = 10 ** (log["penalty"] - log["penalty_least"]) - 1
    return [
        *((f"least_{name}", f"Networks {which} find a function of hardly more than the least penalty",
           -_mean(excess, chosen), -EXCESS, None, "share in excess of the least, with the sign changed")
          for name, (which, chosen) in groups.items()),
        ("whole", f"On similar units of magnitudes below {large:g}, pretrained weights turn farther than in the "
         "network of least penalty", _mean(log["turned"] - log["turned_predicted"], groups["small"][1]), 0.0, None,
         "log₁₀ of a ratio of 1 − cosine"),
    ]  # fmt: skip


def _apart(log, spread):
    """Whether units that need not turn together come nearer to the least penalty than those that must."""
    penalty, least = (np.log10(_by_condition(spread, name, TINY)) for name in PENALTIES[:2])
    whole = log["penalty"] - log["penalty_least"]
    magnitude = spread.only("magnitude")
    return ("apart", f"On similar units of magnitude {magnitude:g}, what is found costs less beside the least where "
            "pretrained weights of one direction were turned apart",
            (whole.loc[:, penalty.columns] - (penalty - least)).mean(axis=1), 0.0, None,
            "log₁₀ of a ratio of ratios of penalties R̃, found to least")  # fmt: skip


def _risks(log, same, least, large):
    """Whether risks, and what pretraining does to them, are those of the functions of least penalty."""
    gain = {kind: log[kind]["single_task"] - log[kind]["finetuning"] for kind in RISKS}
    found, predicted = gain.values()
    mean = predicted.where(found.notna()).mean()
    similar = mean.index.get_level_values("correlation") < same
    some = [table.loc[:, similar] for table in gain.values()]
    rise, predicted_rise = (
        table.xs(large, axis=1, level="magnitude") - table.xs(least, axis=1, level="magnitude") for table in some
    )
    helps, hurts = (sign * mean >= np.log10(FACTOR) for sign in (1, -1))
    over = "rank correlation over n, cosines and magnitudes"
    return [
        *((f"gains{name}", f"The more pretraining lowers the risk of the function of least penalty{where}, the more it "
           "lowers that of what is found", rank_correlation_by_row(*tables), ORDER, None, over)
          for name, where, tables in (("", "", gain.values()), ("_similar", ", on similar units", some))),
        ("reversal", f"On similar units pretraining helps less, or hurts more, at magnitude {least:g} than at "
         f"{large:g}, where the function of least penalty says so", _mean(rise, predicted_rise.mean() > 0), 0.0),
        ("helps", f"Where the function of least penalty has {FACTOR:g} times less risk after pretraining, or better, "
         "finetuned networks beat networks from scratch", _mean(found, helps), 0.0),
        ("hurts", f"Where it has {FACTOR:g} times more, or worse, networks from scratch beat finetuned ones",
         -_mean(found, hurts), 0.0),
    ]  # fmt: skip


def _by_condition(runs, quantity, floor):
    """A quantity, not below a floor, by seed (rows) and condition, a DataFrame; UserError where one is missing."""
    conditions = product(*(runs.options(name) for name in CELL))
    values = {at: runs.by_seed(quantity, **dict(zip(CELL, at, strict=True))) for at in conditions}
    return pd.DataFrame(values).rename_axis(columns=CELL).clip(lower=floor)


def _mean(table, chosen):
    """Mean over some conditions of a table, by seed; NaN where there is none."""
    return table.loc[:, chosen].mean(axis=1)
