"""Where linear transfer of deep linear networks helps, and what penalties do to it ("Features are fate",
sections 3.2 and 3.3)."""

import numpy as np
import pandas as pd

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs, nearest, worst
from carryover.claims.support.transferability import (
    BLOCKS,
    in_block,
    predicted,
    sign_changes,
    trained,
    transferability,
    with_decay,
)
from carryover.statistics.intervals import equivalence_margin, median
from carryover.statistics.jackknife import pseudovalues
from carryover.theory import transfer

MARGIN = 0.05  # points at which theory is nearer to 0 say nothing about its sign
RIDGE = 0.1  # ridge penalty that is compared with none
NOISE = 0.2  # the paper's standard deviation of the label noise
ANGLE = 0.25  # angle θ at which boundaries are looked for, in units of π
RELATIVE = 0.1  # relative error of a mean risk that counts as agreement
NEAR = 0.05  # distance in γ that counts as agreement
TERM = 0.25  # relative error of the term of eq 10 in 1/n that counts as agreement
ENOUGH = 100  # samples from which on that term is small


def check(data, p):
    """Roles: `diagram` of single-task and linearly transferred networks; `loud`, the same with more label noise than
    signal; and, for the claims on penalties, `ridge` of transfer with ridge penalties and `decay` of single-task
    networks with weight decay. Statistics are means over draws."""
    runs = transferability(data["diagram"], "linear_transfer")
    how = trained(data["diagram"])
    found = checks(_formulas(runs) | _signs(runs) | _boundaries(runs), trained=how)
    if "loud" in data:
        found |= checks({"loud": _loud(transferability(data["loud"], "linear_transfer"))})
    if "ridge" in data:
        found |= _ridge(Runs("ridge", data["ridge"]).where(protocol="linear_transfer"))
    if "decay" in data:
        plain, by_validation, best = (
            _at_one(data["decay"], chosen) for chosen in (None, "validation_loss", "risk_final")
        )
        found |= checks({"anomalous": plain, "regularised_best": -best, "regularised": -by_validation}, median)
    return found


def _formulas(runs):
    """Equations 8 and 10 block by block."""
    runs = runs[(runs["noise"] > 0) & (runs["gamma"] != 1)]
    scratch = transfer.scratch_risk(runs["gamma"], runs["noise"])
    linear = transfer.linear_transfer_risk(np.pi * runs["angle"], runs["noise"], runs["samples"])
    found = {}
    for quantity, ratio in (("scratch", runs["scratch"] / scratch), ("linear", runs["risk"] / linear)):
        for name, words in BLOCKS.items():
            means = ratio[in_block(runs["gamma"], name)].groupby(runs["seed"]).mean()
            found |= checks({f"{quantity}_{name}": equivalence_margin(means, RELATIVE, 1.0)}, block=words)
    return found


def _signs(runs):
    theory = predicted("linear", runs)
    known = (abs(theory) > MARGIN) & (runs["gamma"] != 1)
    negative, positive = (runs[known & (sign * theory > 0)] for sign in (-1, 1))
    shown = runs["noise"] == nearest(runs["noise"].unique(), NOISE, "noise")
    alike = (np.sign(runs["transferability"]) == np.sign(theory))[shown]
    noises, below = sorted(runs["noise"].unique()), runs[runs["gamma"] != 1]
    lost = (below["transferability"] < 0).groupby([below["seed"], below["noise"]]).mean().unstack("noise")
    found = {
        "negative": -negative.groupby("seed")["transferability"].mean(),
        "positive": positive.groupby("seed")["transferability"].median(),
        "signs": alike.groupby(runs["seed"]).mean(),
        "shrinks": -lost.diff(axis=1).iloc[:, 1:].max(axis=1),
    }
    return checks(found, noises=", ".join(f"{noise:g}" for noise in noises))


def _loud(runs):
    """Where the signal-to-noise ratio is below 1: the transferability at the point (σ, n, θ) of the smallest mean."""
    runs = runs[(runs["noise"] > 1) & (runs["gamma"] < 1) & (runs["samples"] >= ENOUGH)]
    return worst(runs.pivot_table("transferability", "seed", ["noise", "samples", "angle"]))


def _boundaries(runs):
    """Where the mean over draws changes its sign along γ, at one angle, compared with eq 11."""
    angle = nearest(runs["angle"].unique(), ANGLE, "angle")
    noise = nearest(runs["noise"].unique(), NOISE, "noise")
    theta, at_angle = np.pi * angle, runs[(runs["angle"] == angle) & (runs["gamma"] != 1)]
    low, high = transfer.negative_transfer_interval(theta, noise)
    noisy, quiet = at_angle[at_angle["noise"] == noise], at_angle[at_angle["noise"] == 0]
    below, above = noisy[noisy["gamma"] < 1], noisy[noisy["gamma"] > 1]
    places = {
        "boundary_low": (below, "falling", low),
        "boundary_high": (below, "rising", high),
        "boundary_above": (above, "falling", transfer.negative_transfer_threshold(theta, noise)),
        "boundary_quiet": (quiet[quiet["gamma"] < 1], "falling", np.cos(theta) ** 2),
    }
    found = {}
    for name, (chosen, which, expected) in places.items():
        table = chosen.pivot_table("transferability", "seed", "gamma")

        def place(seeds, table=table, which=which):
            return sign_changes(table.loc[seeds].mean())[which]

        values = equivalence_margin(pseudovalues(place, table.index), NEAR, expected) if len(table) else []
        found |= checks({name: values}, angle=angle, expected=expected)
    return found


def _ridge(runs):
    """Equation 10's term in 1/n without a penalty, eq 13, and what penalties do at the largest angle below π/2, since
    beyond none is too large."""
    plain = runs.where(ridge=0.0).data
    missed, samples = np.sin(np.pi * plain["angle"]) ** 2, plain["samples"]
    term = (plain["risk_final"] - missed) * (samples - 2) / (plain["noise"] ** 2 + missed)
    term = term.where(samples > 2).groupby("seed").mean().to_series()
    fewest, most = runs.extremes("samples")
    many = runs.where(samples=most).data
    error = many["risk_final"] / transfer.ridge_transfer_risk(np.pi * many["angle"], many["ridge"]) - 1
    acute = runs.where(angle=max(angle for angle in runs.options("angle") if angle < 0.5))

    def best_penalty(samples):
        """Number of the penalty of least risk, among all that were tried, by seed."""
        penalties = acute.options("ridge")
        risks = [acute.by_seed("risk_final", samples=samples, ridge=penalty) for penalty in penalties]
        return pd.DataFrame(dict(enumerate(risks))).idxmin(axis=1)

    penalised = acute.where(samples=most)
    found = {
        "one_over_n": equivalence_margin(term, TERM, 1.0),
        "ridge_formula": equivalence_margin(error.groupby("seed").mean().to_series(), RELATIVE),
        "ridge_hurts": penalised.by_seed("risk_final", ridge=RIDGE) - penalised.by_seed("risk_final", ridge=0.0),
        "ridge_vanishes": best_penalty(fewest) - best_penalty(most),
    }
    return checks(found, fewest=fewest, most=most)


def _at_one(risk, chosen_by):
    """Transferability by seed where features are orthogonal and samples are as many as dimensions, or nearly so."""
    runs = transferability(risk, "linear_transfer", with_decay(risk, chosen_by))
    gamma = nearest(runs["gamma"].unique(), 1.0, "gamma")
    critical = runs[(runs["gamma"] == gamma) & np.isclose(runs["angle"], 0.5)]
    return critical.set_index("seed")["transferability"]
