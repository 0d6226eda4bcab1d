"""Wide ReLU networks with linear teachers ("Finetuning with linear teachers", section 6): risk against the bound of
theorem 6.1, and the norm in that bound against the distance between the tasks."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.figures.drawing import layout, log_axes, panels
from carryover.runs import where

SLOPES = ((3, "3 |Δ| (corollary 6.2)", "--"), (2, "2 |Δ|", "-"))
TOP = 2.0  # of the risks' axis: what is above 1 holds for every network
NORM = {"ntk_norm_linear": ("source learned exactly", "o"), "ntk_norm": ("as pretrained", "^")}


def draw(data, p):
    """Roles: `bound`, the measure `ntk_bound` of networks finetuned and from scratch at several distances."""
    runs = data["bound"]
    distances = panels.values(runs, "distance")
    size, widths = (2.2 * (len(distances) + 1) + 1.9, 4.4), [*[1] * len(distances), 1.7]
    fig, axes = plt.subplots(1, len(widths), figsize=size, squeeze=False, width_ratios=widths)
    *panes, last = axes[0]
    for ax, distance in zip(panes, distances, strict=True):
        _risks(ax, where(runs, distance=distance))
        ax.set_title(f"|Δ| = {distance:g}")
        ax.sharey(panes[0])
        ax.label_outer()
    panes[0].set_ylabel("mean of min(|f − f*|, 1)")
    tuned = _trained(where(runs, protocol="finetuning"))
    _norms(last, tuned.isel(run=tuned["distance"].values > 0))  # the axes are logarithmic
    below = panels.percent(float((tuned["bound"] < tuned["start_risk"]).mean()))
    share = f"the bound is below the risk before finetuning in {below} of the runs"
    return layout.finish(fig, p.title, "Δ = θ_T − θ_S", panels.spread_in_words(runs), share)


def _trained(runs):
    return runs.isel(run=runs["solver"].values != "exact")


def _risks(ax, runs):
    """Risks of both protocols with their bounds, of training and of the limit of infinite width, against n."""
    for protocol in panels.values(runs, "protocol"):
        part, look = where(runs, protocol=protocol), {"color": panels.color(protocol), "ms": 4}
        trained, name = _trained(part), panels.name(runs, "protocol", protocol)
        panels.spread(ax, trained, "absolute_risk", "samples", name, **look)
        panels.spread(ax, trained, "bound", "samples", f"{name}, first term of the bound", linestyle="--", **look)
        if "exact" in part["solver"].values:
            limit = _median(where(part, solver="exact"), "absolute_risk", "samples")
            ax.plot(limit.index, limit, "kx", ms=5, label="infinite width")
        if protocol == "finetuning":
            panels.level(ax, trained, "start_risk", "before finetuning", color="0.5", linestyle=":")
    ax.axhspan(1, TOP, color="0.85", linewidth=0, label="vacuous bound")
    log_axes.named(ax, panels.values(runs, "samples"), 2)
    ax.set(yscale="log", xlabel="target samples n", ylim=(None, TOP))


def _norms(ax, runs):
    """The norm of what finetuning has to learn against |Δ|, for the largest number of samples."""
    n = runs["samples"].values.max()
    for quantity, (label, marker) in NORM.items():
        middle = _median(where(runs, samples=n), quantity, "distance")
        ax.plot(middle.index, middle, marker, color=panels.color("finetuning"), ms=6, mfc="none", label=label)
    distances = np.array(panels.values(runs, "distance"))
    for slope, label, style in SLOPES:
        ax.plot(distances, slope * distances, style, color="k", linewidth=1, label=label)
    ax.set(xscale="log", yscale="log", xlabel="|Δ|", ylabel="√(ỹᵀ H⁻¹ ỹ)", title=f"norm in the bound, n = {n:g}")
    log_axes.plain_decades(ax.yaxis)
    ax.set_xticks(distances, [f"{distance:g}" for distance in distances])
    ax.set_xticks([], minor=True)
    layout.panel_legend(ax, loc="upper left")


def _median(runs, quantity, along):
    """Median over seeds of a quantity by a coordinate, a Series."""
    return runs[[quantity]].to_dataframe().groupby(along)[quantity].median()
