"""Longer training on cross-entropy acts like a smaller initialisation (appendix C of feature reuse)."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.analysis.margins import margin_over_scale
from carryover.errors import UserError
from carryover.figures.drawing import layout, log_axes, panels

FAMILIES = {"diagonal": "Diagonal networks", "relu": "ReLU networks"}
FEATURES, ERROR = "effective_features_curve", "risk_curve"
LABELS = {FEATURES: "effective number of features", ERROR: "test error"}
COLUMNS = (
    (FEATURES, "time", "features by time"),
    (FEATURES, "ratio", "features by margin over scale²"),
    (ERROR, "ratio", "test error by margin over scale²"),
)
XLABELS = {"time": "flow time (steps × learning rate)", "ratio": "margin γ / initial scale²"}
POINTS = 200  # of a curve


def draw(data, p):
    """Roles `diagonal` and `relu`, or one of them: trajectories on cross-entropy from several initial scales.

    Margin means γ = −log(e^L − 1), that of every sample if all had the training loss L. What a network of degree 2
    has become after its samples are fitted depends on γ over the square of its initial scale α ("Implicit bias in deep
    linear classification: initialization scale vs training accuracy", Moroshko et al. 2020, for α → ∞).
    """
    shown = {role: _scratch(role, data[role]) for role in FAMILIES if role in data}
    if not shown:
        raise UserError(f"cross_entropy draws the roles {' and '.join(FAMILIES)}, of which there is none.")
    fig = plt.figure(figsize=(3.4 * len(COLUMNS), 3.4 * len(shown) + 0.8))
    letters = iter("abcdef")
    parts = fig.subfigures(len(shown), 1, squeeze=False)[:, 0]
    for part, (role, runs) in zip(parts, shown.items(), strict=True):
        axes = part.subplots(1, len(COLUMNS))
        axes[1].sharey(axes[0])
        for ax, (quantity, along, title) in zip(axes, COLUMNS, strict=True):
            _panel(ax, runs, quantity, along, p.fitted)
            ax.set_title(f"{next(letters)}  {title}")
            ax.set_xlabel(XLABELS[along])
        axes[0].set_ylabel(f"{FAMILIES[role]}\n{LABELS[FEATURES]}")
        notes = [panels.spread_in_words(runs)]  # families may differ in their seeds
        if part is parts[-1]:
            notes += ["dot: end of training", f"margins: from a training loss of {p.fitted:g} on"]
        layout.legend(part, *notes, columns=4)
    layout.suptitle(fig, p.title)
    return fig


def _scratch(role, runs):
    """The runs that started from an initial scale; UserError where there are none or nothing was recorded of them."""
    if missing := [name for name in (FEATURES, "initial_scale") if name not in runs.variables]:
        raise UserError(f"{role} has no {missing[0]}: cross_entropy draws runs from scratch with loss cross_entropy.")
    trained = np.isfinite(runs[FEATURES].values).any(axis=1)
    runs = runs.isel(run=trained & np.isfinite(runs["initial_scale"].values))
    if not runs.sizes["run"]:
        raise UserError(f"{role} has no run that was trained on cross-entropy from an initial scale.")
    return runs


def _panel(ax, runs, quantity, along, fitted):
    """Median and range over runs of each initial scale, read off at common x where every run has some."""
    for scale, part, color in panels.colored(runs, "initial_scale"):
        margins = margin_over_scale(part["loss_curve"].values, part["initial_scale"].values, fitted)
        x, y = part["time"].values if along == "time" else margins, part[quantity].values
        curves = [(a[both], b[both]) for a, b in zip(x, y, strict=True) for both in [np.isfinite(a) & np.isfinite(b)]]
        low, high = max(a[0] if len(a) else np.inf for a, _ in curves), min(a[-1] if len(a) else 0 for a, _ in curves)
        if 0 < low < high:
            grid = np.geomspace(low, high, POINTS)
            values = np.stack([np.interp(np.log(grid), np.log(a), b) for a, b in curves])
            middle, label = np.median(values, axis=0), f"initial scale {scale:g}"
            panels.band(ax, grid, middle, values.min(0), values.max(0), label, color=color)
            ax.plot(grid[-1], middle[-1], "o", color=color, markersize=4)
    ax.set_xscale("log")
    if quantity == FEATURES:
        ax.set_yscale("log")
        log_axes.plain_decades(ax.yaxis)
    else:
        ax.set_ylabel(LABELS[quantity])
