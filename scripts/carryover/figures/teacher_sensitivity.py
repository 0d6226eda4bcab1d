"""Whether conclusions of "Finetuning with linear teachers" hang on what the paper leaves open: the number of samples
and the part of the target that the source does not have."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.figures.drawing import layout, panels
from carryover.runs import where

DEPTH = 5  # layers that are compared with one
SCALED_DEPTH = 7  # layers of which source or target is scaled


def draw(data, p):
    """Roles: `stretch`, exact limits over stretches, rests, depths and samples; `scale`, over norms of both tasks."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.1), sharey=True)
    stretched, scaled = where(data["stretch"], solver="exact"), where(data["scale"], depth=SCALED_DEPTH)
    largest = panels.values(stretched, "stretch")[-1]
    for deviation, runs, color in panels.colored(where(stretched, stretch=largest), "deviation"):
        _ratio(left, runs, {"depth": 1}, {"depth": DEPTH}, f"a: rest of norm {deviation:g}", color)
    left.set_title(f"a: risk of 1 layer over that of {DEPTH}, α = {largest:g}")
    norms = panels.values(scaled, "target_norm")[1:]
    for norm, color in zip(norms, plt.get_cmap("plasma")(np.linspace(0.1, 0.75, len(norms))), strict=True):
        target, source = {"target_norm": norm, "source_norm": 1.0}, {"target_norm": 1.0, "source_norm": norm}
        _ratio(right, scaled, target, source, f"b: norm {norm:g}", color)
    right.set_title(f"b: target scaled over source scaled, L = {SCALED_DEPTH}")
    for ax in (left, right):
        ax.axhline(1, color="0.6", linewidth=0.6)
        ax.set(yscale="log", xlabel="samples per dimension γ")
    left.set_ylabel("ratio of risks")
    layout.plain_decades(left.yaxis)
    notes = (f"{letter}: {panels.seeds_in_words(runs)}" for letter, runs in (("a", stretched), ("b", scaled)))
    return layout.finish(fig, p.title, *notes, "median over seeds, bars: their range")


def _ratio(ax, runs, above, below, label, color):
    """Ratio of the risks of two kinds of runs, seed by seed, against γ; curves stand a little apart."""
    tables = (where(runs, **kind)[["risk_final"]].to_dataframe() for kind in (above, below))
    over, under = (table.pivot(index="seed", columns="gamma", values="risk_final") for table in tables)
    ratio = over / under
    x, ends = ratio.columns + 0.005 * len(ax.containers), (ratio.median(), ratio.min(), ratio.max())
    panels.points(ax, x, ends, label, marker="o", ms=4, linewidth=1.2, color=color)
