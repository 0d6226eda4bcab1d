"""Does the penalty of ReLU units predict which function finetuning finds? The premise of "The implicit penalty of
finetuning in ReLU networks", on problems so small that the function of least penalty is known (A3)."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from carryover.analysis import intervals
from carryover.analysis.runs import Runs, rank_correlation
from carryover.config.parameters import parameter

CELL = ["protocol", "samples", "correlation", "magnitude"]
RISKS = ("risk_found", "risk_predicted", "difference")


@dataclass(frozen=True, kw_only=True)
class Parameters:
    excess: float = parameter(0.1, "share by which the penalty of what was found may exceed the least", above=0)
    order: float = parameter(0.5, "rank correlation from which on a prediction counts", minimum=0, maximum=1)
    factor: float = parameter(1.25, "ratio of predicted risks from which on pretraining is predicted to help or hurt",
                              minimum=1)  # fmt: skip
    unfitted: float = parameter(1e-4, "share of the targets' mean square up to which samples count as fitted", above=0)
    floor: float = parameter(1e-4, "share of the teacher's mean square below which risks count as the same", above=0)


@intervals.claims(intervals.own("1.2, Fig. 1c"), "log₁₀ of a ratio of risks")
def check(data, p):
    """Role `least`: the measure `least_penalty` of networks finetuned and from scratch, over correlation and magnitude.

    Networks that do not fit their samples are left out, since the prediction is of those that do. Each statistic is of
    the mean over conditions, seed by seed.
    """
    runs = Runs("least", data["least"].where(data["least"]["unfitted"] <= p.unfitted))
    _, same = runs.extremes("correlation")
    least, large = runs.extremes("magnitude")
    log = {name: np.log10(_by_condition(runs, name, p.floor if name in RISKS else 0)) for name in (
        "penalty", "penalty_least", "turned", "turned_predicted", *RISKS)}  # fmt: skip
    of = log["penalty"].columns.to_frame()
    tuned, similar, small = of["protocol"] == "finetuning", of["correlation"] < same, of["magnitude"] < large
    groups = {
        "scratch": ("trained from scratch", ~tuned),
        "shared": (f"finetuned on the pretrained units (cosine {same:g})", tuned & ~similar),
        "similar": (f"finetuned on similar units (cosines below {same:g}) of magnitude {large:g}",
                    tuned & similar & ~small),
        "small": (f"finetuned on similar units of magnitudes below {large:g}", tuned & similar & small),
    }  # fmt: skip
    excess, nearer = log["penalty"] - log["penalty_least"], log["risk_found"] - log["difference"]
    gain = {kind: log[kind]["single_task"] - log[kind]["finetuning"] for kind in RISKS[:2]}
    predicted = gain["risk_predicted"].where(gain["risk_found"].notna()).mean()
    some = predicted.index.get_level_values("correlation") < same
    rise = {kind: table.loc[:, some].xs(large, axis=1, level="magnitude") - table.loc[:, some].xs(
        least, axis=1, level="magnitude") for kind, table in gain.items()}  # fmt: skip
    more, less = (sign * predicted >= np.log10(p.factor) for sign in (-1, 1))
    than = "nearer to the function of least penalty than to the teacher"
    return [
        *((f"least_{name}", f"Networks {which} find a function of hardly more than the least penalty",
           np.log10(1 + p.excess) - _mean(excess, chosen), 0.0, None,
           f"log₁₀ of {1 + p.excess:g} over the ratio of penalties R̃, found to least")
          for name, (which, chosen) in groups.items()),
        ("function_scratch", f"What networks from scratch find is {than}", _mean(nearer, ~tuned), 0.0),
        ("function_similar", f"What networks finetuned on similar units find is {than}",
         _mean(nearer, tuned & similar), 0.0),
        ("whole", f"On similar units of magnitudes below {large:g}, pretrained weights turn farther than in the "
         "network of least penalty", _mean(log["turned"] - log["turned_predicted"], groups["small"][1]), 0.0, None,
         "log₁₀ of a ratio of 1 − cosine"),
        ("risks", "The larger the risk of the function of least penalty, the larger is that of what is found",
         rank_correlation(log["risk_predicted"], log["risk_found"]), p.order, None,
         "rank correlation over protocols, n, cosines and magnitudes"),
        *((f"gains{name}", f"The more pretraining lowers the risk of the function of least penalty{where}, the more it "
           "lowers that of what is found", rank_correlation(*(table.loc[:, chosen] for table in gain.values())),
           p.order, None, "rank correlation over n, cosines and magnitudes")
          for name, where, chosen in (("", "", some | ~some), ("_similar", ", on similar units", some))),
        ("reversal", f"On similar units pretraining helps less, or hurts more, at magnitude {least:g} than at {large:g}, "
         "where the function of least penalty says so", _mean(rise["risk_found"], rise["risk_predicted"].mean() > 0), 0.0),
        ("helps", f"Where the function of least penalty has {p.factor:g} times less risk after pretraining, or better, "
         "finetuned networks beat networks from scratch", _mean(gain["risk_found"], less), 0.0),
        ("hurts", f"Where it has {p.factor:g} times more, or worse, networks from scratch beat finetuned ones",
         -_mean(gain["risk_found"], more), 0.0),
    ]  # fmt: skip


def _by_condition(runs, quantity, floor):
    """A quantity, not below a floor, by seed (rows) and condition, a DataFrame; UserError where one is missing."""
    conditions = product(*(runs.options(name) for name in CELL))
    values = {at: runs.by_seed(quantity, **dict(zip(CELL, at, strict=True))) for at in conditions}
    return pd.DataFrame(values).rename_axis(columns=CELL).clip(lower=floor)


def _mean(table, chosen):
    """Mean over some conditions of a table, by seed; NaN where there is none."""
    return table.loc[:, chosen].mean(axis=1)
