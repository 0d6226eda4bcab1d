"""Every plot draws tiny data that the family itself made: a figure whose panels and legends are not empty."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from carryover.config import plugins
from toy.drawn import drawn, legends_of
from toy.plotted import CASES, cases


def test_every_plot_is_tried():
    assert {*CASES, "facets"} == set(plugins.names("figures"))


@pytest.mark.parametrize("name", plugins.names("figures"))
def test_a_plot_has_something_in_every_panel_and_a_legend(name):
    for data, options, count in cases(name):
        figure = drawn(name, data, title="What is seen", **options)
        figure.draw_without_rendering()  # lays it out: too little room is a warning
        assert isinstance(figure, plt.Figure)
        assert len(figure.axes) == count
        for ax in figure.axes:
            lines = [line for line in ax.get_lines() if np.isfinite(np.asarray(line.get_ydata(), dtype=float)).any()]
            assert lines or ax.collections or ax.images or ax.texts, ax.get_title()
        legends = [*legends_of(figure), *(ax.get_legend() for ax in figure.axes if ax.get_legend())]
        assert legends
        for legend in legends:
            labels = [text.get_text() for text in legend.get_texts()]
            assert labels or legend.get_title().get_text()
            assert len(labels) == len(set(labels))
        assert figure.get_suptitle()
