"""Penalty of a finetuned ReLU unit, or its local exponent, against the unit's magnitude (Fig. 1a,b of the paper)."""

import matplotlib.pyplot as plt

from carryover.figures.drawing import layout, panels

MEANINGS = {0.01: "new", 1.0: "used alike", 100.0: "used far more"}
GREY = {"color": "0.6", "linewidth": 0.8, "linestyle": ":", "zorder": 0}


def draw(data, p):
    """The diagonal network's penalty, and a panel per cosine ρ from 1 down; one curve per auxiliary magnitude."""
    curve = data["curve"]
    shown = {"diagonal network, Q": curve[f"diagonal_{p.quantity}"]}
    shown |= {f"ReLU, ρ = {rho:g}": curve[p.quantity].sel(correlation=rho)
              for rho in sorted(curve["correlation"].values, reverse=True)}  # fmt: skip
    fig, axes = plt.subplots(1, len(shown), figsize=(2.1 * len(shown), 3.3), sharey=True, squeeze=False)
    magnitudes = curve["auxiliary_magnitude"].values
    for ax, (title, lines) in zip(axes[0], shown.items(), strict=True):
        for auxiliary, color in zip(magnitudes, panels.colors("auxiliary_magnitude", magnitudes), strict=True):
            meaning = f" ({MEANINGS[auxiliary]})" if auxiliary in MEANINGS else ""
            line, label = lines.sel(auxiliary_magnitude=auxiliary), f"$m^{{aux}}$ = {auxiliary:g}{meaning}"
            ax.plot(curve["magnitude"], line, color=color, label=label)
        ax.set(xscale="log", title=title, xlabel="magnitude m")
        ax.axvline(1, **GREY)
    if p.quantity == "penalty":
        axes[0, 0].set(yscale="log", ylabel="penalty Q or $\\tilde r$")
        return layout.finish(fig, p.title)
    axes[0, 0].set(ylabel="d log penalty / d log m", yticks=(0, 0.5, 1, 1.5, 2))
    for exponent, label in ((1, "ℓ1"), (2, "ℓ2")):
        for ax in axes[0]:
            ax.axhline(exponent, **GREY)
        place = {"xy": (1.03, exponent), "xycoords": ("axes fraction", "data")}  # beside the last panel
        axes[0, -1].annotate(label, va="center", color="0.4", **place)
    return layout.finish(fig, p.title)
