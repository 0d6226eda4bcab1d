"""Theorem 5.4 of "Finetuning with linear teachers" on Gaussian inputs: how often its bounds hold at a fixed ε, and what
they tell about depth."""

from functools import partial

import numpy as np

from carryover.claims.support import checks
from carryover.errors import UserError
from carryover.statistics import intervals

BROKEN = 0.05  # share of inputs that may break a bound at the largest ε
NEAR = 0.1  # decades within which ratios of risks and of bounds agree
DEPTH = "section 5.1, eqs 9 and 10"
TASKS = ("gamma", "source_norm", "angle")
NETWORKS = {"one_layer": ("one layer", 1, "eq 10"), "deep": ("endlessly many layers", np.inf, "eq 9")}
ALIKE = 1e-9  # what rounding may make of equal numbers


@checks.group(DEPTH, estimate=partial(intervals.student, over="draws of inputs"))
def check(data, p):
    """Role: `curve` of curves.gaussian_bounds, of two dimensions or more and with ε = 0. Statistics are those of the
    n/d and the pair of tasks at which they are worst, unless a mean is said."""
    curve = data["curve"]
    if curve.sizes["dimension"] < 2 or 0 not in curve["epsilon"]:
        raise UserError("this claim needs two dimensions or more, and the epsilon 0, of the role curve.")
    low, high = (int(d) for d in (curve["dimension"].min(), curve["dimension"].max()))
    gain, expected = _gains(curve.sel(dimension=high), curve.sel(epsilon=0.0))
    off, harmed = abs(gain.mean("draw") - expected), (expected < -ALIKE) & gain.notnull()
    if not harmed.any():
        raise UserError("this claim needs tasks of the role curve for which eq 9 is above eq 10: a short source.")
    return [
        *(row for name in NETWORKS for row in _of_bound(name, curve, low, high)),
        ("depth", "The ratio of the risks of one and of endlessly many layers is that of their bounds",
         intervals.equivalence_margin(_largest(gain, off), NEAR, float(expected.isel(off.argmax(TASKS)))), 0.0,
         checks.OWN, "allowed less actual distance of log₁₀ of both ratios"),
        ("depth_hurts", "Endless depth raises the risk where |θ_T| |θ̂_T − θ̂_S| exceeds |θ_T − θ_S|",
         -_largest(gain.where(harmed), gain.where(harmed).mean("draw")), 0.0, checks.own(DEPTH),
         "log₁₀ of the ratio of the risks of endlessly many layers and of one"),
    ]  # fmt: skip


def _of_bound(name, curve, low, high):
    """Claims about one of the two bounds."""
    networks, depth, equation = NETWORKS[name]
    largest, fixed = float(curve["epsilon"].max()), curve.sel(epsilon=curve["epsilon"] > 0)
    broken = (curve["risk"].sel(depth=depth, drop=True) > fixed[name]).astype(float)
    last, first = broken.sel(dimension=high), broken.sel(dimension=low)
    most = last.sel(epsilon=largest)
    return [
        (f"{name}_holds", f"With ε = {largest:g} the bound for {networks} holds for nearly all inputs of {high} "
         "dimensions", BROKEN - _largest(most, most.mean("draw")), 0.0, f"theorem 5.4, {equation}",
         "allowed less actual share of inputs that break the bound"),
        (f"{name}_falls", f"With ε and n/d fixed, fewer inputs of {high} dimensions than of {low} break the bound for "
         f"{networks}", (first - last).mean([*TASKS, "epsilon"]).values, 0.0, f"theorem 5.4, {equation}",
         f"share of inputs that break the bound in {low} less that in {high} dimensions, mean over ε, n/d and tasks"),
    ]  # fmt: skip


def _gains(curve, bounds):
    """log₁₀ of the ratio of the risks of one layer and of endlessly many, and that of their bounds."""
    risks = curve["risk"]
    gain = np.log10(risks.sel(depth=1, drop=True) / risks.sel(depth=np.inf, drop=True))
    return gain, np.log10(bounds["one_layer"] / bounds["deep"])


def _largest(values, by):
    """(draws,) the values at the n/d and tasks at which `by` is largest."""
    return values.isel(by.argmax(TASKS)).values
