"""Longer training on cross-entropy acts like a smaller initialisation (appendix C of feature reuse)."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims.cross_entropy import margin_over_scale
from carryover.figures.drawing import layout, panels

FAMILIES = {"diagonal": "Diagonal networks", "relu": "ReLU networks"}
FEATURES, ERROR = "effective_features_curve", "risk_curve"
COLUMNS = ((FEATURES, "time", "features by time"), (FEATURES, "ratio", "features by margin over scale²"),
           (ERROR, "ratio", "test error by margin over scale²"))  # fmt: skip
XLABELS = {"time": "flow time (steps × learning rate)", "ratio": "margin γ / initial scale²"}
FITTED = 0.3  # training loss from which on a run is compared with others by its margin over scale²
POINTS = 200  # of a curve


def draw(data, p):
    """Roles `diagonal` and `relu`: trajectories on cross-entropy from several initial scales.

    Margin means γ = −log(e^L − 1), that of every sample if all had the training loss L. What a network of degree 2
    has become after its samples are fitted depends on γ over the square of its initial scale α ("Implicit bias in deep
    linear classification: initialization scale vs training accuracy", Moroshko et al. 2020, for α → ∞).
    """
    fig = plt.figure(figsize=(3.4 * len(COLUMNS), 3.4 * len(FAMILIES) + 0.8))
    letters, parts = iter("abcdef"), fig.subfigures(len(FAMILIES), 1)
    for part, (role, family) in zip(parts, FAMILIES.items(), strict=True):
        trained = np.isfinite(data[role][FEATURES].values).any(axis=1)
        runs = data[role].isel(run=trained & np.isfinite(data[role]["initial_scale"].values))
        axes = part.subplots(1, len(COLUMNS))
        axes[1].sharey(axes[0])
        for ax, (quantity, along, title) in zip(axes, COLUMNS, strict=True):
            _panel(ax, runs, quantity, along)
            ax.set(xscale="log", title=f"{next(letters)}  {title}", xlabel=XLABELS[along])
            if quantity == FEATURES:
                ax.set_yscale("log")
                layout.plain_decades(ax.yaxis)
        axes[0].set_ylabel(f"{family}\neffective number of features")
        axes[-1].set_ylabel("test error")
        notes = [panels.spread_in_words(runs)]  # families may differ in their seeds
        if part is parts[-1]:
            notes += ["dot: end of training", f"margins: from a training loss of {FITTED:g} on"]
        layout.legend(part, *notes, columns=4)
    layout.suptitle(fig, p.title)
    return fig


def _panel(ax, runs, quantity, along):
    """Median and range over runs of each initial scale, read off at common x where every run has some."""
    for scale, part, color in panels.colored(runs, "initial_scale"):
        margins = margin_over_scale(part["loss_curve"].values, part["initial_scale"].values, FITTED)
        x, y = part["time"].values if along == "time" else margins, part[quantity].values
        curves = [(a[both], b[both]) for a, b in zip(x, y, strict=True) for both in [np.isfinite(a) & np.isfinite(b)]]
        low, high = max(a[0] if len(a) else np.inf for a, _ in curves), min(a[-1] if len(a) else 0 for a, _ in curves)
        if 0 < low < high:
            grid = np.geomspace(low, high, POINTS)
            values = np.stack([np.interp(np.log(grid), np.log(a), b) for a, b in curves])
            middle, label = np.median(values, axis=0), f"initial scale {scale:g}"
            panels.band(ax, grid, middle, values.min(0), values.max(0), label, color=color)
            ax.plot(grid[-1], middle[-1], "o", color=color, markersize=4)
