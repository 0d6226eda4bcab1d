"""Risk against the number of samples, or another coordinate: panels and curves by any coordinates of the runs."""

from dataclasses import dataclass

import matplotlib.pyplot as plt

from carryover import labels
from carryover.config.parameters import parameter
from carryover.drawing import panels

STYLES = ("-", "--", ":")


@dataclass(frozen=True, kw_only=True)
class Parameters:
    title: str = parameter("Risk against samples", "what is seen")
    quantity: str = parameter("risk_final", "which risk", choices=("risk_final", "risk_best"))
    columns: str = parameter("overlap", "coordinate of the columns of panels")
    along: str = parameter("samples", "coordinate of the horizontal axis, which is logarithmic")
    rows: str = parameter("", "coordinate of the rows of panels; empty for one row")
    hue: tuple[str, ...] = parameter(("protocol",), "coordinates of the curves")
    own_scales: bool = parameter(False, "each panel has a scale of risks of its own; else those of a row share one")
    only: tuple[str, ...] = parameter((), "conditions on the runs shown, as coordinate=value")
    panel: float = parameter(2.1, "width of a panel", above=0, unit="inches")
    floor: float = parameter(1e-10, "smallest risk shown: below it lies what the stopping loss sets", above=0)


def draw(data, p):
    risk = panels.where(data["risk"], **panels.conditions(p.only))
    columns, hues = panels.values(risk, p.columns), panels.combinations(risk, p.hue)
    rows = panels.values(risk, p.rows) if p.rows else [None]
    size = (p.panel * len(columns) + 0.9, 2.0 * len(rows) + 1.1)
    share = False if p.own_scales else "row"
    fig, axes = plt.subplots(len(rows), len(columns), figsize=size, sharex=True, sharey=share, squeeze=False)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            chosen = {p.columns: column} | ({p.rows: row} if p.rows else {})
            _panel(axes[i, j], panels.where(risk, **chosen), p, hues)
            if i == 0:
                axes[i, j].set_title(panels.name(risk, p.columns, column))
            if i == len(rows) - 1:
                axes[i, j].set_xlabel(labels.label(risk, p.along).removesuffix(" ="))
        axes[i, 0].set_ylabel(panels.name(risk, p.rows, row) if p.rows else risk[p.quantity].attrs["long_name"])
    if p.rows:
        fig.supylabel(risk[p.quantity].attrs["long_name"], fontsize=plt.rcParams["axes.labelsize"])
    clipped = [f"below {p.floor:g} drawn there"] if (risk[p.quantity] < p.floor).any() else []
    notes = [panels.seeds_in_words(risk), panels.SPREAD, *clipped, *panels.convergence(risk)]
    return panels.finished(fig, p.title, *notes)


def _panel(ax, risk, p, hues):
    seen = []
    for chosen, color in zip(hues, panels.colors(p.hue[0], hues), strict=True):
        style = STYLES[seen.count(str(color)) % len(STYLES)]  # curves of one protocol share their colour
        seen.append(str(color))
        if panels.chosen(risk, **chosen).any():
            shown = panels.where(risk, **chosen)
            shown = shown.assign({p.quantity: shown[p.quantity].clip(min=p.floor)})
            name = ", ".join(panels.name(risk, *pair) for pair in chosen.items())
            panels.spread(ax, shown, p.quantity, p.along, name, color=color, linestyle=style)
    ax.set_yscale("log")
    panels.log_samples(ax, panels.values(risk, p.along))
