"""Data without a number, and titles that are no mathematics, end in a sentence or in an empty figure."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest

from carryover.errors import UserError
from carryover.figures.drawing import finishing


def without_numbers(data):
    floats = [name for name, values in data.items() if values.dtype.kind == "f"]
    return data.assign(**{name: data[name] * np.nan for name in floats})


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
