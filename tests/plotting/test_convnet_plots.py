"""What the figures of convolutional networks show is what the runs say."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from carryover.drawing import convnet
from carryover.errors import UserError
from carryover.plotting import convnet_controls, convnet_rescaling, stage_dimensionality
from toy import convnet_networks

pytestmark = pytest.mark.slow


def drawn(module, **told):
    name = module.__name__.rpartition(".")[2]
    return module.draw(convnet_networks.roles(name), module.Parameters(**told))


def frame(plot, role, **condition):
    """Runs at a condition, as a table."""
    runs = convnet_networks.roles(plot)[role].to_dataframe().reset_index()
    for name, value in condition.items():
        runs = runs[runs[name] == value]
    return runs


def points(ax, label):
    """The points (x, y) of what a legend names, from lines with bars too."""
    (handle,) = (h for h, name in zip(*ax.get_legend_handles_labels(), strict=True) if name == label)
    return getattr(handle, "lines", [handle])[0].get_xydata().T


def test_accuracies_are_means_and_gains_those_of_differences():
    figure = drawn(convnet_rescaling)
    for above, below, role in zip(figure.axes[:2], figure.axes[2:], ("pairs", "controls"), strict=True):
        for protocol, name in (("finetuning", "PT+FT"), ("single_task", "STL")):
            same = {"protocol": protocol, "rescaled": "all", "learning_rate": 0.01}
            runs = [frame("convnet_rescaling", role, **same, rescale=factor) for factor in (1.0, 0.5)]
            plain, scaled = (100 - 100 * table.groupby("samples")["risk_final"].mean() for table in runs)
            np.testing.assert_allclose(points(above, name)[1], plain)
            np.testing.assert_allclose(points(above, f"{name}, rescaled by 0.5")[1], scaled)
            np.testing.assert_allclose(points(below, name)[1], scaled - plain, atol=1e-9)
    title = "ResNet-18\n2 classes of digits,\npretrained on 5 others\n(2 seeds × 2 tasks)"
    assert figure.axes[0].get_title() == title


def test_classes_that_were_named_are_told_in_lines_that_fit():
    data = convnet_networks.roles("convnet_rescaling")["pairs"]
    named = data.assign_coords(source_classes=("run", ["0 1 2 3"] * data.sizes["run"]),
                               target_classes=("run", ["4 9"] * data.sizes["run"]))  # fmt: skip
    figure = convnet_rescaling.draw({"one": named}, convnet_rescaling.Parameters())
    lines = ["ResNet-18", "2 of the classes 4 9 of", "digits,", "pretrained on 4 others", "(2 seeds × 2 tasks)"]
    assert figure.axes[0].get_title().splitlines() == lines


def crosses(ax):
    return sorted(line.get_ydata().item() for line in ax.get_lines() if line.get_marker() == "x")


def test_networks_whose_training_was_not_done_are_crossed_out():
    data = convnet_networks.roles("convnet_rescaling")["pairs"]
    done = (data["samples"].values == 8) | (data["protocol"].values == "single_task")
    figure = convnet_rescaling.draw({"one": data.assign(converged=("run", done.astype(int)))},
                                    convnet_rescaling.Parameters())  # fmt: skip
    few = frame("convnet_rescaling", "pairs", protocol="finetuning", samples=4).groupby("rescale")["risk_final"].mean()
    np.testing.assert_allclose(crosses(figure.axes[0]), sorted(100 - 100 * few))
    assert crosses(figure.axes[1]) == []


def test_controls_are_gains_over_the_networks_that_were_not_rescaled():
    left, middle, _ = drawn(convnet_controls, samples=8).axes
    told = {"protocol": "finetuning", "samples": 8}

    def accuracy(**condition):
        return 100 - 100 * frame("convnet_controls", "risk", **told | condition)["risk_final"].mean()

    usual = {"learning_rate": 0.01, "rescale": 0.5}
    plain = accuracy(**usual | {"rescale": 1.0})
    scratch = {"protocol": "single_task"}
    expected = {
        "PT+FT, all weights": accuracy(**usual, rescaled="all") - plain,
        "PT+FT, new last layer alone": accuracy(**usual, rescaled="readout") - plain,
        "PT+FT, all weights,\nlearning rate 0.003": accuracy(learning_rate=0.003, rescale=0.5)
        - accuracy(learning_rate=0.003, rescale=1.0),
        "STL, all weights": accuracy(**scratch, rescale=0.5) - accuracy(**scratch, rescale=1.0),
    }
    assert [text.get_text() for text in left.get_yticklabels()] == list(expected)
    found = [line.get_xdata().item() for line in left.get_lines() if line.get_marker() == "o"]
    np.testing.assert_allclose(found, list(expected.values()), atol=1e-9)
    rates, values = points(middle, "PT+FT, as it is")
    np.testing.assert_allclose(rates, [0.003, 0.01], rtol=0.05)
    np.testing.assert_allclose(values, [accuracy(learning_rate=0.003, rescale=1.0), plain])


def test_controls_cross_out_learning_rates_whose_training_was_not_done():
    data = convnet_networks.roles("convnet_controls")
    done = (data["risk"]["learning_rate"].values != 0.003) | (data["risk"]["rescale"].values == 1)
    data = data | {"risk": data["risk"].assign(converged=("run", done.astype(int)))}
    _, middle, _ = convnet_controls.draw(data, convnet_controls.Parameters(samples=8)).axes
    runs = frame("convnet_controls", "risk", protocol="finetuning", samples=8, learning_rate=0.003, rescale=0.5)
    np.testing.assert_allclose(crosses(middle), [100 - 100 * runs["risk_final"].mean()])


def test_a_run_that_ended_keeps_its_last_accuracy():
    told = {"task": [0, 0], "rescale": [1.0, 1.0], "learning_rate": [0.1, 0.1], "seed": [0, 1]}
    runs = xr.Dataset(
        {"time": (("run", "checkpoint"), [[0.1, 0.4, np.nan], [0.1, 0.2, 0.8]]),
         "risk_curve": (("run", "checkpoint"), [[0.5, 0.3, np.nan], [0.5, 0.4, 0.1]])},
        {name: ("run", values) for name, values in told.items()},
    )  # fmt: skip
    ax = plt.figure().subplots()
    convnet_controls._curve(ax, runs, "one", color="k", linestyle="-")
    steps, accuracy = points(ax, "one")
    np.testing.assert_array_equal(steps, [1, 2, 4, 8])
    # Half-way in log(steps): 60 % of the first run at step 2, 75 % of the second at step 4.
    np.testing.assert_allclose(accuracy, [50, 60, (70 + 75) / 2, (70 + 90) / 2])


def test_lines_of_stages_are_means_of_dimensions_and_of_their_ratios():
    before, shared, accuracy, change, inherited, similar = drawn(stage_dimensionality).axes
    runs = frame("stage_dimensionality", "stages", rescale=0.5)
    runs["change"] = runs["participation_ratio"] / runs["participation_ratio_start"]
    runs["inherited"] = runs["ensd"] / runs["participation_ratio"]
    means = runs.groupby("stage", sort=False)[
        ["participation_ratio", "participation_ratio_start", "ensd", "change", "inherited", "cka"]
    ].mean()
    label = "after, rescaled by 0.5"
    panels = {"participation_ratio": before, "ensd": shared, "change": change, "inherited": inherited, "cka": similar}
    for name, ax in panels.items():
        assert [text.get_text() for text in ax.get_xticklabels()] == [
            "stem", "layer1", "layer2", "layer3", "layer4", "pooled"
        ]  # fmt: skip
        np.testing.assert_allclose(points(ax, label)[1], means[name].to_numpy())
    np.testing.assert_allclose(points(before, "before finetuning")[1], means["participation_ratio_start"].to_numpy())
    risk = frame("stage_dimensionality", "risk").groupby("rescale")["risk_final"].mean()
    np.testing.assert_allclose(
        [container.lines[0].get_ydata().item() for container in accuracy.containers], 100 - 100 * risk
    )


def test_bars_reach_from_end_to_end_of_the_interval():
    ax = plt.figure().subplots()
    tables = [np.arange(12.0).reshape(3, 4), np.ones((3, 4))]
    convnet.points(ax, [1, 2], tables, "some")
    (container,) = ax.containers
    ends = [segment[:, 1] for segment in container.lines[2][0].get_segments()]
    _, low, high = convnet.interval(tables[0])
    np.testing.assert_allclose(ends, [[low, high], [1, 1]])


def test_what_cannot_be_drawn_is_named():
    with pytest.raises(UserError, match="of which there is none"):
        convnet_rescaling.draw({}, convnet_rescaling.Parameters())
    data = convnet_networks.roles("convnet_rescaling")["pairs"]
    with pytest.raises(UserError, match="the role odd have no network"):
        convnet_rescaling.draw({"odd": data.drop_vars("network")}, convnet_rescaling.Parameters())
    with pytest.raises(UserError, match="no run has samples=5"):
        drawn(convnet_controls, samples=5)


def test_published_weights_have_no_number_of_classes():
    data = convnet_networks.roles("convnet_rescaling")["pairs"]
    named = data.assign_coords(source_classes=("run", [""] * data.sizes["run"]))
    assert convnet.system(named) == "ResNet-18\n2 classes of digits, published weights"
