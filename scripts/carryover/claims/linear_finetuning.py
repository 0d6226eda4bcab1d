"""Where finetuning of deep linear networks helps, and which of two formulas it follows ("Features are fate", 3.4;
"Finetuning with linear teachers", eq 5)."""

from dataclasses import dataclass

import numpy as np

from carryover.analysis import intervals
from carryover.analysis.runs import Runs, nearest
from carryover.analysis.transferability import predicted, transferability
from carryover.config.parameters import parameter
from carryover.theory.transfer import finetune_boundary


@dataclass(frozen=True, kw_only=True)
class Parameters:
    gamma: float = parameter(0.5, "samples per dimension at which the sign changes with the angle", above=0)
    near: float = parameter(0.02, "distance from an angle that counts as agreement, in units of π", above=0)


@intervals.claims("theorem 3.9, Fig. 2", "allowed less actual distance of two angles, in units of π")
def check(data, p):
    """Roles: `simulated` runs of several depths and noises trained by gradient descent, and `diagram` of exact limits.
    Statistics are means over draws."""
    simulated = transferability(data["simulated"], "finetuning")
    apart = simulated[(simulated["solver"] == "descent") & (simulated["depth"] > 1) & (simulated["gamma"] < 1)]
    squares = {name: (apart["transferability"] - predicted(name, apart)) ** 2 for name in ("finetuning",
                                                                                        "finetuning_norm")}  # fmt: skip
    nearer = (squares["finetuning"] - squares["finetuning_norm"]).groupby(apart["seed"]).mean()
    depth = Runs("diagram", data["diagram"]).only("depth")
    runs = transferability(data["diagram"], "finetuning")
    enough = runs[runs["gamma"] > 1].groupby("seed")["transferability"].apply(lambda gains: gains.abs().max())
    noises = runs["noise"].min(), runs["noise"].max()
    gamma = nearest(runs["gamma"].unique(), p.gamma, "gamma")
    quiet, noisy = (_crossing(runs[(runs["noise"] == noise) & (runs["gamma"] == gamma)]) for noise in noises)
    first, last = finetune_boundary(gamma, np.array(noises), int(depth)) / np.pi
    return [
        ("norm_factor", "Finetuned networks are nearer to the formula with eq 5's norm factor than to eq 15",
         nearer, 0.0, "eq 5", "difference of mean squared distances"),
        ("third_quiet", f"With σ = {noises[0]:g} finetuning stops to help within {p.near:g} π of π/3",
         intervals.within(quiet, p.near, 1 / 3), 0.0),
        ("third_noisy", f"With σ = {noises[1]:g} finetuning stops to help within {p.near:g} π of π/3",
         intervals.within(noisy, p.near, 1 / 3), 0.0),
        ("quiet", f"With σ = {noises[0]:g} finetuning stops to help within {p.near:g} π of the {first:.3f} π that "
         "the norm factor asks for", intervals.within(quiet, p.near, first), 0.0, "eq 5"),
        ("noisy", f"With σ = {noises[1]:g} finetuning stops to help within {p.near:g} π of the {last:.3f} π "
         "that the norm factor asks for",
         intervals.within(noisy, p.near, last), 0.0, "eq 5"),
        ("moved", f"With σ = {noises[1]:g} finetuning stops to help at a smaller angle than with "
         f"σ = {noises[0]:g}",
         quiet - noisy, 0.0, "eq 5", "difference of two angles, in units of π"),
        ("forgotten", "With more samples than dimensions finetuning is worth nothing, to 1e-6", -enough, -1e-6,
         None, "largest transferability, with the sign changed"),
    ]  # fmt: skip


def _crossing(runs):
    """Angle in units of π at which the transferability of a seed changes sign, between points of its grid; else NaN."""
    table = runs.pivot(index="seed", columns="angle", values="transferability")

    def crossing(row):
        return np.interp(0.0, -row.to_numpy(), row.index.to_numpy(), left=np.nan, right=np.nan)

    return table.apply(crossing, axis=1)
