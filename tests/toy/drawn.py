"""What is written below figures."""


def legends_of(figure):
    """The legends of a figure and of its parts."""
    return [*figure.legends, *(legend for part in figure.subfigs for legend in legends_of(part))]


def notes_of(figure):
    """How a figure is drawn, in one line."""
    return " ".join(" ".join(legend.get_title().get_text() for legend in legends_of(figure)).split())
