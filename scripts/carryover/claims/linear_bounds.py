"""The bounds of "Finetuning with linear teachers", theorems 4.2, 5.4 and 6.1, on random instances and wide networks."""

from functools import partial

import numpy as np
import pandas as pd

from carryover.claims.support.checks import checks
from carryover.statistics.correlation import rank_correlations
from carryover.statistics.intervals import equivalence_margin, student

BLOCKS = 20  # blocks of instances that statistics are means over
BROKEN = 0.05  # share of inputs that may break a bound at the largest ε
NEAR = 0.1  # decades within which ratios of risks and of bounds agree
TASKS = ("gamma", "source_norm", "angle")
NETWORKS = {"one_layer": ("one layer", 1), "deep": ("endlessly many layers", np.inf)}
ALIKE = 1e-9  # what rounding may make of equal numbers
WIDE = 0.1  # distance from the limit of infinite width that counts as near, as a share of the risk before training
ATTAINED = 0.95  # share of the sharp constant that is to be reached at most samples
PUBLISHED, SHARP = 3.0, 2.0  # constants in front of |Δ|: of corollary 6.2, and the smallest there is


def covariance_bound(data, p):
    """Role: `curve` of curves.covariance_bound, whose second half counts, with the constant of its first.

    The theorem leaves its constant open, so that claims are about its shape: which instance has more risk, and how far
    risks are from a multiple of the bound, in decades. Instances differ in n, spectrum, and where the tasks differ.
    """
    curve = data["curve"]
    tested, c = curve.isel(instance=curve["half"].values == 1), float(curve["c"])
    logs = pd.DataFrame({
        "risk": np.log10(tested["risk"].values),
        "covariance": np.log10(c**3 * tested["top_unit"].values + c * tested["bottom_unit"].values),
        "benign_overfitting": np.log10(tested["benign_overfitting"].values),
        "alignment": tested["alignment"].values,
    })  # fmt: skip
    block = np.arange(len(logs)) * BLOCKS // len(logs)
    logs = logs.assign(block=block)

    def order(bound, *by):
        """Spearman's correlation of a bound with the risk in every group, mean by block."""
        return rank_correlations(logs, bound, "risk", ["block", *by]).groupby(level=0).mean()

    def spread(values):
        """log₁₀ of the standard deviation by block."""
        return np.log10(values.groupby(block).std())

    off, off_benign = (spread(logs["risk"] - logs[bound]) for bound in ("covariance", "benign_overfitting"))
    found = {
        "orders": order("covariance"),
        "orders_benign": order("covariance") - order("benign_overfitting"),
        "orders_within": order("covariance", "alignment") - order("benign_overfitting", "alignment"),
        "scales": spread(logs["risk"]) - off,
        "scales_benign": off_benign - off,
    }
    return checks(found, partial(student, over="blocks of instances"))


def gaussian_bounds(data, p):
    """Role: `curve` of curves.gaussian_bounds, of two dimensions or more and with ε = 0. Statistics are those of the
    n/d and the pair of tasks at which they are worst, unless a mean is said."""
    curve = data["curve"]
    low, high = (int(d) for d in (curve["dimension"].min(), curve["dimension"].max()))
    over_draws, found = partial(student, over="draws of inputs"), {}
    for name, (networks, depth) in NETWORKS.items():
        largest, fixed = float(curve["epsilon"].max()), curve.sel(epsilon=curve["epsilon"] > 0)
        broken = (curve["risk"].sel(depth=depth, drop=True) > fixed[name]).astype(float)
        last, first = broken.sel(dimension=high), broken.sel(dimension=low)
        most = last.sel(epsilon=largest)
        values = {
            f"{name}_holds": BROKEN - _largest(most, most.mean("draw")),
            f"{name}_falls": (first - last).mean([*TASKS, "epsilon"]).values,
        }
        found |= checks(values, over_draws, networks=networks, largest=largest, low=low, high=high)
    # log₁₀ of the ratio of the risks of one layer and of endlessly many, and that of their bounds
    risks, bounds = curve["risk"].sel(dimension=high), curve.sel(dimension=high, epsilon=0.0)
    gain = np.log10(risks.sel(depth=1, drop=True) / risks.sel(depth=np.inf, drop=True))
    expected = np.log10(bounds["one_layer"] / bounds["deep"])
    off = abs(gain.mean("draw") - expected)
    harmed = gain.where((expected < -ALIKE) & gain.notnull())
    values = {
        "depth": equivalence_margin(_largest(gain, off), NEAR, float(expected.isel(off.argmax(TASKS)))),
        "depth_hurts": -_largest(harmed, harmed.mean("draw")),
    }
    return found | checks(values, over_draws)


def _largest(values, by):
    """(draws,) the values at the n/d and tasks at which `by` is largest."""
    return values.isel(by.argmax(TASKS)).values


def ntk_bound(data, p):
    """Roles: `bound`, the measure `ntk_bound` of trained networks, finetuned and from scratch. Only targets that
    differ from the source count; ratios of risks are in decades."""
    every = data["bound"].to_dataframe().reset_index()
    every = every[(every["solver"] != "exact") & (every["distance"] > 0)].assign(unit=every["corollary"] / PUBLISHED)
    tuned, alone = (every[every["protocol"] == name] for name in ("finetuning", "single_task"))
    ideal, real = (tuned[name] / tuned["unit"] for name in ("ntk_norm_linear", "ntk_norm"))
    *_, fewer, most = np.unique(tuned["samples"])
    nearest = tuned["distance"].min()
    gain = _log_risk(alone) - _log_risk(tuned)
    distance = gain.columns.get_level_values("distance")
    correlations = rank_correlations(tuned, "absolute_risk", "distance", ["seed", "samples"])
    found = {
        "bound": _least(np.log10(every["bound"] / every["absolute_risk"]), every),
        "vacuous": _least(np.log10(tuned["bound"] / tuned["start_risk"])[tuned["samples"] < most], tuned),
        "sharp": _least(SHARP - ideal, tuned),
        "attained": _least((ideal - ATTAINED * SHARP)[tuned["samples"] == most], tuned),
        "imperfect": (real - PUBLISHED)[tuned["distance"] == nearest].groupby(tuned["seed"]).max(),
        "grows": correlations.groupby(level=0).mean(),
        "near_helps": gain.loc[:, distance < 1].min(axis=1),
        "far_hurts": -gain.loc[:, distance > 1].mean(axis=1),
        "limit": _least(WIDE - every["tangent_distance"] / every["start_risk"], every),
    }
    return checks(found, fewer=fewer, most=most, nearest=nearest)


def _least(values, runs):
    """Smallest of some of the runs' values, by seed."""
    return values.groupby(runs["seed"]).min()


def _log_risk(runs):
    """log₁₀ of the risk by seed (rows), distance and samples."""
    return np.log10(runs.pivot_table("absolute_risk", "seed", ["distance", "samples"]))
