"""Linear transferability against scratch training without and with weight decay, chosen by the risk itself or by
validation ("Features are fate", Fig. 5)."""

import matplotlib.pyplot as plt

from carryover.claims.support.runs import only
from carryover.claims.support.transferability import transferability, with_decay
from carryover.figures.drawing import layout, panels
from carryover.runs import where

ANGLE = 0.5  # of the slices in d, in units of π
LARGEST = 1.0  # transferability at which maps and slices end
CHOICES = {None: "no weight decay", "validation_loss": "chosen by cross-validation", "risk_final": "chosen by the risk"}


def draw(data, p):
    """Role: `risk` of linear transfer, and of single-task learning with several strengths of weight decay.

    At γ = 1 there is no mean without weight decay: medians over draws and their quartiles are drawn.
    """
    risk = data["risk"]
    where(risk, angle=ANGLE)
    fig, (*maps, slices) = plt.subplots(1, 4, figsize=(13.0, 3.8), width_ratios=(1, 1, 1, 1.1))
    colors = panels.colors("choice", list(CHOICES))
    for ax, letter, (choice, label), color in zip(maps, "abc", CHOICES.items(), colors, strict=True):
        runs = transferability(risk, "linear_transfer", with_decay(risk, choice))
        square = runs.pivot_table("transferability", "angle", "gamma", aggfunc="median")
        image = panels.gain_map(ax, square.columns, square.index, square.values, LARGEST)
        if min(square.shape) > 1:
            gains = square.values.clip(-LARGEST, LARGEST)
            ax.contour(square.columns, square.index, gains, levels=[0.0], colors="k", linewidths=1)
        ax.set(xlabel="samples per dimension γ", title=f"{letter}: {label}")
        gains = runs[runs["angle"] == ANGLE].groupby("gamma")["transferability"]
        middle, low, high = (gains.quantile(share) for share in (0.5, 0.25, 0.75))
        look = {"fmt": "o--" if choice == "risk_final" else "o-", "ms": 3, "linewidth": 1, "color": color}
        panels.points(slices, middle.index, (middle, low, high), label, **look)
    maps[0].set_ylabel("angle θ / π")
    label = f"transferability, cut at ±{LARGEST:g}"
    fig.colorbar(image, ax=maps, label=label, location="bottom", shrink=0.5)
    slices.axhline(0, color="0.6", linewidth=0.6)
    slices.set(xlabel="samples per dimension γ", ylabel="transferability", ylim=(-1.1 * LARGEST, 1.1 * LARGEST))
    slices.set_title(f"d: θ = {ANGLE:g} π")
    notes = f"σ = {only(risk, 'noise'):g}, {panels.seeds_in_words(risk)}", "medians over draws; bars in d: quartiles"
    return layout.finish(fig, p.title, *notes)
