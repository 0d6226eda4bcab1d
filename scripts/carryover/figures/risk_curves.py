"""Risk against the number of samples, or another coordinate: panels and curves by any coordinates of the runs."""

import json
from functools import partial

import matplotlib.pyplot as plt
import numpy as np

from carryover import labels
from carryover.errors import UserError
from carryover.figures.drawing import layout, log_axes, markers, panels
from carryover.runs import ALL_LAYERS, conditions

STYLES = ("-", "--", ":")
MOST = 6  # columns side by side: more of them take several lines
LAYERS = {"trained": "all layers trained", "frozen": "features fixed"}


def draw(data, p):
    risk = panels.where(_with_layers(data["risk"]), **conditions(p.only))
    meaning = risk[p.quantity].attrs["long_name"]
    if p.relative_to:  # the loss, which tells what is unfitted, goes along
        scale, meaning = risk[p.relative_to].values ** 2, f"{meaning}, over ({labels.label(risk, p.relative_to)})²"
        risk = risk.assign({name: risk[name] / scale for name in {p.quantity, "loss"} & {*risk}})
    curves, rows = _curves(risk, p), panels.values(risk, p.rows) if p.rows else [None]
    lines = [(row, columns) for columns in _lines(panels.values(risk, p.columns)) for row in rows]
    per_line = len(lines[0][1])
    size = (p.panel * per_line + 0.9, 2.0 * len(lines) + 1.1)
    fig, axes = plt.subplots(len(lines), per_line, figsize=size, sharex=True, sharey=True, squeeze=False)
    for i, (row, shown) in enumerate(lines):
        runs = panels.where(risk, **{p.rows: row}) if p.rows else risk
        own = [curve for curve in curves if panels.chosen(runs, **curve[0]).any()]
        for ax, column in zip(axes[i], shown, strict=False):
            _panel(ax, panels.where(runs, **{p.columns: column}), p, own)
            if i % len(rows) == 0:
                ax.set_title(panels.name(risk, p.columns, column))
            if (i + 1) % len(rows) == 0:
                ax.set_xlabel(labels.label(risk, p.along).removesuffix(" ="))
                ax.tick_params(labelbottom=True)
        axes[i, 0].set_ylabel(panels.name(risk, p.rows, row) if p.rows else meaning)
        for ax in axes[i, len(shown) :]:
            ax.remove()
    log_axes.samples(axes[0, 0], panels.values(risk, p.along))  # the axes are shared
    log_axes.enough_names(axes[0, 0].yaxis)
    if p.rows:
        fig.supylabel(meaning, fontsize=plt.rcParams["axes.labelsize"])
    clipped = [f"below {p.floor:g} drawn there"] if (risk[p.quantity] < p.floor).any() else []
    drawn = markers.notes(risk) if p.markers else [panels.spread_in_words(risk, "bars" if p.apart else "band")]
    return layout.finished(fig, p.title, *drawn, *clipped, *panels.convergence(risk))


def _with_layers(risk):
    """The runs with a coordinate `layers`: whether all were trained, or a readout alone."""
    trained = np.isin(risk["protocol"].values, ALL_LAYERS["protocol"])
    words = {"value_labels": json.dumps(LAYERS)}
    return risk.assign_coords(layers=("run", np.where(trained, *LAYERS), words))


def _lines(columns):
    """[columns of a line], as few lines as hold them, of much the same length."""
    per_line = -(-len(columns) // -(-len(columns) // MOST))
    return [columns[start : start + per_line] for start in range(0, len(columns), per_line)]


def _curves(risk, p):
    """[(conditions, name, colour, style)] of the curves; UserError where there are not as many names."""
    hues = panels.combinations(risk, p.hue)
    there = {str(hue[p.hue[0]]): None for hue in hues}
    if absent := [value for value in p.shown if value not in there]:
        raise UserError(f"shown: there is no {p.hue[0]} {absent[0]}; there are {', '.join(there)}.")
    hues = [hue for hue in hues if not p.shown or str(hue[p.hue[0]]) in p.shown]
    named = p.names or [", ".join(panels.name(risk, *pair) for pair in hue.items()) for hue in hues]
    if len(named) != len(hues):
        raise UserError(f"names: there are {len(hues)} curves, not {len(named)}.")
    colors = [*map(str, panels.colors(p.hue[0], hues))]
    styles = [STYLES[colors[:i].count(color) % len(STYLES)] for i, color in enumerate(colors)]  # of one protocol
    return list(zip(hues, named, panels.colors(p.hue[0], hues), styles, strict=True))


def _panel(ax, risk, p, curves):
    draw = markers.over_limits if p.markers else partial(panels.spread, bars=p.apart > 0)
    for place, (chosen, name, color, style) in enumerate(curves):
        if panels.chosen(risk, **chosen).any():
            shown = panels.beside(panels.where(risk, **chosen), p.along, place, len(curves), p.apart)
            shown = shown.assign({p.quantity: shown[p.quantity].clip(min=p.floor)})
            draw(ax, shown, p.quantity, p.along, name, color=color, linestyle=style, zorder=3 - place / 9)
    ax.set_yscale("log")
