"""Penalty of a finetuned ReLU unit, or its local exponent, against the unit's magnitude (Fig. 1a,b of the paper)."""

import matplotlib.pyplot as plt

from carryover.figures.drawing import layout, panels

MEANINGS = {0.01: "new", 1.0: "used alike", 100.0: "used far more"}


def draw(data, p):
    """The diagonal network's penalty, and a panel per cosine ρ from 1 down; one curve per auxiliary magnitude."""
    curve = data["curve"]
    correlations = sorted(curve["correlation"].values, reverse=True)
    shown = {"diagonal network, Q": curve[f"diagonal_{p.quantity}"]}
    shown |= {f"ReLU, ρ = {rho:g}": curve[p.quantity].sel(correlation=rho) for rho in correlations}
    fig, axes = plt.subplots(1, len(shown), figsize=(2.1 * len(shown), 3.3), sharey=True, squeeze=False)
    magnitudes = curve["auxiliary_magnitude"].values
    colors = panels.colors("auxiliary_magnitude", magnitudes)
    for ax, (title, lines) in zip(axes[0], shown.items(), strict=True):
        for auxiliary, color in zip(magnitudes, colors, strict=True):
            meaning = f" ({MEANINGS[auxiliary]})" if auxiliary in MEANINGS else ""
            line = lines.sel(auxiliary_magnitude=auxiliary)
            ax.plot(curve["magnitude"], line, color=color, label=f"$m^{{aux}}$ = {auxiliary:g}{meaning}")
        ax.set(xscale="log", title=title, xlabel="magnitude m")
        ax.axvline(1, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
    if p.quantity == "penalty":
        axes[0, 0].set(yscale="log", ylabel="penalty Q or $\\tilde r$")
    else:
        axes[0, 0].set(ylabel="d log penalty / d log m", yticks=(0, 0.5, 1, 1.5, 2))
        for exponent, label in ((1, "ℓ1"), (2, "ℓ2")):
            for ax in axes[0]:
                ax.axhline(exponent, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
            axes[0, -1].annotate(  # beside the last panel, where no curve is
                label, (1.03, exponent), xycoords=("axes fraction", "data"), va="center", color="0.4"
            )
    return layout.finished(fig, p.title)
