"""What the figures of convolutional networks show is what the runs say."""

import numpy as np

from toy import convnet_networks, convnet_runs
from toy.drawn import drawn, rows


def points(ax, label):
    """The points (x, y) of what a legend names, from lines with bars too."""
    (handle,) = (h for h, name in zip(*ax.get_legend_handles_labels(), strict=True) if name == label)
    return getattr(handle, "lines", [handle])[0].get_xydata().T


def test_accuracies_are_means_and_gains_those_of_differences():
    data = convnet_networks.roles("convnet_rescaling")
    figure = drawn("convnet_rescaling", data)
    for above, below, role in zip(figure.axes[:2], figure.axes[2:], ("pairs", "controls"), strict=True):
        for protocol, name in (("finetuning", "PT+FT"), ("single_task", "STL")):
            same = {"protocol": protocol, "rescaled": "all", "learning_rate": 0.01}
            runs = [rows(data[role], **same, rescale=factor) for factor in (1.0, 0.5)]
            plain, scaled = (100 - 100 * table.groupby("samples")["risk_final"].mean() for table in runs)
            np.testing.assert_allclose(points(above, name)[1], plain)
            np.testing.assert_allclose(points(above, f"{name}, rescaled by 0.5")[1], scaled)
            np.testing.assert_allclose(points(below, name)[1], scaled - plain, atol=1e-9)


def test_gains_of_a_network_from_imagenet_stand_beside_those_of_learning_rates():
    data = convnet_runs.pretrained(1.0)
    del data["probe"]
    left, _, right = drawn("pretrained_rescaling", data).axes
    means = 100 - 100 * rows(data["pairs"]).groupby(["protocol", "rescale", "learning_rate"])["risk_final"].mean()
    gains = means - means["finetuning", 1.0, 0.01]
    expected = {
        "rescaled by 0.25": gains["finetuning", 0.25, 0.01],
        "learning rate × 16": gains["finetuning", 1.0, 0.16],
        "rescaled by 0.5": gains["finetuning", 0.5, 0.01],
        "learning rate × 4": gains["finetuning", 1.0, 0.04],
        "from scratch": gains["single_task", 1.0, 0.01],
    }
    assert [text.get_text() for text in left.get_yticklabels()] == list(expected)
    found = [line.get_xdata().item() for line in left.get_lines() if line.get_marker() in ("o", "s")]
    np.testing.assert_allclose(found, list(expected.values()), atol=1e-9)
    (container,) = right.containers
    np.testing.assert_allclose(container.lines[0].get_ydata(), gains["finetuning", 0.5, 0.01])
