"""Logarithmic axes are labelled with what Matplotlib says, as plain text."""

import matplotlib.pyplot as plt
import pytest

from carryover.drawing import log_axes


@pytest.mark.parametrize(("formula", "text"), [
    (r"$\mathdefault{10^{-3}}$", "10⁻³"),
    (r"$\mathdefault{10^{12}}$", "10¹²"),
    (r"$\mathdefault{2\times10^{−1}}$", "2×10⁻¹"),
    (r"$\mathdefault{2^{5}}$", "2⁵"),
    (r"$\mathdefault{0}$", r"$\mathdefault{0}$"),
    ("0.5", "0.5"),
    ("", ""),
])  # fmt: skip
def test_powers_are_plain_text_and_anything_else_is_left_alone(formula, text):
    assert log_axes.plain(formula) == text


def words(axis):
    """The labels of an axis as it is drawn."""
    axis.figure.draw_without_rendering()
    return [label.get_text() for which in ("major", "minor") for label in axis.get_ticklabels(which=which)]


@pytest.mark.parametrize("limits", [(1e-6, 1e2), (0.2, 6.0)], ids=["decades", "less than two decades"])
def test_shared_axes_keep_their_ticks_and_their_labels(limits):
    figure, axes = plt.subplots(1, 2, sharey=True)
    axes[0].set(yscale="log", ylim=limits)
    before, places = words(axes[0].yaxis), list(axes[0].get_yticks())
    log_axes.in_plain_text(figure)
    assert words(axes[0].yaxis) == [log_axes.plain(label) for label in before]
    assert list(axes[0].get_yticks()) == places
    assert any("⁰" in label or "⁻" in label for label in words(axes[0].yaxis))
    assert not any("$" in label for ax in axes for axis in (ax.xaxis, ax.yaxis) for label in words(axis))
    plt.close(figure)


def test_values_that_are_near_to_each_other_have_ticks_and_not_all_of_them_names():
    crowded = [10, 50, 100, 200, 300, 350, 400, 500, 700, 900]
    assert log_axes.apart(crowded) == [10, 50, 100, 200, 300, 400, 900]
    figure, ax = plt.subplots()
    log_axes.named(ax, crowded)
    assert list(ax.get_xticks()) == crowded
    assert [word for word in words(ax.xaxis) if word] == ["10", "50", "100", "200", "300", "400", "900"]
    plt.close(figure)


FAR = [[4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048], [10, 15, 20, 25, 30], [0.5], [3, 3.0001], [0.01, 0.1, 1.0]]


@pytest.mark.parametrize("values", FAR)
def test_values_that_are_far_from_each_other_have_all_of_their_names(values):
    assert log_axes.apart(values) == values


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


@pytest.mark.parametrize(
    ("ends", "named"),
    [((0.02, 0.4), ["0.02", "0.05", "0.1", "0.2"]), ((0.2, 0.9), ["0.2", "0.5"]), ((0.09, 2.0), ["10⁻¹", "10⁰"])],
)
def test_an_axis_with_hardly_a_power_of_ten_names_what_is_between(ends, named):
    figure, ax = plt.subplots()
    ax.set(yscale="log", ylim=ends)
    log_axes.enough_names(ax.yaxis)
    log_axes.in_plain_text(figure)
    figure.draw_without_rendering()
    ticks = zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)
    assert [tick.get_text() for place, tick in ticks if ends[0] <= place <= ends[1]] == named
    plt.close(figure)
