"""Theorem 5.4 of "Finetuning with linear teachers" on Gaussian inputs: how often its bounds hold at a fixed ε, and what
they tell about depth."""

from functools import partial

import numpy as np

from carryover.claims.support.checks import checks
from carryover.statistics.intervals import equivalence_margin, student

BROKEN = 0.05  # share of inputs that may break a bound at the largest ε
NEAR = 0.1  # decades within which ratios of risks and of bounds agree
TASKS = ("gamma", "source_norm", "angle")
NETWORKS = {"one_layer": ("one layer", 1), "deep": ("endlessly many layers", np.inf)}
ALIKE = 1e-9  # what rounding may make of equal numbers


def check(data, p):
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
