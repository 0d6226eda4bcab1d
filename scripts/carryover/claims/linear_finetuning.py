"""Where finetuning of deep linear networks helps, and which of two formulas it follows ("Features are fate", 3.4;
"Finetuning with linear teachers", eq 5)."""

import numpy as np

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs, nearest
from carryover.claims.support.transferability import BLOCKS, in_block, predicted, trained, transferability
from carryover.statistics.intervals import equivalence_margin
from carryover.theory.transfer import finetune_boundary

GAMMA = 0.5  # samples per dimension at which the sign changes with the angle
NEAR = 0.02  # distance from an angle that counts as agreement, in units of π
NOISE = 0.2  # the paper's standard deviation of the label noise
COUNTED = "few", "many"
"""Blocks of γ; beyond, formulas and networks agree because both are 0."""
FORMULAS = {"eq15": "finetuning", "factor": "finetuning_norm"}
"""Equation 15, and that with the norm factor of eq 5 of "Finetuning with linear teachers"."""


def check(data, p):
    """Roles: `diagram` of networks, and, for the claim on both formulas, `simulated` runs of several depths and noises
    trained by gradient descent. Statistics are means over draws."""
    runs = transferability(data["diagram"], "finetuning")
    depth = Runs("diagram", data["diagram"]).only("depth")
    how = trained(data["diagram"])
    found = _formulas(runs, how) | _angles(runs, depth, how)
    if how:  # of exact limits this is algebra
        enough = runs[runs["gamma"] > 1].groupby("seed")["transferability"].apply(lambda gains: gains.abs().max())
        found |= checks({"forgotten": -enough}, trained=how)
    if "simulated" in data:
        found |= checks({"norm_factor": _nearer(data["simulated"])})
    return found


def _nearer(risk):
    """Mean squared distance of a point from eq 15 less that from eq 15 with the norm factor."""
    simulated = transferability(risk, "finetuning")
    apart = simulated[(simulated["solver"] == "descent") & (simulated["depth"] > 1) & (simulated["gamma"] < 1)]
    plain, factor = ((apart["transferability"] - predicted(name, apart)) ** 2 for name in FORMULAS.values())
    return (plain - factor).groupby(apart["seed"]).mean()


def _formulas(runs, how):
    """Mean errors of both formulas over blocks of γ < 1, at the paper's noise and at the strongest. Half of the mean
    difference between the formulas is allowed, so that the claims on both cannot hold."""
    noises = {"": nearest(runs["noise"].unique(), NOISE, "noise"), "loud_": runs["noise"].max()}
    apart = abs(predicted("finetuning", runs) - predicted("finetuning_norm", runs))
    found = {}
    for formula, name in FORMULAS.items():
        off = runs["transferability"] - predicted(name, runs)
        for loud, noise in noises.items():
            for block in COUNTED:
                chosen = (runs["noise"] == noise) & in_block(runs["gamma"], block)
                errors = off[chosen].groupby(runs["seed"]).mean()
                values = equivalence_margin(errors, apart[chosen].mean() / 2)
                found |= checks({f"{formula}_{loud}{block}": values}, noise=noise, block=BLOCKS[block], trained=how)
    return found


def _angles(runs, depth, how):
    """Where finetuning turns from a help to a harm, without noise and with the strongest, against both formulas."""
    noises = runs["noise"].min(), runs["noise"].max()
    gamma = nearest(runs["gamma"].unique(), GAMMA, "gamma")
    quiet, loud = (_crossing(runs[(runs["noise"] == noise) & (runs["gamma"] == gamma)]) for noise in noises)
    angle = finetune_boundary(gamma, noises[1], int(depth)) / np.pi
    found = {
        "third_quiet": equivalence_margin(quiet, NEAR, 1 / 3),
        "third_noisy": equivalence_margin(loud, NEAR, 1 / 3),
        "noisy": equivalence_margin(loud, NEAR, angle),
        "moved": quiet - loud,
    }
    return checks(found, quiet=noises[0], loud=noises[1], angle=angle, trained=how)


def _crossing(runs):
    """Angle in units of π at which the transferability of a seed changes sign, between points of its grid; else NaN."""
    table = runs.pivot(index="seed", columns="angle", values="transferability")

    def crossing(row):
        return np.interp(0.0, -row.to_numpy(), row.index.to_numpy(), left=np.nan, right=np.nan)

    return table.apply(crossing, axis=1)
