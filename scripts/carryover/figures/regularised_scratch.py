"""Linear transferability against scratch training without and with weight decay, chosen by the risk itself or by
validation ("Features are fate", Fig. 5)."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import TwoSlopeNorm

from carryover.analysis.transferability import only, transferability, with_decay
from carryover.figures.drawing import layout, panels

CHOICES = {
    "none": "a: no weight decay",
    "validation_loss": "b: chosen by cross-validation",
    "risk_final": "c: chosen by the risk",
}


def draw(data, p):
    """Role: `risk` of linear transfer, and of single-task learning with several strengths of weight decay."""
    risk = data["risk"]
    noise = only(risk, "noise")
    panels.where(risk, angle=p.angle)
    runs = {name: _against(risk, name) for name in CHOICES}
    fig, axes = plt.subplots(1, 4, figsize=(13.0, 3.8), width_ratios=(1, 1, 1, 1.1))
    norm = TwoSlopeNorm(0.0, -p.largest, p.largest)
    for ax, (name, label) in zip(axes, CHOICES.items(), strict=False):
        square = runs[name].pivot_table("transferability", "angle", "gamma", aggfunc="median")
        values = np.clip(square.values, -p.largest, p.largest)
        image = ax.pcolormesh(square.columns, square.index, values, cmap="RdBu", norm=norm, rasterized=True)
        if min(values.shape) > 1:
            ax.contour(square.columns, square.index, values, levels=[0.0], colors="k", linewidths=1)
        ax.set(xlabel="samples per dimension γ", title=label)
        ax.grid(False)
    axes[0].set_ylabel("angle θ / π")
    fig.colorbar(
        image, ax=list(axes[:3]), label=f"transferability, cut at ±{p.largest:g}", location="bottom", shrink=0.5
    )
    for name, color in zip(CHOICES, panels.colors("choice", list(CHOICES)), strict=True):
        _slice(axes[3], runs[name], p, CHOICES[name][3:], color, "o--" if name == "risk_final" else "o-")
    axes[3].axhline(0, color="0.6", linewidth=0.6)
    axes[3].set(xlabel="samples per dimension γ", ylabel="transferability", ylim=(-1.1 * p.largest, 1.1 * p.largest))
    axes[3].set_title(f"d: θ = {p.angle:g} π")
    drawn = "medians over draws; bars in d: quartiles"
    return layout.finished(fig, p.title, f"σ = {noise:g}, {panels.seeds_in_words(risk)}", drawn)


def _against(risk, chosen_by):
    return transferability(risk, "linear_transfer", with_decay(risk, None if chosen_by == "none" else chosen_by))


def _slice(ax, runs, p, label, color, style):
    """Median over draws and their quartiles: at γ = 1 there is no mean without weight decay."""
    gains = runs[runs["angle"] == p.angle].groupby("gamma")["transferability"]
    low, middle, high = (gains.quantile(share) for share in (0.25, 0.5, 0.75))
    ax.errorbar(middle.index, middle, (middle - low, high - middle), fmt=style, ms=3, linewidth=1, color=color,
                label=label)  # fmt: skip
