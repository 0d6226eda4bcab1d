"""Risk against the number of samples, or another coordinate: panels and curves by any coordinates of the runs."""

import matplotlib.pyplot as plt

from carryover import labels
from carryover.drawing import layout, log_axes, markers, panels
from carryover.errors import UserError
from carryover.runs import conditions

STYLES = ("-", "--", ":")
MOST = 6  # columns side by side, where there is one row: more of them take several lines


def draw(data, p):
    risk = panels.where(data["risk"], **conditions(p.only))
    columns, curves = panels.values(risk, p.columns), _curves(risk, p)
    meaning = risk[p.quantity].attrs["long_name"]
    if p.relative_to:  # the loss, which tells what is unfitted, goes along
        scale, meaning = risk[p.relative_to].values ** 2, f"{meaning}, over ({labels.label(risk, p.relative_to)})²"
        risk = risk.assign({name: risk[name] / scale for name in {p.quantity, "loss"} & {*risk}})
    rows = panels.values(risk, p.rows) if p.rows else []
    lines = [(row, columns) for row in rows] if p.rows else _lines(columns)
    per_line = len(lines[0][1])
    size = (p.panel * per_line + 0.9, 2.0 * len(lines) + 1.1)
    share = True if p.relative_to else "row" if p.rows else "all"
    fig, axes = plt.subplots(len(lines), per_line, figsize=size, sharex=True, sharey=share, squeeze=False)
    for i, (row, shown) in enumerate(lines):
        for j, column in enumerate(shown):
            chosen = {p.columns: column} | ({p.rows: row} if p.rows else {})
            _panel(axes[i, j], panels.where(risk, **chosen), p, curves)
            if i == 0 or not p.rows:
                axes[i, j].set_title(panels.name(risk, p.columns, column))
            if i == len(lines) - 1 or j >= len(lines[i + 1][1]):
                axes[i, j].set_xlabel(labels.label(risk, p.along).removesuffix(" ="))
                axes[i, j].tick_params(labelbottom=True)
        axes[i, 0].set_ylabel(panels.name(risk, p.rows, row) if p.rows else meaning)
        for ax in axes[i, len(shown) :]:
            ax.remove()
    for ax in axes[:, 0]:
        log_axes.enough_names(ax.yaxis)
    if p.rows:
        fig.supylabel(meaning, fontsize=plt.rcParams["axes.labelsize"])
    clipped = [f"below {p.floor:g} drawn there"] if (risk[p.quantity] < p.floor).any() else []
    drawn = markers.notes(risk) if p.markers else [panels.seeds_in_words(risk), panels.SPREAD]
    return layout.finished(fig, p.title, *drawn, *clipped, *panels.convergence(risk))


def _lines(columns):
    """[(no row, columns of a line)], as few lines as hold them, of much the same length."""
    per_line = -(-len(columns) // -(-len(columns) // MOST))
    return [(None, columns[start : start + per_line]) for start in range(0, len(columns), per_line)]


def _curves(risk, p):
    """[(conditions, name)] of the curves; UserError where there are not as many names."""
    hues = panels.combinations(risk, p.hue)
    there = {str(hue[p.hue[0]]): None for hue in hues}
    if absent := [value for value in p.shown if value not in there]:
        raise UserError(f"shown: there is no {p.hue[0]} {absent[0]}; there are {', '.join(there)}.")
    hues = [hue for hue in hues if not p.shown or str(hue[p.hue[0]]) in p.shown]
    named = p.names or [", ".join(panels.name(risk, *pair) for pair in hue.items()) for hue in hues]
    if len(named) != len(hues):
        raise UserError(f"names: there are {len(hues)} curves, not {len(named)}.")
    return list(zip(hues, named, strict=True))


def _panel(ax, risk, p, curves):
    seen, colors = [], panels.colors(p.hue[0], [hue for hue, _ in curves])
    for place, ((chosen, name), color) in enumerate(zip(curves, colors, strict=True)):
        style = STYLES[seen.count(str(color)) % len(STYLES)]  # curves of one protocol share their colour
        seen.append(str(color))
        if panels.chosen(risk, **chosen).any():
            shown = panels.where(risk, **chosen)
            moved = shown[p.along] * 2.0 ** (p.apart * (place - (len(curves) - 1) / 2))
            shown = shown.assign({p.quantity: shown[p.quantity].clip(min=p.floor)}).assign_coords({p.along: moved})
            curve = markers.over_limits if p.markers else panels.spread
            curve(ax, shown, p.quantity, p.along, name, color=color, linestyle=style, zorder=3 - place / 9)
    ax.set_yscale("log")
    log_axes.samples(ax, panels.values(risk, p.along))
