"""Wide ReLU networks with linear teachers ("Finetuning with linear teachers", section 6): risk against the bound of
theorem 6.1, and the norm in that bound against the distance between the tasks."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.figures.drawing import layout, panels
from carryover.runs import chosen, where

SLOPES = ((3, "3 |Δ| (corollary 6.2)", "--"), (2, "2 |Δ|", "-"))
TOP = 2.0  # of the risks' axis: what is above 1 holds for every network
NORM = {"ntk_norm_linear": ("source learned exactly", "o"), "ntk_norm": ("as pretrained", "^")}


def draw(data, p):
    """Roles: `bound`, the measure `ntk_bound` of networks finetuned and from scratch at several distances."""
    runs = data["bound"]
    trained = runs.isel(run=~chosen(runs, solver="exact"))
    distances = panels.values(runs, "distance")
    size, widths = (2.2 * (len(distances) + 1) + 1.9, 4.4), [*[1] * len(distances), 1.7]
    fig, axes = plt.subplots(1, len(widths), figsize=size, squeeze=False, width_ratios=widths)
    *panes, last = axes[0]
    for ax, distance in zip(panes, distances, strict=True):
        _risks(ax, where(runs, distance=distance), where(trained, distance=distance))
        ax.set_title(f"|Δ| = {distance:g}")
        ax.sharey(panes[0])
        ax.label_outer()
    panes[0].set_ylabel("mean of min(|f − f*|, 1)")
    tuned = where(trained, protocol="finetuning")
    _norms(last, tuned.isel(run=tuned["distance"].values > 0))  # the axes are logarithmic
    below = float((tuned["bound"] < tuned["start_risk"]).mean())
    share = f"the bound is below the risk before finetuning in {below:.0%} of the runs"
    return layout.finish(fig, p.title, "Δ = θ_T − θ_S", panels.spread_in_words(runs), share)


def _risks(ax, runs, trained):
    """Risks of both protocols with their bounds, of training and of the limit of infinite width, against n."""
    for protocol in panels.values(runs, "protocol"):
        part, look = where(trained, protocol=protocol), {"color": panels.COLORS[protocol], "ms": 4}
        name = panels.name(runs, "protocol", protocol)
        panels.spread(ax, part, "absolute_risk", "samples", name, **look)
        panels.spread(ax, part, "bound", "samples", f"{name}, first term of the bound", linestyle="--", **look)
        if chosen(runs, protocol=protocol, solver="exact").any():
            limit = panels.medians(where(runs, protocol=protocol, solver="exact"), "absolute_risk", "samples")
            ax.plot(limit.index, limit, "kx", ms=5, label="infinite width")
        if protocol == "finetuning":
            panels.level(ax, part, "start_risk", "before finetuning", color="0.5", linestyle=":")
    ax.axhspan(1, TOP, color="0.85", linewidth=0, label="vacuous bound")
    layout.name_ticks(ax, panels.values(runs, "samples"), 2)
    ax.set(yscale="log", xlabel="target samples n", ylim=(None, TOP))


def _norms(ax, runs):
    """The norm of what finetuning has to learn against |Δ|, for the largest number of samples."""
    n = runs["samples"].values.max()
    for quantity, (label, marker) in NORM.items():
        middle = panels.medians(where(runs, samples=n), quantity, "distance")
        ax.plot(middle.index, middle, marker, color=panels.COLORS["finetuning"], ms=6, mfc="none", label=label)
    distances = np.array(panels.values(runs, "distance"))
    for slope, label, style in SLOPES:
        ax.plot(distances, slope * distances, style, color="k", linewidth=1, label=label)
    ax.set(yscale="log", xlabel="|Δ|", ylabel="√(ỹᵀ H⁻¹ ỹ)", title=f"norm in the bound, n = {n:g}")
    layout.plain_decades(ax.yaxis)
    layout.name_ticks(ax, distances)
    layout.panel_legend(ax, loc="upper left")
