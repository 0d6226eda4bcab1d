"""Figures drawn of data in memory, and what is written below them."""

from carryover.config import plugins


def drawn(plot, data, **options):
    """The figure of a plot's data by role, with its options."""
    return plugins.call("figures", plot, data, **options)


def legends_of(figure):
    """The legends of a figure and of its parts."""
    return [*figure.legends, *(legend for part in figure.subfigs for legend in legends_of(part))]


def line(ax, label):
    """(x, y) of the one line of a panel that has a label."""
    (found,) = [curve for curve in ax.get_lines() if curve.get_label() == label]
    return found.get_data()


def rows(data, **condition):
    """The runs of a dataset at some coordinates, as pandas picks them: a data frame."""
    table = data.to_dataframe().reset_index()
    for name, value in condition.items():
        table = table[table[name] == value]
    return table
