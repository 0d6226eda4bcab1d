"""The interactive atlas: a cell shows its risks, seeds and command below the pointer, and a click leads to a figure.

The maps are those of the static figure, `analysis.atlas.maps` of the same datasets. Vega-Lite draws them in the
browser, by a script that is part of the page.
"""

import json
from functools import cache

import altair as alt
import numpy as np
import vl_convert

from carryover.analysis.atlas import LARGEST, ROUNDING, maps

COLUMNS, WIDTH, HEIGHT = 3, 230, 170  # of maps in a row, and of a map in pixels
LABELS = 7  # on an axis, at most
PLAIN = {r"\theta": "θ", r"\|": "‖", "^2": "²", "$": ""}
"""What a similarity is, is written for Matplotlib."""


@cache  # it takes a second to put together
def library():
    """The JavaScript of Vega-Lite and of all that it needs, in the version for which Altair writes."""
    version = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    return vl_convert.javascript_bundle(vl_version=version)  # type: ignore[call-arg] # the snippet has a default


def chart(data, settings, commands, figures):
    """The maps of several families, {role: pairs}, as a specification of Vega-Lite, a dictionary.

    Parameters
    ----------
    data, settings
        As `analysis.atlas.maps` takes them.
    commands, figures
        {role: command that makes the pairs}, and {role: name of the figure to which a click leads}.
    """
    panels = [
        _map(table, data[role].attrs, title.split("\n"), commands[role], figures[role])
        for role, title, table in maps(data, settings)
    ]
    whole = alt.concat(*panels, columns=COLUMNS, background="white")
    return whole.configure_axis(grid=False, ticks=False).configure_title(fontSize=12).to_dict()


def _map(table, about, title, command, figure):
    """One map of `cells`, with the attributes `about` of its family and its title in lines."""
    per, similarity_is = f"samples per {about['map_parameters_are']}", about["map_similarity_is"]
    for formula, plain in PLAIN.items():
        similarity_is = similarity_is.replace(formula, plain)
    facts = _texts(table) | {"Command": command, "A click shows": f"the figure {figure}"}
    shown = table[["row", "samples", "open"]].assign(gain_shown=table["gain"], href=f"#figure-{figure}", **facts)
    cells = alt.Chart(shown, width=WIDTH, height=HEIGHT).encode(
        x=alt.X("samples:O", title=per, axis=_axis(table, "samples", "samples_per_parameter")),
        y=alt.Y("row:O", title=similarity_is, sort="descending", axis=_axis(table, "row", "similarity")),
        href="href:N",
        tooltip=[f"{name}:N" for name in facts],
    )
    scale = alt.Scale(scheme="redblue", domain=[-LARGEST, LARGEST], clamp=True)
    colour = alt.Color("gain_shown:Q", scale=scale, title=["gain (log₁₀)", f"cut at ±{LARGEST:g}"])
    # Dots lie above the cells, so they have their tooltips and links, too.
    dots = cells.transform_filter("datum.open").mark_point(filled=True, size=9, color="#595959")
    return alt.layer(cells.mark_rect().encode(color=colour), dots, *_boundary(table), title=title)


def _boundary(table):
    """Lines between cells of which one has a predicted gain and the other a predicted loss."""
    predicted = table.pivot(index="row", columns="samples", values="predicted")
    signs = np.sign(predicted.where(predicted.abs() > ROUNDING))
    ends = alt.X2("samples", bandPosition=1), alt.Y2("row", bandPosition=1)
    for axis, end in enumerate(ends):
        changes = (signs * signs.shift(1, axis=axis) < 0).stack()  # from the row below, or the column on the left
        edges = alt.Chart(changes[changes].index.to_frame(index=False)).mark_rule(strokeWidth=1.6)
        y = alt.Y("row:O", bandPosition=1 - axis, sort="descending")
        yield edges.encode(alt.X("samples:O", bandPosition=0), y, end)


def _axis(table, position, value):
    """A discrete axis of the map whose labels are the means of `value` over the cells at each `position`, both columns
    of `table`."""
    means = table.groupby(position)[value].mean()
    # Rounded to two digits, and written without an exponent up to a million.
    labels = {str(place): f"{float(f'{mean:.2g}'):g}".replace("-", "−") for place, mean in means.items()}
    shown = [*means.index[:: -(-len(means) // LABELS)]]  # equally spaced, at most `LABELS`
    return alt.Axis(values=shown, labelExpr=f"{json.dumps(labels)}[datum.value]", labelAngle=0)


def _texts(table):
    """{name: text for each cell} of what is shown of the cells of a map."""
    interval = " [" + _format(table["low"]) + ", " + _format(table["high"]) + "]"
    gain, predicted = table["gain"], table["predicted"]
    signs = [table["open"], gain > ROUNDING, gain < -ROUNDING]
    sign = np.select(signs, ["open, since seeds differ", "pretraining helps", "pretraining hurts"], "no difference")
    expected = [predicted > ROUNDING, predicted < -ROUNDING, predicted.notna()]
    right = table["right"].map({1.0: ", as predicted", 0.0: ", not as predicted"}).fillna("")
    return {
        "Similarity": _format(table["similarity"]),
        "Samples": table["samples"].astype(str) + ", " + _format(table["samples_per_parameter"]) + " per parameter",
        "Risk from scratch": _format(10 ** table["log_risk_scratch"]),
        "Risk after transfer": _format(10 ** table["log_risk"]),
        "Gain (log₁₀)": _format(gain) + interval.where(table["low"] < table["high"], ""),
        "Verdict": sign + right,
        "Predicted gain": _format(predicted) + np.select(expected, [", gain", ", loss", ", none"], ""),
        "Seeds": table["seeds"].astype(str),
    }


def _format(values):
    return values.map("{:.3g}".format).str.replace("-", "−").str.replace("nan", "none")
