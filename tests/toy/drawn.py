"""Figures drawn of data in memory, and what is written below them."""

from carryover.config import plugins
from carryover.config.parameters import model_of


def drawn(plot, data, **options):
    """The figure of a plot's data by role, with its options."""
    return plugins.function_of("figures", plot)(data, model_of("figures", plot)(**options))


def legends_of(figure):
    """The legends of a figure and of its parts."""
    return [*figure.legends, *(legend for part in figure.subfigs for legend in legends_of(part))]
