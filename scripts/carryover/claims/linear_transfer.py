"""Where linear transfer of deep linear networks helps, and what penalties do to it ("Features are fate",
sections 3.2 and 3.3)."""

from itertools import product

import numpy as np
import pandas as pd

from carryover.claims.support import checks
from carryover.claims.support.runs import Runs, nearest
from carryover.claims.support.transferability import (
    BLOCKS,
    in_block,
    mark_trained,
    predicted,
    sign_changes,
    transferability,
    with_decay,
)
from carryover.errors import UserError
from carryover.statistics import intervals
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
RISKS, ONE, SIGN = "difference of risks", "App. E, Fig. 5", "eq 11, Fig. 1b"


@checks.group("theorem 3.7, Fig. 1", "transferability")
def check(data, p):
    """Roles: `diagram` of single-task and linearly transferred networks; `loud`, the same with more label noise than
    signal; and, for the claims on penalties, `ridge` of transfer with ridge penalties and `decay` of single-task
    networks with weight decay. Statistics are means over draws."""
    runs = transferability(data["diagram"], "linear_transfer")
    claims = mark_trained(data["diagram"], [*_formulas(runs), *_signs(runs), *_boundaries(runs)])
    if "loud" in data:
        claims.append(_loud(transferability(data["loud"], "linear_transfer")))
    if "ridge" in data:
        claims += [_one_over_n(data["ridge"]), *_penalties(data["ridge"])]
    return claims + (_regularised(data["decay"]) if "decay" in data else [])


def _formulas(runs):
    """Equations 8 and 10 block by block."""
    runs = runs[(runs["noise"] > 0) & (runs["gamma"] != 1)]
    linear = transfer.linear_transfer_risk(np.pi * runs["angle"], runs["noise"], runs["samples"])
    risks = [
        ("scratch", "Networks trained from scratch have the mean risk of eq 8", "theorem 3.6, eq 8",
         runs["scratch"] / transfer.scratch_risk(runs["gamma"], runs["noise"])),
        ("linear", "Linearly transferred networks have the mean risk of eq 10", "theorem 3.7, eq 10",
         runs["risk"] / linear),
    ]  # fmt: skip
    measured = "allowed relative error less that of the mean risk"
    for (quantity, statement, section, ratio), (name, words) in product(risks, BLOCKS.items()):
        within = ratio[in_block(runs["gamma"], name)]
        values = intervals.equivalence_margin(within.groupby(runs["seed"]).mean(), RELATIVE, 1.0)
        yield f"{quantity}_{name}", f"{statement}, with {words}", values, 0.0, section, measured


def _one_over_n(ridge):
    """The term of eq 10 that falls like 1/n."""
    plain = Runs("ridge", ridge).where(protocol="linear_transfer", ridge=0.0).data
    missed, samples = np.sin(np.pi * plain["angle"]) ** 2, plain["samples"]
    term = (plain["risk_final"] - missed) * (samples - 2) / (plain["noise"] ** 2 + missed)
    return ("one_over_n", "What linear transfer loses above sin²θ, by fitting noise, is (σ² + sin²θ)/(n − 2)",
            intervals.equivalence_margin(term.where(samples > 2).groupby("seed").mean().to_series(), TERM, 1.0), 0.0,
            "theorem 3.7, eq 10", "allowed relative error less that of this term")  # fmt: skip


def _signs(runs):
    theory = predicted("linear", runs)
    known = (abs(theory) > MARGIN) & (runs["gamma"] != 1)
    negative, positive = (runs[known & (sign * theory > 0)] for sign in (-1, 1))
    shown = runs["noise"] == nearest(runs["noise"].unique(), NOISE, "noise")
    alike = (np.sign(runs["transferability"]) == np.sign(theory))[shown]
    noises, below = sorted(runs["noise"].unique()), runs[runs["gamma"] != 1]
    lost = pd.DataFrame({noise: (below["transferability"] < 0)[below["noise"] == noise].groupby(below["seed"]).mean()
                         for noise in noises})  # fmt: skip
    yield from [
        ("negative", "Where eq 11 is negative, linear transfer is worse than training from scratch",
         -negative.groupby("seed")["transferability"].mean(), 0.0, SIGN, "mean transferability, negative"),
        ("positive", "Where eq 11 is positive, linear transfer is better than training from scratch",
         positive.groupby("seed")["transferability"].median(), 0.0, SIGN, "median transferability"),
        ("signs", f"At σ = {NOISE:g}, linear transfer has the sign of eq 11 at nine of ten points of the diagram",
         alike.groupby(runs["seed"]).mean(), 0.9, SIGN, "share of points"),
        ("shrinks", "The region of negative transfer shrinks as label noise grows, over σ = "
         f"{', '.join(f'{noise:g}' for noise in noises)}", -lost.diff(axis=1).iloc[:, 1:].max(axis=1), 0.0, "3.3",
         "least fall of the share of points that lose"),
    ]  # fmt: skip


def _loud(runs):
    """Where the signal-to-noise ratio is below 1: the transferability at the point (σ, n, θ) of the smallest mean."""
    if not (runs["noise"] > 1).all():
        raise UserError("this claim needs runs of noise above 1 of the role loud.")
    runs = runs[(runs["gamma"] < 1) & (runs["samples"] >= ENOUGH)]
    table = runs.pivot_table("transferability", "seed", ["noise", "samples", "angle"])
    return (
        "loud", f"With a signal-to-noise ratio below 1 linear transfer gains at every angle and every γ < 1, from "
        f"n = {ENOUGH} on", table[table.mean().idxmin()], 0.0, "3.3, SNR < 1", "smallest transferability",
    )  # fmt: skip


def _boundaries(runs):
    """Where the mean over draws changes its sign along γ, at one angle, beside where eq 11 does."""
    angle = nearest(runs["angle"].unique(), ANGLE, "angle")
    noise = nearest(runs["noise"].unique(), NOISE, "noise")
    theta, at_angle = np.pi * angle, runs[(runs["angle"] == angle) & (runs["gamma"] != 1)]
    low, high = transfer.negative_transfer_interval(theta, noise)
    noisy, quiet = at_angle[at_angle["noise"] == noise], at_angle[at_angle["noise"] == 0]
    below, above = noisy[noisy["gamma"] < 1], noisy[noisy["gamma"] > 1]
    where = f"θ = {angle:g} π"
    rows = [("boundary_low", below, "falling", low, f"At {where}, linear transfer starts to lose at the γ₋ of theory"),
            ("boundary_high", below, "rising", high, f"At {where}, linear transfer gains again from the γ₊ of theory"),
            ("boundary_above", above, "falling", transfer.negative_transfer_threshold(theta, noise),
             f"At {where}, with more samples than dimensions, linear transfer loses from γ = 1 + σ²/sin²θ on"),
            ("boundary_quiet", quiet[quiet["gamma"] < 1], "falling", np.cos(theta) ** 2,
             f"At {where}, without label noise, linear transfer loses from γ = cos²θ on")]  # fmt: skip
    for name, chosen, which, expected, statement in rows:
        table = chosen.pivot_table("transferability", "seed", "gamma")

        def found(seeds, table=table, which=which):
            return sign_changes(table.loc[seeds].mean())[which]

        values = intervals.equivalence_margin(pseudovalues(found, table.index), NEAR, expected) if len(table) else []
        yield (name, statement, values, 0.0, "3.3, Fig. 7" if name == "boundary_quiet" else "3.3, Fig. 1b",
               f"allowed less actual distance from γ = {expected:.3f}")  # fmt: skip


def _penalties(risk):
    fewest, most = Runs("ridge", risk).extremes("samples")
    penalised = _penalised(risk, most)
    runs = Runs("ridge", risk).where(protocol="linear_transfer", samples=most).data
    error = runs["risk_final"] / transfer.ridge_transfer_risk(np.pi * runs["angle"], runs["ridge"]) - 1
    return [
        ("ridge_formula", f"With n = {most:g} samples, linear transfer with a ridge penalty has the mean risk of eq 13",
         intervals.equivalence_margin(error.groupby("seed").mean().to_series(), RELATIVE), 0.0, "theorem 3.8, eq 13",
         "allowed relative error less that of the mean risk"),
        ("ridge_hurts", f"A ridge penalty of {RIDGE:g} raises the risk of linear transfer from n = {most:g} samples",
         penalised.by_seed("risk_final", ridge=RIDGE) - penalised.by_seed("risk_final", ridge=0.0), 0.0,
         "theorem 3.8, Fig. 6", RISKS),
        ("ridge_vanishes", f"The ridge penalty of least risk is smaller at n = {most:g} than at n = {fewest:g}",
         _best_penalty(risk, fewest) - _best_penalty(risk, most), 0.0, "theorem 3.8, Fig. 6",
         "difference of best penalties, in steps of the grid"),
    ]  # fmt: skip


def _regularised(risk):
    plain, decayed, best = (_at_one(risk, chosen) for chosen in (None, "validation_loss", "risk_final"))
    median = "median transferability"
    turned = f"{median}, with the sign changed"
    loses = "With as many samples as dimensions, orthogonal features lose to training from scratch with weight decay"
    return [
        ("anomalous", "With as many samples as dimensions, linear transfer of orthogonal features beats training from "
         "scratch", plain, 0.0, f"3.3 and {ONE}", median, intervals.median),
        ("regularised_best", f"{loses} that is chosen by the risk", -best, 0.0, ONE, turned, intervals.median),
        ("regularised", f"{loses} that is chosen by cross-validation", -decayed, 0.0, checks.OWN, turned,
         intervals.median),
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


def _at_one(risk, chosen_by):
    """Transferability by seed where features are orthogonal and samples are as many as dimensions, or nearly so."""
    runs = transferability(risk, "linear_transfer", with_decay(risk, chosen_by))
    gamma = nearest(runs["gamma"].unique(), 1.0, "gamma")
    kept = runs[(runs["gamma"] == gamma) & np.isclose(runs["angle"], 0.5)]
    return kept.set_index("seed")["transferability"]
