"""Endless training on cross-entropy: norms and test errors over the margin (appendix C of "Feature reuse …")."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims.cross_entropy import at_margins
from carryover.figures.drawing import layout, panels
from carryover.runs import where

MARGINS = np.geomspace(2.0, 130.0, 40)  # at which curves are drawn


def draw(data, p):
    """Role `trajectory`: diagonal networks of several protocols, from scratch from several initial scales."""
    runs = data["trajectory"]
    smallest = np.nanmin(runs["initial_scale"].values)
    from_small = runs.isel(run=~(runs["initial_scale"].values > smallest))  # NaN: from a pretrained network
    alone = from_small.isel(run=from_small["protocol"].values != "multi_task")
    joint = where(runs, protocol="multi_task")
    scales = {scale: f"MTL, initial scale {scale:g}" for scale in panels.values(joint, "initial_scale")}
    shown = (
        (alone, "l1_norm_curve", "protocol", None, "a  ℓ1 norm of the main task", "ℓ1 norm / margin"),
        (from_small, "risk_curve", "protocol", None, "b  test error of the main task", "test error"),
        (joint, "group_norm_curve", "initial_scale", scales, "c  ℓ1,2 norm of both tasks", "ℓ1,2 norm / margin"),
    )
    fig, axes = plt.subplots(1, 3, figsize=(8.4, 3.0))
    for ax, (part, curve, hue, names, title, label) in zip(axes, shown, strict=True):
        values = at_margins(part, curve, MARGINS)
        values = values / values["margin"] if "norm" in curve else values
        reached = values.dropna("margin").to_dataset(name="value")  # by all runs
        panels.curves(ax, reached, "value", "margin", hue, names)
        ax.set(title=title, xlabel="margin γ", ylabel=label, xscale="log")
    start = f"from scratch in a and b: initial scale {smallest:g}"
    return layout.finish(fig, p.title, start, panels.spread_in_words(runs))
