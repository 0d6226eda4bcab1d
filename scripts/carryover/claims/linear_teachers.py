"""What decides how well finetuning between linear teachers goes: covariance, depth, scale, frozen layers ("Finetuning
with linear teachers", sections 4 and 5)."""

from itertools import pairwise

import numpy as np
import pandas as pd

from carryover.claims.support import checks
from carryover.claims.support.agreement import converged_distances
from carryover.claims.support.runs import Runs
from carryover.statistics import intervals

NEAR = 1e-3  # largest relative distance of trained networks from the exact limit
SAME = 0.05  # decades of risk that count as no difference
FLAT = 0.1  # decades of risk that count as none over numbers of samples
DEPTH, SCALE, FROZEN = "theorem 5.3, Fig. 2a", "section 5.3, Fig. 2b", "theorem 5.5, Fig. 3"
RANK = 1.1  # effective rank up to which features are close to rank one
LEAST = 0.1  # samples per dimension from which a frozen network is flat: fewer determine its one factor badly


@checks.group("4.2, Fig. 1", "log₁₀ of a ratio of risks")
def check(data, p):
    """Roles: `alignment` of differences in leading directions and in others, `stretch` and its `coefficients`, of
    stretched sources over depths, `scale` over norms of source and target, `frozen` of two layers and `layers` of more,
    several numbers of them frozen; and `small`, frozen after pretraining from small weights that do not vanish.
    Statistics are means over seeds, of risks in decades."""
    solved = (Runs(role, data[role]).where(solver="exact") for role in ("alignment", "stretch", "scale"))
    alignment, stretch, scale = solved
    few, many = alignment.extremes("samples")
    shallow, deep = stretch.extremes("depth")
    own, stretched = stretch.extremes("stretch")
    depth, most = scale.extremes("depth")[1], scale.extremes("samples")[1]
    one, large = scale.extremes("target_norm")
    worst = converged_distances(data["coefficients"], data["stretch"]).groupby("seed")["distance"].max()
    gammas = alignment.data.to_dataframe().groupby("samples")["gamma"].first()
    middle = gammas.index[gammas <= 2 / 3][-1]

    def scaled(target, source):
        return scale.risk(depth=depth, samples=most, target_norm=target, source_norm=source)

    return [
        ("few", f"At n = {few:g} a difference between the tasks along the leading eigenvectors (Bottom Eigen Align) "
         "costs more than one along the others (Top Eigen Align)", _leading_over(alignment, few), 0.0),
        ("many", f"At n = {many:g} a difference between the tasks along the leading eigenvectors costs less than one "
         "along the others", -_leading_over(alignment, many), 0.0),
        ("vanishes", f"The risk of Bottom Eigen Align has nearly vanished well before n = d, at n = {middle:g}",
         alignment.risk(samples=few, relation="leading") - alignment.risk(samples=middle, relation="leading"), 1.0),
        ("depth_helps", f"Where the target is {stretched:g} times the source and a rest, finetuned networks of "
         f"{deep:g} layers have less risk than of {shallow:g}",
         _gains(stretch, shallow, deep, stretched).min(axis=1), 0.0, DEPTH),
        ("depth_alike", f"Where the target is the source and a rest, finetuned networks of {deep:g} layers and of "
         f"{shallow:g} have the same risk", -_gains(stretch, shallow, deep, own).abs().max(axis=1), -SAME, DEPTH,
         "largest log₁₀ of a ratio of risks, with the sign changed"),
        ("depth_grows", f"The risk that {deep:g} layers save over {shallow:g} grows with the stretch of the source",
         _growth(stretch, shallow, deep), 0.0, DEPTH, "least increase of the risk saved, in units of |θ_S|²"),
        ("source_matters", f"With {depth:g} layers, a source of {large:g} times the norm raises the risk at n = "
         f"{most:g} more than tenfold",
         scaled(one, large) - scaled(one, one), 1.0,
         checks.own(SCALE)),
        ("target_costs", f"With {depth:g} layers, finetuning suffers more from a target of {large:g} times the norm "
         f"than from such a source, at n = {most:g}",
         scaled(large, one) - scaled(one, large), 0.0, SCALE),
        *_of_frozen(Runs("frozen", data["frozen"]), Runs("layers", data["layers"])),
        *(_of_small(*(_descended(role, data[role]) for role in ("small", "frozen"))) if "small" in data else ()),
        ("limit", "Trained networks that have converged end at the fixed point of eq 5",
         np.log10(NEAR / worst.clip(lower=1e-12)), 0.0, checks.own("theorem 5.2, eq 5"),
         "log₁₀ of the allowed over the largest relative distance"),
    ]  # fmt: skip


def _of_frozen(runs, layers):
    """Claims about networks of which some layers are frozen."""
    sizes = runs.data.to_dataframe().groupby("samples")["gamma"].first()
    least, below, enough = sizes.index[sizes >= LEAST][0], sizes.index[sizes < 1], sizes.index[-1]
    scratch = runs.where(protocol="single_task", solver="exact")
    tuned = runs.where(protocol="finetuning", solver="descent", pretrain_solver="exact")
    frozen, larger = (runs.where(protocol="linear_transfer", solver=solver, pretrain_solver=start)
                      for solver, start in (("exact", "exact"), ("descent", "descent")))  # fmt: skip
    several = layers.where(protocol="linear_transfer", solver="descent")
    spreads = []
    for n in several.sizes():
        risks = pd.concat([several.risk(frozen=number, samples=n) for number in several.options("frozen")], axis=1)
        spreads.append(risks.max(axis=1) - risks.min(axis=1))
    spread = pd.concat(spreads, axis=1).max(axis=1)
    return [
        ("frozen_flat", f"The risk of networks with a frozen first layer is the same at n = {least:g} and {enough:g}",
         intervals.equivalence_margin(frozen.risk(samples=enough) - frozen.risk(samples=least), FLAT), 0.0, FROZEN,
         "allowed less actual log₁₀ of a ratio of risks"),
        ("frozen_poor", f"Networks with a frozen first layer have more risk than networks from scratch at n = "
         f"{below[-1]:g}", frozen.risk(samples=below[-1]) - scratch.risk(samples=below[-1]), 0.0, FROZEN),
        ("frozen_any", f"Networks of {several.only('depth'):g} layers have the same risk however many of the first are "
         "frozen", SAME - spread, 0.0, "theorem 5.5", "allowed less largest log₁₀ of a ratio of risks"),
        ("finetuned_better", "Finetuned networks have less risk than networks from scratch at every n below d",
         pd.concat([scratch.risk(samples=n) - tuned.risk(samples=n) for n in below], axis=1).min(axis=1), 0.0, FROZEN),
        ("larger_cures", "From larger weights before pretraining, networks with a frozen first layer have less risk "
         f"with more samples than dimensions, n = {enough:g}",
         frozen.risk(samples=enough) - larger.risk(samples=enough), 0.0, "section 5.2"),
    ]  # fmt: skip


def _descended(role, risk):
    return Runs(role, risk).where(protocol="linear_transfer", solver="descent", pretrain_solver="descent")


def _of_small(runs, larger):
    """Checks on frozen networks pretrained from small weights, with more samples than dimensions.

    There the exact limit has no risk. The effective (stable) rank of the features is one over the share of their power
    that is of rank one.
    """
    samples, start = runs.only("samples"), "After pretraining from small weights that do not vanish"
    return [
        ("small_rank", f"{start} the effective rank of the frozen features is close to one",
         RANK - 1 / runs.by_seed("feature_share"), 0.0, "section 5.2", "allowed less actual effective rank"),
        ("small_slow", f"{start} gradient descent behind a frozen layer leaves more risk in the same number of steps "
         f"than after pretraining from larger weights, at n = {samples:g}",
         runs.risk() - larger.risk(samples=samples), 0.0, "section 5.2"),
    ]  # fmt: skip


def _leading_over(runs, samples):
    leading, trailing = (runs.risk(samples=samples, relation=relation) for relation in ("leading", "trailing"))
    return leading - trailing


def _tasks(runs):
    return [{"samples": n, "deviation": rest} for n in runs.options("samples") for rest in runs.options("deviation")]


def _gains(runs, shallow, deep, stretch):
    """log₁₀ of the ratio of risks of shallow and deep networks by seed (rows) and task."""
    runs = runs.where(stretch=stretch)
    return pd.concat(
        [runs.risk(depth=shallow, **task) - runs.risk(depth=deep, **task) for task in _tasks(runs)], axis=1
    )


def _growth(runs, shallow, deep):
    """Least increase of the risk that depth saves, from one stretch to the next, by seed."""
    steps = []
    for task in _tasks(runs):
        by_stretch = [runs.where(stretch=stretch, **task) for stretch in runs.options("stretch")]
        saved = [10 ** one.risk(depth=shallow) - 10 ** one.risk(depth=deep) for one in by_stretch]
        steps += [more - less for less, more in pairwise(saved)]
    return pd.concat(steps, axis=1).min(axis=1)
