"""Endless training on cross-entropy: norms and test errors over the margin (appendix C of "Feature reuse …")."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.analysis.margins import at_margins
from carryover.figures.drawing import layout, panels


def draw(data, p):
    """Role `trajectory`: diagonal networks of several protocols, from scratch from several initial scales."""
    runs = data["trajectory"]
    margins = np.geomspace(p.least, p.most, p.points)
    fig, axes = plt.subplots(1, 3, figsize=(8.4, 3.0))
    smallest = np.nanmin(runs["initial_scale"].values)
    from_small = runs.isel(run=~(runs["initial_scale"].values > smallest))  # NaN: from a pretrained network
    alone = from_small.isel(run=from_small["protocol"].values != "multi_task")
    joint = panels.where(runs, protocol="multi_task")
    _curves(axes[0], alone, "l1_norm_curve", "protocol", margins, per_margin=True)
    axes[0].set(title="a  ℓ1 norm of the main task", ylabel="ℓ1 norm / margin")
    _curves(axes[1], from_small, "risk_curve", "protocol", margins)
    axes[1].set(title="b  test error of the main task", ylabel="test error")
    scales = {scale: f"MTL, initial scale {scale:g}" for scale in panels.values(joint, "initial_scale")}
    _curves(axes[2], joint, "group_norm_curve", "initial_scale", margins, per_margin=True, named=scales)
    axes[2].set(title="c  ℓ1,2 norm of both tasks", ylabel="ℓ1,2 norm / margin")
    for ax in axes:
        ax.set_xscale("log")
        ax.set_xlabel("margin γ")
    start = f"from scratch in a and b: initial scale {smallest:g}"
    return layout.finished(fig, p.title, start, panels.spread_in_words(runs))


def _curves(ax, runs, curve, hue, margins, per_margin=False, named=None):
    """Curves over the margins that all runs of a colour have reached."""
    values = at_margins(runs, curve, margins)
    values = (values / values["margin"] if per_margin else values).dropna("margin").to_dataset(name="value")
    panels.curves(ax, values, "value", "margin", hue, named)
