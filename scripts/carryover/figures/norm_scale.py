"""Scaling the source or the target of finetuning ("Finetuning with linear teachers", Fig. 2b)."""

import matplotlib.pyplot as plt

from carryover.claims.support.runs import only
from carryover.figures.drawing import layout, panels
from carryover.runs import where

SCALED = (
    ("source_norm", "target_norm", "source scaled", {"color": "#0072B2", "linestyle": "-"}),
    ("target_norm", "source_norm", "target scaled", {"color": "#D55E00", "linestyle": "--"}),
)


def draw(data, p):
    """Role: `risk` of finetuning with several norms of source and target, among them 1, over depths and samples."""
    risk = where(data["risk"], protocol="finetuning")
    only(risk, "angle")
    depths, sizes = panels.values(risk, "depth"), panels.values(risk, "samples")
    size = (2.5 * len(sizes) + 0.9, 2.0 * len(depths) + 1.1)
    fig, axes = plt.subplots(len(depths), len(sizes), figsize=size, sharex=True, sharey="row", squeeze=False)
    for row, depth in zip(axes, depths, strict=True):
        for ax, samples in zip(row, sizes, strict=True):
            for scaled, other, label, look in SCALED:
                shown = where(risk, depth=depth, samples=samples, **{other: 1.0})
                panels.spread(ax, shown, "risk_final", scaled, label, **look)
            ax.set(yscale="log", title=f"L = {depth:g}, n = {samples:g}")
            layout.name_ticks(ax, panels.values(risk, "target_norm"), 2)
        row[0].set_ylabel("risk")
    for ax in axes[-1]:
        ax.set_xlabel("norm; the other's is 1")
    return layout.finish(fig, p.title, "L layers, n samples", panels.spread_in_words(risk))
