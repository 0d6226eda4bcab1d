"""Penalty of a finetuned ReLU unit, or its local exponent, against the unit's magnitude (Fig. 1a,b of the paper)."""

import matplotlib.pyplot as plt

from carryover.drawing import layout, panels

MEANINGS = {0.01: "new", 1.0: "used alike", 100.0: "used far more"}


def draw(data, p):
    """One panel per correlation ρ, one curve per auxiliary magnitude."""
    curve = data["curve"]
    correlations = curve["correlation"].values
    fig, axes = plt.subplots(1, len(correlations), figsize=(2.3 * len(correlations), 3.3), sharey=True, squeeze=False)
    magnitudes = curve["auxiliary_magnitude"].values
    colors = panels.colors("auxiliary_magnitude", magnitudes)
    for ax, rho in zip(axes[0], correlations, strict=True):
        for auxiliary, color in zip(magnitudes, colors, strict=True):
            line = curve[p.quantity].sel(correlation=rho, auxiliary_magnitude=auxiliary)
            meaning = f" ({MEANINGS[auxiliary]})" if auxiliary in MEANINGS else ""
            ax.plot(curve["magnitude"], line, color=color, label=f"$m^{{aux}}$ = {auxiliary:g}{meaning}")
        ax.set_xscale("log")
        ax.set_title(f"ρ = {rho:g}")
        ax.axvline(1, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
    if p.quantity == "penalty":
        axes[0, 0].set(yscale="log", ylabel="penalty $\\tilde r$")
    else:
        axes[0, 0].set(ylabel="d log $\\tilde r$ / d log m", yticks=(0, 0.5, 1, 1.5, 2))
        for exponent, label in ((1, "ℓ1"), (2, "ℓ2")):
            for ax in axes[0]:
                ax.axhline(exponent, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
            axes[0, -1].annotate(  # beside the last panel, where no curve is
                label, (1.03, exponent), xycoords=("axes fraction", "data"), va="center", color="0.4"
            )
    axes[0, len(correlations) // 2].set_xlabel("magnitude m of the finetuned feature")
    return layout.finished(fig, p.title)
