"""Scaling the source or the target of finetuning ("Finetuning with linear teachers", Fig. 2b)."""

import matplotlib.pyplot as plt

from carryover.analysis.transferability import only
from carryover.figures.drawing import layout, log_axes, panels

SCALED = {"source_norm": ("source scaled", "#0072B2", "-"), "target_norm": ("target scaled", "#D55E00", "--")}


def draw(data, p):
    """Role: `risk` of finetuning with several norms of source and target, among them 1, over depths and samples."""
    risk = panels.where(data["risk"], protocol="finetuning")
    only(risk, "angle")
    depths, sizes = panels.values(risk, "depth"), panels.values(risk, "samples")
    size = (2.5 * len(sizes) + 0.9, 2.0 * len(depths) + 1.1)
    fig, axes = plt.subplots(len(depths), len(sizes), figsize=size, sharex=True, sharey="row", squeeze=False)
    for row, depth in zip(axes, depths, strict=True):
        for ax, samples in zip(row, sizes, strict=True):
            shown = panels.where(risk, depth=depth, samples=samples)
            for scaled, (label, color, style) in SCALED.items():
                (other,) = SCALED.keys() - {scaled}
                panels.spread(ax, panels.where(shown, **{other: 1.0}), "risk_final", scaled, label, color=color,
                              linestyle=style)  # fmt: skip
            ax.set(yscale="log", title=f"L = {depth:g}, n = {samples:g}")
            log_axes.samples(ax, panels.values(risk, "target_norm"))
        row[0].set_ylabel("risk")
    for ax in axes[-1]:
        ax.set_xlabel("norm; the other's is 1")
    return layout.finished(fig, p.title, "L layers, n samples", panels.spread_in_words(risk))
