"""Theorem 5.4 of "Finetuning with linear teachers": risks on Gaussian inputs beside the bounds for one layer and for
endlessly many, how often these are broken at a fixed ε, and what they tell about depth."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from carryover.figures.drawing import layout, panels

BOUNDS = {"one_layer": ("L = 1, eq 10", 1, "#0072B2"), "deep": ("L → ∞, eq 9", np.inf, "#D55E00")}
BETWEEN = ("#56B4E9", "#E69F00", "#999999")
STYLES = (":", "-", "--")
SOURCE_NORM, ANGLE = 4.0, 0.125  # of the tasks in a, where the target's norm is 1, and in units of π
EPSILON = 0.2  # of the bounds in b


def draw(data, p):
    """Role: `curve` of curves.gaussian_bounds, with ε = 0 and the the norm, angle and ε above."""
    curve = data["curve"]
    fig, (left, middle, right) = plt.subplots(1, 3, figsize=(11.5, 3.9))
    highest = int(curve["dimension"].max())

    one = curve.sel(dimension=highest, source_norm=SOURCE_NORM, angle=ANGLE)
    colors = {depth: color for _, depth, color in BOUNDS.values()}
    colors |= dict(zip([depth for depth in curve["depth"].values if depth not in colors], BETWEEN, strict=False))
    for depth in curve["depth"].values:
        low, median, high = (one["risk"].sel(depth=depth).quantile(q, "draw") for q in (0.025, 0.5, 0.975))
        label = "risk, L → ∞" if np.isinf(depth) else f"risk, L = {depth:g}"
        look = {"marker": "o", "ms": 3, "color": colors[depth]}
        panels.band(left, one["gamma"], median, low, high, label, **look)
    for name in BOUNDS:
        left.plot(one["gamma"], one[name].sel(epsilon=0.0), "kx", ms=7, label="bounds at ε = 0 (eqs 9, 10)")
    left.set(yscale="log", xlabel="samples per dimension n/d", ylabel="risk / |θ_T|²")
    left.set_title(f"a: |θ_S| = {SOURCE_NORM:g} |θ_T|, θ = {ANGLE:g} π")

    for name, (label, depth, color) in BOUNDS.items():
        above = curve["risk"].sel(depth=depth) > curve[name].sel(epsilon=EPSILON)
        for d, style in zip(curve["dimension"].values, STYLES, strict=False):
            share = 100 * above.sel(dimension=d).mean(("source_norm", "angle", "draw"))
            middle.plot(curve["gamma"], share, f"o{style}", ms=4, color=color, label=f"bound of {label}, d = {d}")
    middle.set(xlabel="samples per dimension n/d", ylabel="inputs that break the bound [%]")
    middle.set_ylim(bottom=0)
    middle.set_title(f"b: bounds at ε = {EPSILON:g}")

    tight = curve.sel(dimension=highest, epsilon=0.0)
    expected = tight["one_layer"] / tight["deep"]
    gain = 10 ** np.log10(tight["risk"].sel(depth=1) / tight["risk"].sel(depth=np.inf)).mean("draw")
    expected, gain = xr.align(expected.broadcast_like(gain), gain)
    points = (values.transpose(*gain.dims).values.ravel() for values in (expected, gain))
    right.plot(*points, "o", ms=5, mfc="none", color="#009E73", label="a pair of tasks at an n/d")
    ends = [float(expected.min()), float(expected.max())]
    right.plot(ends, ends, "k-", linewidth=1, zorder=0, label="equal ratios")
    for line in (right.axhline, right.axvline):
        line(1, color="0.7", linewidth=0.6)
    right.set(xscale="log", yscale="log", title="c: what depth gains")
    right.set(xlabel="ratio of the bounds, eq 10 / eq 9", ylabel="ratio of risks, L = 1 / L → ∞")
    drawn = f"{curve.sizes['draw']} draws of inputs, d = {highest} in a and c; a: median and central 95 % of the draws"
    return layout.finish(fig, p.title, drawn, "b: mean over all pairs of tasks", "c: mean over draws", columns=3)
