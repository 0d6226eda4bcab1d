"""Where finetuning of deep linear networks helps, and which of two formulas it follows ("Features are fate", 3.4;
"Finetuning with linear teachers", eq 5)."""

import numpy as np

from carryover.claims.support import checks
from carryover.claims.support.runs import Runs, nearest
from carryover.claims.support.transferability import BLOCKS, in_block, mark_trained, predicted, transferability
from carryover.statistics import intervals
from carryover.theory.transfer import finetune_boundary

GAMMA = 0.5  # samples per dimension at which the sign changes with the angle
NEAR = 0.02  # distance from an angle that counts as agreement, in units of π
NOISE = 0.2  # the paper's standard deviation of the label noise
COUNTED = "few", "many"
"""Blocks of γ; beyond, formulas and networks agree because both are 0."""
FACTOR = "the norm factor of eq 5 of Linear teachers"
FORMULAS = {"eq15": ("finetuning", "eq 15"), "factor": ("finetuning_norm", f"eq 15 with {FACTOR}")}


@checks.group("theorem 3.9, Fig. 2", "allowed less actual distance of two angles, in units of π")
def check(data, p):
    """Roles: `diagram` of networks, and, for the claim on both formulas, `simulated` runs of several depths and noises
    trained by gradient descent. Statistics are means over draws."""
    runs = transferability(data["diagram"], "finetuning")
    enough = runs[runs["gamma"] > 1].groupby("seed")["transferability"].apply(lambda gains: gains.abs().max())
    forgotten = (
        "forgotten", "With more samples than dimensions, finetuned networks are those trained from scratch, to 1e-6",
        -enough, -1e-6, None, "largest transferability, with the sign changed",
    )  # fmt: skip
    solved = set(np.unique(data["diagram"]["solver"])) == {"exact"}  # of exact limits this is algebra
    depth = Runs("diagram", data["diagram"]).only("depth")
    claims = mark_trained(data["diagram"], [*_formulas(runs), *_angles(runs, depth), *[forgotten] * (not solved)])
    return claims + ([_factor(data["simulated"])] if "simulated" in data else [])


def _factor(risk):
    """Which of both formulas is nearer, by the mean squared distance of a point."""
    simulated = transferability(risk, "finetuning")
    apart = simulated[(simulated["solver"] == "descent") & (simulated["depth"] > 1) & (simulated["gamma"] < 1)]
    squares = {name: (apart["transferability"] - predicted(name, apart)) ** 2 for name in ("finetuning",
                                                                                        "finetuning_norm")}  # fmt: skip
    nearer = (squares["finetuning"] - squares["finetuning_norm"]).groupby(apart["seed"]).mean()
    return (
        "norm_factor", f"Networks finetuned by gradient descent are nearer to eq 15 with {FACTOR} than to eq 15",
        nearer, 0.0, checks.OWN, "difference of mean squared distances",
    )  # fmt: skip


def _formulas(runs):
    """Mean errors of both formulas over blocks of γ < 1, at the paper's noise and at the strongest. Half of the mean
    difference between the formulas is allowed, so that the claims on both cannot hold."""
    quiet, loud = nearest(runs["noise"].unique(), NOISE, "noise"), runs["noise"].max()
    formulas = {name: predicted(name, runs) for name, _ in FORMULAS.values()}
    apart = abs(formulas["finetuning"] - formulas["finetuning_norm"])
    for formula, (name, words) in FORMULAS.items():
        off = runs["transferability"] - formulas[name]
        for noise, block in ((noise, block) for noise in (quiet, loud) for block in COUNTED):
            kept = (runs["noise"] == noise) & in_block(runs["gamma"], block)
            values = intervals.equivalence_margin(off[kept].groupby(runs["seed"]).mean(), apart[kept].mean() / 2)
            yield (
                f"{formula}_{'' if noise == quiet else 'loud_'}{block}",
                f"At σ = {noise:g}, finetuned networks have the transferability of {words}, with "
                f"{BLOCKS[block]}",
                values, 0.0, "theorem 3.9, eqs 14 and 15" if formula == "eq15" else checks.OWN,
                "allowed error less that of the mean transferability",
            )  # fmt: skip


def _angles(runs, depth):
    """Where finetuning turns from a help to a harm, without noise and with the strongest, beside both formulas."""
    noises = runs["noise"].min(), runs["noise"].max()
    gamma = nearest(runs["gamma"].unique(), GAMMA, "gamma")
    quiet, loud = (_crossing(runs[(runs["noise"] == noise) & (runs["gamma"] == gamma)]) for noise in noises)
    last = finetune_boundary(gamma, noises[1], int(depth)) / np.pi
    of_factor = f"finetuning turns to a harm at the angle of eq 15 with {FACTOR}"
    return [
        ("third_quiet", f"At σ = {noises[0]:g}, finetuning helps up to the angle π/3 and hurts beyond",
         intervals.equivalence_margin(quiet, NEAR, 1 / 3), 0.0),
        ("third_noisy", f"At σ = {noises[1]:g}, finetuning helps up to the angle π/3 and hurts beyond",
         intervals.equivalence_margin(loud, NEAR, 1 / 3), 0.0),
        ("noisy", f"At σ = {noises[1]:g}, {of_factor}", intervals.equivalence_margin(loud, NEAR, last), 0.0, checks.OWN,
         f"allowed less actual distance from {last:.3f} π, in units of π"),
        ("moved", f"With label noise of σ = {noises[1]:g}, finetuning turns to a harm at a smaller angle than without "
         "noise", quiet - loud, 0.0, checks.OWN, "difference of two angles, in units of π"),
    ]  # fmt: skip


def _crossing(runs):
    """Angle in units of π at which the transferability of a seed changes sign, between points of its grid; else NaN."""
    table = runs.pivot(index="seed", columns="angle", values="transferability")

    def crossing(row):
        return np.interp(0.0, -row.to_numpy(), row.index.to_numpy(), left=np.nan, right=np.nan)

    return table.apply(crossing, axis=1)
