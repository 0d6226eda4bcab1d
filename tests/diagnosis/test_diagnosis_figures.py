"""Figures of a diagnosis name the layers that they show, with what happened to each."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from carryover.diagnosis.diagnosis import diagnose


@pytest.mark.parametrize("kind", ["shares", "spectra", "canonical"])
def test_figures_name_layers_and_regimes(kind):
    rng = np.random.default_rng(0)
    before = {name: rng.normal(size=(120, 5)) for name in ("encoder.layer.0", "encoder.layer.1")}
    found = diagnose(before, {name: values + 0.5 * rng.normal(size=(120, 5)) for name, values in before.items()})
    figure = found.plot(kind)
    figure.draw_without_rendering()
    axes = [axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
    words = [text.get_text() for axis in axes for text in axis.get_ticklabels()]
    words += [ax.get_title(loc) for ax in figure.axes for loc in ("left", "center")]
    shown = "".join(words).replace("\n", "")
    for name, regime in zip(found["layer"].values, found["regime"].values, strict=True):
        assert name + regime in shown
    plt.close(figure)
