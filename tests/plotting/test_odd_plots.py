"""Data without a number, and titles that are no mathematics, end in a sentence or in an empty figure."""

import importlib
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest

from carryover.config import plugins
from carryover.config.parameters import model_of
from carryover.drawing import finishing
from carryover.errors import UserError
from carryover.workflow import asked_in_vain
from toy.plotted import cases


def without_numbers(data):
    floats = [name for name, values in data.items() if values.dtype.kind == "f"]
    return data.assign(**{name: data[name] * np.nan for name in floats})


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore")  # of NumPy and Matplotlib, on what is empty
@pytest.mark.parametrize("name", plugins.names("plotting"))
def test_of_data_without_a_number_a_plot_is_empty_or_a_sentence(name):
    draw = importlib.import_module(f"carryover.plotting.{name}").draw
    for roles, told, _ in cases(name):
        data = {role: without_numbers(one) for role, one in roles.items()}
        p = model_of("plotting", name)(**told)
        figure, sentences = None, ["it is empty"]
        try:
            with asked_in_vain.numbers_needed(draw, data):
                figure = finishing.laid_out(draw)(data, p)
                figure.draw_without_rendering()
        except UserError as error:
            sentences = str(error).splitlines()
        assert figure is None or figure.axes
        assert len(sentences) == 1


@pytest.mark.parametrize(
    ("title", "fault"),
    [
        ("$\\frac{1}{$", "Expected"),
        ("$\\foo$", "Unknown"),
    ],
)
def test_a_title_that_is_no_mathematics_is_named(title, fault):
    def draw(_, __):
        figure, _ = plt.subplots(layout="constrained")
        figure.suptitle(title)
        return figure

    with pytest.raises(UserError, match=f"^the text {re.escape(title)} is no mathematics: {fault}"):
        finishing.laid_out(draw)({}, None)
