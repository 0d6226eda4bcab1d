"""The figure of a diagnosis names the layers that it shows, with what happened to each."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.diagnosis.diagnosis import diagnose


def test_the_figure_names_layers_and_regimes():
    rng = np.random.default_rng(0)
    before = {name: rng.normal(size=(120, 5)) for name in ("encoder.layer.0", "encoder.layer.1")}
    found = diagnose(before, {name: values + 0.5 * rng.normal(size=(120, 5)) for name, values in before.items()})
    figure = found.plot()
    figure.draw_without_rendering()
    axes = [axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
    words = [text.get_text() for axis in axes for text in axis.get_ticklabels()]
    words += [ax.get_title(loc) for ax in figure.axes for loc in ("left", "center")]
    shown = "".join(words).replace("\n", "")
    for name, regime in zip(found["layer"].values, found["regime"].values, strict=True):
        assert name + regime in shown
    plt.close(figure)
