"""A facet plot of runs: panels by one or two coordinates, in each a curve for every value of others.

It draws the median over seeds of the risk along a coordinate, both logarithmic, with the spread over seeds.
"""

import json
from typing import Annotated

import matplotlib.pyplot as plt
import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveFloat

from carryover import labels
from carryover.config import plugins
from carryover.config.parameters import Condition, parameter
from carryover.config.protocols import TRAINED
from carryover.errors import UserError
from carryover.figures.drawing import layout, panels
from carryover.figures.titled import Titled
from carryover.runs import conditions, run_mask, select_runs

MOST = 6  # columns side by side: more of them take several lines
LAYERS = {"trained": "all layers trained", "frozen": "features fixed"}


class Facets(Titled):
    x: str = parameter("samples", "coordinate of the horizontal axis, which is logarithmic", coordinate=True)
    column: str = parameter(
        "overlap", "coordinate of the columns of panels; one where runs have none of the default", coordinate=True
    )
    row: str = parameter(
        "", "coordinate of the rows of panels, or `layers`: those trained; empty for one row", coordinate=True
    )
    hue: tuple[str, ...] = parameter(("protocol",), "coordinates of the curves", coordinate=True)
    shown: tuple[str, ...] = parameter((), "values of the first of these that are drawn; empty for all")
    names: tuple[str, ...] = parameter((), "what the curves are called, in their order; empty for what they are")
    dodge: NonNegativeFloat = parameter(0.0, "octaves by which neighbouring curves stand apart, with bars for bands")
    relative_to: str = parameter("", "coordinate by whose square risks are divided; empty for none", coordinate=True)
    only: tuple[Condition, ...] = parameter((), "conditions on the runs shown, as coordinate=value", coordinate=True)
    panel: Annotated[float, Field(gt=0, le=20)] = parameter(2.1, "width of a panel [inches]")
    markers: bool = parameter(False, "what was trained is drawn as markers over the lines of exact limits")
    floor: PositiveFloat = parameter(1e-10, "smallest value shown: below it lies what the stopping loss sets")


@plugins.figure(data=["risk"])
def facets(data, p: Facets):
    """Role: `risk`, a dataset of runs with `risk_final` (run,) and the coordinates that the options `p` name."""
    # The coordinate `layers`, which options may name: whether all layers were trained or the features were fixed.
    trained = [protocol in TRAINED["protocol"] for protocol in data["risk"]["protocol"].values]
    layers = ("run", np.where(trained, *LAYERS), {"value_labels": json.dumps(LAYERS)})
    risk = select_runs(data["risk"].assign_coords(layers=layers), **conditions(p.only))
    meaning = risk["risk_final"].attrs["long_name"]
    if p.relative_to:  # the loss is divided as well, since `panels.misses_samples` compares it with the risk
        scale, meaning = risk[p.relative_to].values ** 2, f"{meaning}, over ({labels.label(risk, p.relative_to)})²"
        risk = risk.assign({name: risk[name] / scale for name in {"risk_final", "loss"} & {*risk}})
    cut = (risk["risk_final"] < p.floor).any()
    risk = risk.assign({"risk_final": risk["risk_final"].clip(min=p.floor)})
    curves = _curves(risk, p)
    kind = panels.draw_limits_and_medians if p.markers else panels.draw_spread
    rows = panels.values(risk, p.row) if p.row else [None]
    by_column = p.column in risk.coords or "column" in p.model_fields_set  # not a default that the runs lack
    columns = panels.values(risk, p.column) if by_column else [None]
    # [(row, columns)], a line of panels each: columns are split into few, nearly equal parts of at most `MOST`.
    width = -(-len(columns) // -(-len(columns) // MOST))
    lines = [(row, columns[start : start + width]) for start in range(0, len(columns), width) for row in rows]
    size = (p.panel * width + 0.9, 2.0 * len(lines) + 1.1)
    fig, axes = plt.subplots(len(lines), width, figsize=size, sharex=True, sharey=True, squeeze=False)
    for i, (row, shown) in enumerate(lines):
        runs = select_runs(risk, **{p.row: row}) if p.row else risk
        own = [curve for curve in curves if run_mask(runs, **curve[0]).any()]  # `dodge` leaves room only for these
        for ax, column in zip(axes[i], shown, strict=False):
            inside = select_runs(runs, **{p.column: column}) if by_column else runs
            panels.curves(ax, inside, "risk_final", p.x, own, p.dodge, kind)
            ax.set_yscale("log")
            if by_column and i % len(rows) == 0:
                ax.set_title(panels.name(risk, p.column, column))
            if (i + 1) % len(rows) == 0:
                ax.set_xlabel(labels.label(risk, p.x).removesuffix(" ="))
                ax.tick_params(labelbottom=True)
        axes[i, 0].set_ylabel(panels.name(risk, p.row, row) if p.row else meaning)
        for ax in axes[i, len(shown) :]:
            ax.remove()
    layout.name_ticks(axes[0, 0], panels.values(risk, p.x), 2)  # the axes are shared
    low, high = np.log10(axes[0, 0].get_ylim())
    if np.floor(high) - np.ceil(low) < 1 and low > -4:  # fewer than two powers of ten in view
        layout.plain_decades(axes[0, 0].yaxis)
    if p.row:
        fig.supylabel(meaning, fontsize=plt.rcParams["axes.labelsize"])
    spread = [panels.describe_spread(risk, "bars" if p.dodge else "band")]
    notes = panels.limits_and_trained_in_words(risk) if p.markers else spread
    notes += [f"below {p.floor:g} drawn there"] if cut else []
    return layout.finish(fig, p.title, *notes, *panels.convergence(risk))


def _curves(risk, p):
    """[(condition, label, style)], as `panels.curves_by` returns, of the curves that the options `p` ask for. Earlier
    ones are drawn above later ones. UserError if `p.names` are not as many as the curves."""
    first = p.hue[0]
    shown = [value for value in panels.values(risk, first) if not p.shown or str(value) in p.shown]
    curves = panels.curves_by(risk, *p.hue, **{first: shown})
    if len(p.names) not in (0, len(curves)):
        raise UserError(f"names: there are {len(curves)} curves, not {len(p.names)}.")
    names = p.names or [name for _, name, _ in curves]
    # Risks of a probe and of the kernel on the same features are often alike: neither hides the other's points.
    for condition, _, style in curves:
        if str(condition.get("protocol")).endswith("kernel") and not p.markers:
            style |= {"marker": "s", "markerfacecolor": "none", "markersize": 7}
    return [(condition, name, {**style, "zorder": 3 - place / 9})
            for place, ((condition, _, style), name) in enumerate(zip(curves, names, strict=True))]  # fmt: skip
