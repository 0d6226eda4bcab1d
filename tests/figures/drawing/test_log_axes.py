"""Logarithmic axes are labelled with what Matplotlib says, as plain text."""

import matplotlib.pyplot as plt
import pytest

from carryover.figures.drawing import log_axes


@pytest.mark.parametrize(
    ("ends", "names"), [((0.3, 9.0), ["0.5", "1", "2", "5"]), ((0.004, 0.6), ["0.01", "0.03", "0.1", "0.3"])]
)
def test_decades_are_named_as_there_is_room(ends, names):
    figure, ax = plt.subplots()
    ax.set(xscale="log", xlim=ends)
    log_axes.plain_decades(ax.xaxis)
    figure.draw_without_rendering()
    low, high = ends
    shown = [(place, tick.get_text()) for place, tick in zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)]
    assert [name for place, name in shown if low <= place <= high] == names
    plt.close(figure)
