"""Where linear transfer of deep linear networks helps, and what penalties do to it ("Features are fate", 3.3)."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from carryover.analysis import intervals
from carryover.analysis.runs import Runs, nearest
from carryover.analysis.transferability import predicted, transferability, with_decay
from carryover.config.parameters import parameter
from carryover.errors import UserError
from carryover.theory.transfer import optimal_ridge

RISKS = "difference of risks"


@dataclass(frozen=True, kw_only=True)
class Parameters:
    margin: float = parameter(0.05, "points at which theory is nearer to 0 say nothing about its sign", above=0)
    ridge: float = parameter(0.1, "ridge penalty that is compared with none", above=0)


@intervals.claims("theorem 3.7, Fig. 1", "transferability")
def check(data, p):
    """Roles: `diagram` of single-task and linearly transferred networks, `ridge` of transfer with ridge penalties,
    `decay` of single-task networks with weight decay. Statistics are means over draws."""
    runs = transferability(data["diagram"], "linear_transfer")
    theory = predicted("linear", runs)
    negative, positive = runs[theory < -p.margin], runs[(theory > p.margin) & np.isfinite(theory)]
    fewest, most = Runs("ridge", data["ridge"]).extremes("samples")
    few, many = (_ridge(data["ridge"], samples) for samples in (fewest, most))
    plain, decayed = (_at_one(data["decay"], chosen) for chosen in (None, "validation_loss"))
    return [
        ("negative", "Linear transfer loses where theory says so (eq 11), on the mean over that region",
         -negative.groupby("seed")["transferability"].mean(), 0.0),
        ("signs", "At nine of ten points the sign of the transferability is that of theory",
         (np.sign(runs["transferability"]) == np.sign(theory))[abs(theory) > p.margin].groupby(runs["seed"]).mean(),
         0.9, None, "share of points"),
        ("positive", "Where theory says that linear transfer gains, its median gain over that region is positive",
         positive.groupby("seed")["transferability"].median(), 0.0),
        ("ridge_hurts", f"A ridge penalty of {p.ridge:g} raises the risk of linear transfer at n = {most:g}",
         many(p.ridge) - many(0.0), 0.0, "theorem 3.8, Fig. 6", RISKS),
        ("ridge_helps", f"The penalty that is best in theory lowers the risk of linear transfer at n = {fewest:g}",
         few(0.0) - few("best"), 0.0, "theorem 3.8 at finite n (eq 125)", RISKS),
        ("ridge_vanishes", f"The penalty of least risk is smaller at n = {most:g} than at {fewest:g}",
         _best_penalty(data["ridge"], fewest) - _best_penalty(data["ridge"], most), 0.0, "theorem 3.8, Fig. 6",
         "difference of best penalties, in steps of the grid"),
        ("anomalous", "Orthogonal features gain at γ ≈ 1 over scratch training without weight decay",
         plain, 0.0, "App. E, Fig. 5"),
        ("regularised", "Orthogonal features lose at γ ≈ 1 against scratch training with weight decay chosen by "
         "cross-validation",
         -decayed, 0.0, "App. E, Fig. 5"),
    ]  # fmt: skip


def _best_penalty(risk, samples):
    """Number of the penalty of least risk, among all that were tried, by seed."""
    runs = _penalised(risk, samples)
    penalties = runs.options("ridge")
    risks = {number: runs.by_seed("risk_final", ridge=penalty) for number, penalty in enumerate(penalties)}
    return pd.DataFrame(risks).idxmin(axis=1)


def _penalised(risk, samples):
    """The runs of linear transfer at the largest angle at which the penalty matters."""
    runs = Runs("ridge", risk).where(protocol="linear_transfer", samples=samples)
    acute = [angle for angle in runs.options("angle") if angle < 0.5]
    if not acute:
        raise UserError("this claim needs an angle below 0.5 of the role ridge: beyond, no penalty is too large.")
    return runs.where(angle=acute[-1])


def _ridge(risk, samples):
    """Function of a penalty, or of "best" for that nearest to the best in theory: risk by seed."""
    runs = _penalised(risk, samples)
    best = optimal_ridge(np.pi * runs.only("angle"), runs.only("noise"), samples)
    penalties = np.array([penalty for penalty in runs.options("ridge") if penalty > 0])
    nearest = penalties[np.abs(np.log(penalties / best)).argmin()] if len(penalties) else best
    return lambda penalty: runs.by_seed("risk_final", ridge=nearest if penalty == "best" else penalty)


def _at_one(risk, chosen_by):
    """Transferability by seed where features are orthogonal and samples are as many as dimensions, or nearly so."""
    runs = transferability(risk, "linear_transfer", with_decay(risk, chosen_by))
    gamma = nearest(runs["gamma"].unique(), 1.0, "gamma")
    kept = runs[(runs["gamma"] == gamma) & np.isclose(runs["angle"], 0.5)]
    return kept.set_index("seed")["transferability"]
