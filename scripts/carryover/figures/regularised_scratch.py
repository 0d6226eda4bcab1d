"""Linear transferability against scratch training without and with weight decay, chosen by the risk itself or by
validation ("Features are fate", Fig. 5)."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import TwoSlopeNorm

from carryover.claims.support.transferability import only, transferability, with_decay
from carryover.figures.drawing import layout, panels
from carryover.runs import where

ANGLE = 0.5  # of the slices in d, in units of π
LARGEST = 1.0  # transferability at which maps and slices end
CHOICES = {None: "no weight decay", "validation_loss": "chosen by cross-validation", "risk_final": "chosen by the risk"}

ANGLE = 0.5  # of the slices in d, in units of π
LARGEST = 1.0  # transferability at which maps and slices end


def draw(data, p):
    """Role: `risk` of linear transfer, and of single-task learning with several strengths of weight decay.

    At γ = 1 there is no mean without weight decay: medians over draws and their quartiles are drawn.
    """
    risk = data["risk"]
    noise = only(risk, "noise")
    where(risk, angle=ANGLE)
    fig, (*maps, slices) = plt.subplots(1, 4, figsize=(13.0, 3.8), width_ratios=(1, 1, 1, 1.1))
    norm, colors = TwoSlopeNorm(0.0, -LARGEST, LARGEST), panels.colors("choice", list(CHOICES))
    for ax, letter, (choice, label), color in zip(maps, "abc", CHOICES.items(), colors, strict=True):
        runs = transferability(risk, "linear_transfer", with_decay(risk, choice))
        square = runs.pivot_table("transferability", "angle", "gamma", aggfunc="median")
        values = np.clip(square.values, -LARGEST, LARGEST)
        image = ax.pcolormesh(square.columns, square.index, values, cmap="RdBu", norm=norm, rasterized=True)
        if min(values.shape) > 1:
            ax.contour(square.columns, square.index, values, levels=[0.0], colors="k", linewidths=1)
        ax.set(xlabel="samples per dimension γ", title=f"{letter}: {label}")
        ax.grid(False)
        gains = runs[runs["angle"] == ANGLE].groupby("gamma")["transferability"]
        low, middle, high = (gains.quantile(share) for share in (0.25, 0.5, 0.75))
        look = {"fmt": "o--" if choice == "risk_final" else "o-", "ms": 3, "linewidth": 1, "color": color}
        slices.errorbar(middle.index, middle, (middle - low, high - middle), label=label, **look)
    maps[0].set_ylabel("angle θ / π")
    label = f"transferability, cut at ±{LARGEST:g}"
    fig.colorbar(image, ax=maps, label=label, location="bottom", shrink=0.5)
    slices.axhline(0, color="0.6", linewidth=0.6)
    slices.set(xlabel="samples per dimension γ", ylabel="transferability", ylim=(-1.1 * LARGEST, 1.1 * LARGEST))
    slices.set_title(f"d: θ = {ANGLE:g} π")
    note = "medians over draws; bars in d: quartiles"
    return layout.finish(fig, p.title, f"σ = {noise:g}, {panels.seeds_in_words(risk)}", note)
