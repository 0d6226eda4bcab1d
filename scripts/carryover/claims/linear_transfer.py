"""Where linear transfer of deep linear networks helps, and what penalties do to it ("Features are fate", 3.3)."""

from dataclasses import dataclass

import numpy as np

from carryover.claims import _interval
from carryover.parameters import parameter
from carryover.transferability import predicted, transferability, with_decay


@dataclass(frozen=True, kw_only=True)
class Parameters:
    margin: float = parameter(0.05, "points at which theory is nearer to 0 say nothing about its sign", above=0)
    ridge: float = parameter(0.1, "ridge penalty that is held against none", above=0)


def check(data, p):
    """Roles: `diagram` of single-task and linearly transferred networks, `ridge` of transfer with ridge penalties,
    `decay` of single-task networks with weight decay. Statistics are means over draws."""
    runs = transferability(data["diagram"], "linear_transfer")
    theory = predicted("linear", runs)
    negative, positive = runs[theory < -p.margin], runs[(theory > p.margin) & np.isfinite(theory)]
    few, many = (_risks(data["ridge"], samples) for samples in (min, max))
    plain, decayed = (_at_one(data["decay"], chosen) for chosen in (None, "validation_loss"))
    return _interval.table(
        [
            ("negative", "Linear transfer loses where theory says so (eq 11), on the mean over that region",
             -negative.groupby("seed")["transferability"].mean(), 0.0),
            ("signs", "At nine of ten points the sign of the transferability is that of theory",
             (np.sign(runs["transferability"]) == np.sign(theory))[abs(theory) > p.margin].groupby(runs["seed"]).mean(),
             0.9),
            ("positive", "Where theory says that it gains, its median gain over that region is positive",
             positive.groupby("seed")["transferability"].median(), 0.0),
            ("ridge_hurts", f"A ridge penalty of {p.ridge:g} raises its risk for many samples",
             many[p.ridge] - many[0.0], 0.0),
            ("ridge_helps", "With few samples some ridge penalty lowers its risk",
             few[0.0] - few[few.mean().idxmin()], 0.0),
            ("anomalous", "Orthogonal features gain at γ ≈ 1 over scratch training without weight decay",
             plain, 0.0),
            ("regularised", "They lose there against weight decay chosen by cross-validation",
             -decayed, 0.0),
        ]
    )  # fmt: skip


def _risks(risk, choose):
    """Risk by seed and ridge penalty at the fewest or the most samples, of the largest angle at which it depends on
    the penalty."""
    frame = risk[["risk_final"]].to_dataframe()
    frame = frame[(frame["samples"] == choose(frame["samples"])) & (frame["angle"] < 0.5)]
    frame = frame[frame["angle"] == frame["angle"].max()]
    return frame.pivot(index="seed", columns="ridge", values="risk_final")


def _at_one(risk, chosen_by):
    """Transferability by seed where features are orthogonal and samples are as many as dimensions, or nearly so."""
    runs = transferability(risk, "linear_transfer", with_decay(risk, chosen_by))
    nearest = runs["gamma"].unique()[np.abs(runs["gamma"].unique() - 1).argmin()]
    kept = runs[(runs["gamma"] == nearest) & np.isclose(runs["angle"], 0.5)]
    return kept.set_index("seed")["transferability"]
