"""Figures of a diagnosis can be read: names of layers, however long, lie within them and upon nothing else."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from carryover.diagnosis.diagnosis import diagnose
from carryover.diagnosis.layer_map import draw_similarity
from carryover.diagnosis.layers import layer_similarity
from carryover.diagnosis.trajectory import draw_trajectory, trajectory

LONG = [f"bert.encoder.layer.{number}.attention.output.dense" for number in range(12)]


def responses(names, noise):
    rng = np.random.default_rng(0)
    return {name: rng.normal(size=(120, 5)) + noise * rng.normal(size=(120, 5)) for name in names}


def repeated(found, names):
    """The same layer under several names: what it is does not matter here."""
    return found.isel(layer=[0] * len(names)).assign_coords(layer=names)


@pytest.fixture(scope="module")
def found():
    one = diagnose(responses(LONG[:1], 0), responses(LONG[:1], 0.5))
    return {count: repeated(one, LONG[:count]) for count in (1, 12)}


def assert_readable(fig):
    """Titles, names on axes and legends are within the figure and do not overlap."""
    fig.canvas.draw()
    texts = [text for ax in fig.axes for text in (ax.title, ax._left_title, ax._right_title)]
    axes = [axis for ax in fig.axes for axis in (ax.xaxis, ax.yaxis)]
    texts += [text for axis in axes for text in axis.get_ticklabels() if "bert" in text.get_text()]
    texts += [axis.label for axis in axes]
    texts += [one for one in (*fig.legends, *(ax.get_legend() for ax in fig.axes), fig._suptitle) if one is not None]
    seen = [one for one in texts if one.get_visible() and (not hasattr(one, "get_text") or one.get_text().strip())]
    boxes = {id(one): one.get_window_extent().padded(-1) for one in seen}
    said = {id(one): getattr(one, "get_text", lambda: "legend")() for one in seen}
    for key, box in boxes.items():
        assert box.x0 >= -1, said[key]
        assert box.y0 >= -1, said[key]
        assert box.x1 <= fig.bbox.width + 1, said[key]
        assert box.y1 <= fig.bbox.height + 1, said[key]
    for (first, one), (second, other) in combinations(boxes.items(), 2):
        assert not one.overlaps(other), (said[first], said[second])
    return said.values()


@pytest.mark.parametrize("count", [1, 12])
@pytest.mark.parametrize("kind", ["shares", "spectra", "canonical"])
def test_long_names_of_layers_are_whole_and_lie_upon_nothing(found, kind, count):
    fig = found[count].plot(kind)
    said = [text.replace("\n", "") for text in assert_readable(fig)]
    for name, regime in zip(LONG[:count], found[count]["regime"].values, strict=True):
        assert name + regime in said
    plt.close(fig)


def test_heat_map_and_trajectory_can_be_read_with_long_names():
    fig = draw_similarity(layer_similarity(responses(LONG, 0), responses(LONG, 1)))
    assert set(LONG) <= set(assert_readable(fig))
    plt.close(fig)
    found = trajectory({step: responses(LONG[:1], step / 10) for step in (0, 10)}, progress=False)
    for names in (LONG, LONG[:3]):
        fig = draw_trajectory(repeated(found, names))
        assert_readable(fig)
        plt.close(fig)
