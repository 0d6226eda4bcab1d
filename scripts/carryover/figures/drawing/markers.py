"""What was trained, as markers over the lines of what was solved."""

from carryover.figures.drawing import panels

SPREAD = "lines: exact limits, median over seeds, and their range"
TRAINED = "markers: gradient descent, median, hollow where some runs have not converged"


def notes(risk):
    """How a figure of such runs is drawn, with the dimension d of their inputs where all have one."""
    known = {round(d) for d in (risk["samples"] / risk["gamma"]).values.tolist()} if "gamma" in risk.coords else {}
    return [*(f"d = {d}" for d in known if len(known) == 1), panels.seeds_in_words(risk), SPREAD, TRAINED]


def trained(ax, data, quantity, along, label=None, shift=1.0, **style):
    """Median over seeds of a quantity of trained runs along one of their coordinates, times a shift, as markers."""
    table = data[[quantity, "converged"]].to_dataframe().groupby(along)
    middle, done = table[quantity].median(), table["converged"].min() == 1
    told = {"linestyle": "none", "marker": "o", "markersize": 5, "zorder": 4, **style}
    ax.plot(middle.index * shift, middle.where(done), label=label, **told)
    ax.plot(middle.index * shift, middle.where(~done), markerfacecolor="none", **told)


def solved(ax, data, quantity, along, label=None, **style):
    """Median over seeds of exact limits as a line, with their range as a band."""
    seeds = data[[quantity]].to_dataframe().groupby(along)[quantity]
    return panels.band(ax, seeds.median().index, seeds.median(), seeds.min(), seeds.max(), label, **style)


def over_limits(ax, data, quantity, along, label=None, **style):
    """The limits among some runs as a line, and the others as markers of its colour."""
    exact = data["solver"].values == "exact"
    line = solved(ax, data.isel(run=exact), quantity, along, label, **style)
    trained(ax, data.isel(run=~exact), quantity, along, color=line.get_color())
