"""Elements of a panel: names and colours of values, curves with their spread over seeds, points, and maps.

`data` are xarray datasets over `run`, `quantity` is one of their variables, `along` a coordinate, or a further
dimension of it, on the x axis. `ax` are Matplotlib axes, and `style` goes to `ax.plot`."""

import itertools
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from carryover import labels
from carryover.errors import UserError
from carryover.runs import run_mask, select_runs
from carryover.statistics import intervals

COLORS = {
    "single_task": "#0072B2",
    "multi_task": "#009E73",
    "finetuning": "#D55E00",
    "single_task_probe": "#56B4E9",
    "finetuning_probe": "#E69F00",
    "single_task_kernel": "#999999",
    "finetuning_kernel": "#CC79A7",
    "linear_transfer": "#882255",
    "pretrained": "#44AA99",
}
"""Colours of protocols, the same in every figure."""
FREE_COLORS = ("#332288", "#117733", "#AA4499", "#DDCC77", "#88CCEE", "#661100", "#F0E442", "#000000")
"""Colours of protocols that the project does not know, in the order in which a panel meets them."""
LINES = ("-", "--", ":", "-.")
"""Styles of lines of one colour, in this order."""
UNFITTED = "loss > risk / 10, of most runs"


def cosines(text):
    """The numbers of a list of cosines '1 1 0'."""
    return [float(word) for word in text.split()]


def cosines_in_words(text):
    """'3 × 1, 3 × 0' of a list of cosines '1 1 1 0 0 0'."""
    return ", ".join(f"{count} × {cosine:g}" for cosine, count in sorted(Counter(cosines(text)).items(), reverse=True))


def name(data, coordinate, value):
    """How a value of a coordinate is written: 'PT+FT', 'overlap 0.5', 'cosines 3 × 1, 3 × 0'."""
    words = labels.value_labels(data, coordinate)
    if str(value) in words:
        return words[str(value)]
    if coordinate == "unit_correlations":
        written = cosines_in_words(value)
    elif value != value:
        written = "none"
    else:
        written = f"{value:g}" if isinstance(value, float | int | np.number) else str(value)
    return f"{labels.label(data, coordinate)} {written}"


def values(data, coordinate):
    """Distinct values of a coordinate: words in the order that it carries, numbers and cosines rising."""
    if coordinate not in data.coords:
        raise UserError(f"runs have no coordinate {coordinate}; they have {', '.join(sorted(data.coords))}.")
    distinct = np.unique(data[coordinate].values)
    order = [*labels.value_labels(data, coordinate)]
    if order:
        return sorted(distinct, key=lambda value: order.index(value) if value in order else len(order))
    if coordinate == "unit_correlations":
        return sorted(distinct, key=lambda text: (np.mean(cosines(text)), text))
    return list(distinct)


def colors(coordinate, values):
    """A colour for each value: fixed for protocols, along a scale for anything ordered."""
    if coordinate == "protocol":
        free = itertools.cycle(FREE_COLORS)
        return [COLORS.get(str(value)) or next(free) for value in values]
    return list(plt.get_cmap("viridis")(np.linspace(0.0, 0.85, len(values))))


def curves_by(data, *coordinates, label=None, **restricted):
    """Curves for `curves`: [(condition on the runs, label, style)] for each combination of values of the coordinates
    that some run has.

    Values of the first coordinate differ in colour, and curves of one colour in their line styles. `label` is a
    function of the values, in place of their names; `restricted` lists the drawn values of a coordinate in order.
    """
    first, *others = (restricted.get(coordinate, values(data, coordinate)) for coordinate in coordinates)
    described = []
    for value, color in zip(first, colors(coordinates[0], first), strict=True):
        lines = itertools.cycle(LINES)
        for combination in itertools.product([value], *others):
            condition = dict(zip(coordinates, combination, strict=True))
            if run_mask(data, **condition).any():
                named = label(*combination) if label else ", ".join(name(data, *item) for item in condition.items())
                described.append((condition, named, {"color": color, "linestyle": next(lines)}))
    return described


def assign_colors(data, coordinate):
    """(value, its runs, its colour) for each value of a coordinate."""
    distinct = values(data, coordinate)
    for value, color in zip(distinct, colors(coordinate, distinct), strict=True):
        yield value, select_runs(data, **{coordinate: value}), color


def columns(data, coordinate="samples", title="n = {:g}", chosen=()):
    """{title: runs} for each value of a coordinate, or those chosen; `title` is a format of the value."""
    return {
        title.format(value): select_runs(data, **{coordinate: value}) for value in chosen or values(data, coordinate)
    }


def relative(data, quantity, over=None):
    """The runs with a quantity divided by another quantity of theirs, by default that of the teacher."""
    return data.assign({quantity: data[quantity] / data[over or f"{quantity}_teacher"]})


def medians(data, quantity, along):
    """Median over seeds of a quantity by a coordinate, a Series."""
    return data[[quantity]].to_dataframe().groupby(along)[quantity].median()


def seeds_in_words(data):
    count = len(np.unique(data["seed"]))
    return "1 seed" if count == 1 else f"{count} seeds"


def extent(data):
    """The quantiles that show the spread over seeds: 0 and 1, or 0.1 and 0.9 of more than 20, whose range is wide."""
    return (0.0, 1.0) if len(np.unique(data["seed"])) <= 20 else (0.1, 0.9)


def describe_spread(data, how="band"):
    """The number of seeds of a dataset and how their spread is shown, as text.

    Of datasets by role a single text, if all have the same number of seeds.
    """
    if isinstance(data, dict):
        words = {role: describe_spread(runs, how) for role, runs in data.items()}
        return words.popitem()[1] if len({*words.values()}) == 1 else "; ".join(map(": ".join, words.items()))
    shown = "range" if extent(data) == (0.0, 1.0) else "10 % to 90 % quantiles"
    return f"{seeds_in_words(data)}; line: median over seeds, {how}: their {shown}"


def misses_samples(data, quantity):
    """(run,) whether a trained network has a squared loss above a tenth of this risk, so that longer training may help.

    False for readouts of fixed features, which may be unable to fit.
    """
    if not {"loss", "evaluations", quantity} <= {*data} or not quantity.startswith("risk"):
        return np.zeros(len(data[quantity]), bool)
    squared = data["loss_function"].values == "squared" if "loss_function" in data.coords else True
    trained = (data["evaluations"].values > 0) & (data["protocol"].values != "linear_transfer")
    return trained & squared & (data["loss"].values > data[quantity].values / 10)


def limits_and_trained_in_words(data):
    """[text]: notes on a figure of exact limits and trained runs, with the input dimension d = n/γ if all share it."""
    known = {round(d) for d in (data["samples"] / data["gamma"]).values.tolist()} if "gamma" in data.coords else {}
    lines = "lines: exact limits, median over seeds, and their range"
    markers = "markers: gradient descent, median, hollow where some runs have not converged"
    return [*(f"d = {d}" for d in known if len(known) == 1), seeds_in_words(data), lines, markers]


def convergence(data):
    """Notes on the share of trained runs that did not reach their tolerance, by protocol; [] if none was trained."""
    trained = data.isel(run=data["evaluations"].values > 0)
    if not trained.sizes["run"]:
        return []
    at_rest = trained.get("at_rest", 0 * trained["converged"]) == 1  # some families have no such end
    unfinished = (trained["converged"] == 0) & ~at_rest
    notes = []
    for what, which in (("at rest before the loss was small", at_rest), ("not converged", unfinished)):
        shares = which.groupby("protocol").mean().to_series()
        words = [f"{share:{'.0%' if share >= 0.01 else '.1%'}} of {name(trained, 'protocol', protocol)}"
                 for protocol, share in shares[values(trained, "protocol")].items() if share]  # fmt: skip
        notes += [f"{what}: {', '.join(words)}"] if words else []
    return notes or ["all training converged"]


def band(ax, x, middle, low, high, label=None, bars=None, **style):
    """Draw a line, `middle` over x, with a band from low to high, or bars at the points of the slice `bars`."""
    (line,) = ax.plot(x, middle, label=label, **style)
    if bars is None:
        ax.fill_between(x, low, high, color=line.get_color(), alpha=0.18, linewidth=0)
    else:
        places = (np.asarray(values)[bars] for values in (x, low, high))
        ax.vlines(*places, color=line.get_color(), linewidth=1, zorder=line.get_zorder())
    return line


def draw_spread(ax, data, quantity, along, label=None, bars=None, **style):
    """Draw the median and extent over seeds of a quantity along a coordinate of the runs, or one of its dimensions.

    `data` are runs, or a data frame with a row for each. The extent is a band, or bars at the points of the slice
    `bars`. A cross marks points at which most runs were not trained to the end.
    """
    table = data if isinstance(data, pd.DataFrame) else data[[quantity]].to_dataframe()
    seeds = table.groupby(along)[quantity]
    middle, (low, high) = seeds.median(), (seeds.quantile(end) for end in extent(data))
    if len(middle) == 1:  # a band without width would not be seen
        bars = slice(None)
    marker = "o" if along in table else ""  # a dimension has many points
    band(ax, middle.index, middle, low, high, label, bars, **{"marker": marker} | style)
    if (not_fitted := misses_samples(data, quantity)).any():
        shares = pd.Series(not_fitted, table.index).groupby(table[along]).mean()
        places = shares.index[shares >= 0.5]
        ax.plot(places, middle[places], "x", color="k", markersize=7, label=UNFITTED if len(places) else None)


def level(ax, data, quantity, label=None, **style):
    """Draw the median of a quantity that does not depend on x as a line across the panel, its extent as a band."""
    runs = data[quantity].values
    line = ax.axhline(np.median(runs), label=label, **style)
    ax.axhspan(*np.quantile(runs, extent(data)), color=line.get_color(), alpha=0.18, linewidth=0)


def curves(ax, data, quantity, along, shown, dodge=0.0, draw=draw_spread):
    """Draw curves along a coordinate of the runs or a dimension of the quantity, by `draw`, such as `draw_spread`.

    `shown` is a coordinate, with a curve for each of its values, or the result of `curves_by`. With `dodge`, curves
    have bars in place of bands, and neighbours are shifted by that many octaves; curves without data keep their place.
    Runs with a single value of `rescale` were not rescaled, and are a line across the panel.
    """
    shown = curves_by(data, shown) if isinstance(shown, str) else shown
    for place, (condition, label, style) in enumerate(shown):
        part = data.isel(run=run_mask(data, **condition))
        if not part.sizes["run"]:
            continue
        if along == "rescale" and len(values(part, along)) == 1:
            level(ax, part, quantity, label, **style)
        elif dodge:
            shifted = part[along] * 2 ** (dodge * (place - (len(shown) - 1) / 2))
            draw(ax, part.assign_coords({along: shifted}), quantity, along, label, bars=slice(None), **style)
        else:
            draw(ax, part, quantity, along, label, **style)


def draw_medians(ax, data, quantity, along, label=None, shift=1.0, **style):
    """Draw the median over seeds of trained runs along a coordinate, times `shift`, as markers, which are hollow where
    some runs have not converged."""
    middle = medians(data, quantity, along)
    converged = data[["converged"]].to_dataframe().groupby(along)["converged"].min() == 1
    markers = {"linestyle": "none", "marker": "o", "markersize": 5, "zorder": 4, **style}
    ax.plot(middle.index * shift, middle.where(converged), label=label, **markers)
    ax.plot(middle.index * shift, middle.where(~converged), markerfacecolor="none", **markers)


def draw_limits_and_medians(ax, data, quantity, along, label=None, **style):
    """Draw exact limits as a line with their spread over seeds, and trained runs as markers."""
    exact = data["solver"].values == "exact"
    draw_spread(ax, data.isel(run=exact), quantity, along, label, marker="", **style)
    draw_medians(ax, data.isel(run=~exact), quantity, along, color=style["color"])


def points(ax, x, intervals, label=None, **style):
    """Draw points with bars; `intervals` are (middle, low, high), each along x."""
    middle, low, high = (np.asarray(values, float) for values in intervals)
    ax.errorbar(x, middle, (middle - low, high - middle), label=label, **style)


def means(table):
    """Means and Student's 95 % intervals, (mean, low, high) by column, of a table by seed, or {column: values}."""
    estimates = pd.DataFrame([intervals.student(table[column], 0.0) for column in table])
    return estimates[["statistic", "low", "high"]].to_numpy().T


def gain_map(ax, x, y, gains, largest):
    """Draw a map of gains (y, x) from red (losses) to blue, with colours clipped at ±largest."""
    ax.grid(False)
    return ax.pcolormesh(x, y, gains, cmap="RdBu", vmin=-largest, vmax=largest, rasterized=True)
