"""Theorem 5.4 of "Finetuning with linear teachers": risks on Gaussian inputs beside the bounds for one layer and for
endlessly many, how often these are broken at a fixed ε, and what they tell about depth."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from carryover.errors import UserError
from carryover.figures.drawing import layout, panels

BOUNDS = {"one_layer": ("L = 1, eq 10", 1, "#0072B2"), "deep": ("L → ∞, eq 9", np.inf, "#D55E00")}
BETWEEN = ("#56B4E9", "#E69F00", "#999999")
STYLES = (":", "-", "--")


def draw(data, p):
    """Role: `curve` of curves.gaussian_bounds, with ε = 0 and the source norm, angle and ε of the parameters."""
    curve = data["curve"]
    for name, value in (("source_norm", p.source_norm), ("angle", p.angle), ("epsilon", p.epsilon), ("epsilon", 0.0)):
        if value not in curve[name]:
            known = ", ".join(f"{one:g}" for one in curve[name].values)
            raise UserError(f"{name} is {value:g}, but the role curve has {known}.")
    fig, (left, middle, right) = plt.subplots(1, 3, figsize=(11.5, 3.9))
    highest = int(curve["dimension"].max())
    _risks(left, curve.sel(dimension=highest, source_norm=p.source_norm, angle=p.angle))
    _broken(middle, curve, p.epsilon)
    _ratios(right, curve.sel(dimension=highest, epsilon=0.0))
    left.set_title(f"a: |θ_S| = {p.source_norm:g} |θ_T|, θ = {p.angle:g} π")
    middle.set_title(f"b: bounds at ε = {p.epsilon:g}")
    right.set_title("c: what depth gains")
    drawn = f"{curve.sizes['draw']} draws of inputs, d = {highest} in a and c; a: median and central 95 % of the draws"
    return layout.finished(fig, p.title, drawn, "b: mean over all pairs of tasks", "c: mean over draws", columns=3)


def _risks(ax, curve):
    named = {float(depth): color for _, depth, color in BOUNDS.values()}
    between = [float(depth) for depth in curve["depth"].values if float(depth) not in named]
    colors = named | dict(zip(between, BETWEEN, strict=False))
    for depth in curve["depth"].values:
        risk = curve["risk"].sel(depth=depth)
        low, middle, high = (risk.quantile(q, "draw") for q in (0.025, 0.5, 0.975))
        name = "risk, L → ∞" if np.isinf(depth) else f"risk, L = {depth:g}"
        panels.band(ax, curve["gamma"], middle, low, high, name, marker="o", ms=3, color=colors[float(depth)])
    for name in BOUNDS:
        ax.plot(curve["gamma"], curve[name].sel(epsilon=0.0), "kx", ms=7, label="bounds at ε = 0 (eqs 9, 10)")
    ax.set(yscale="log", xlabel="samples per dimension n/d", ylabel="risk / |θ_T|²")


def _broken(ax, curve, epsilon):
    for name, (label, depth, color) in BOUNDS.items():
        above = curve["risk"].sel(depth=depth) > curve[name].sel(epsilon=epsilon)
        for d, style in zip(curve["dimension"].values, STYLES, strict=False):
            share = 100 * above.sel(dimension=d).mean(("source_norm", "angle", "draw"))
            ax.plot(curve["gamma"], share, f"o{style}", ms=4, color=color, label=f"bound of {label}, d = {d}")
    ax.set(xlabel="samples per dimension n/d", ylabel="inputs that break the bound [%]")
    ax.set_ylim(bottom=0)


def _ratios(ax, curve):
    expected = curve["one_layer"] / curve["deep"]
    gain = 10 ** np.log10(curve["risk"].sel(depth=1) / curve["risk"].sel(depth=np.inf)).mean("draw")
    expected, gain = xr.align(expected.broadcast_like(gain), gain)
    points = (values.transpose(*gain.dims).values.ravel() for values in (expected, gain))
    ax.plot(*points, "o", ms=5, mfc="none", color="#009E73", label="a pair of tasks at an n/d")
    ends = [float(expected.min()), float(expected.max())]
    ax.plot(ends, ends, "k-", linewidth=1, zorder=0, label="equal ratios")
    for line in (ax.axhline, ax.axvline):
        line(1, color="0.7", linewidth=0.6)
    ax.set(xscale="log", yscale="log")
    ax.set(xlabel="ratio of the bounds, eq 10 / eq 9", ylabel="ratio of risks, L = 1 / L → ∞")
