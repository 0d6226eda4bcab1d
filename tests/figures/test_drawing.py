"""What plots share: values in order and their labels, colours, curves, axes, the style, and titles with mathematics."""

from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from carryover import labels
from carryover.config import plugins
from carryover.errors import UserError
from carryover.families.deep_linear.parameters import PRETRAINED as LINEAR
from carryover.families.diagonal.parameters import PROTOCOLS
from carryover.families.mean_field.parameters import SOLVERS
from carryover.families.relu.parameters import PRETRAINED, SCRATCH
from carryover.figures.drawing import panels, style
from toy.diagonal_networks import measured
from toy.made_up_runs import dataset

STYLE = Path(__file__).resolve().parents[2] / "config/figures.mplstyle"


def of_family(family, coordinate):
    """A dataset of a run of a family with one coordinate."""
    return labels.attach_labels(xr.Dataset(coords={coordinate: ("run", ["any"])}), family)


def test_values_come_in_the_order_of_the_field_and_protocols_have_colours():
    data = measured("overlapping", "risk")
    assert panels.values(data, "protocol") == [
        "single_task", "multi_task", "finetuning", "single_task_probe", "finetuning_probe"
    ]  # fmt: skip
    assert panels.values(data, "samples") == [3, 4, 6, 8]
    protocols = labels.value_labels(of_family("diagonal", "protocol"), "protocol").keys()
    assert protocols == panels.COLORS.keys() == {*PROTOCOLS, *PRETRAINED, *SCRATCH, *LINEAR, *SOLVERS}
    assert len(set(panels.colors("protocol", protocols))) == len(protocols)


def test_labels_of_a_family_come_before_the_common_ones():
    for family in ("mean_field", "diagonal"):
        assert labels.label(of_family(family, "samples"), "samples") == "main-task samples n"
    linear, mean_field = (of_family(family, "pretrain_solver") for family in ("deep_linear", "mean_field"))
    common, own = (labels.value_labels(one, "pretrain_solver") for one in (linear, mean_field))
    assert (own[""], own["exact"]) == (common[""], "initial features")
    assert labels.label(mean_field, "pretrain_solver") == "pretrain_solver"


def test_spread_is_the_median_and_the_range():
    data = xr.Dataset(
        {"risk": ("run", [1.0, 9.0, 2.0, 4.0])},
        {"samples": ("run", [8, 8, 8, 16]), "seed": ("run", [0, 1, 2, 0])},
    )
    ax = plt.figure().subplots()
    panels.draw_spread(ax, data, "risk", "samples")
    (line,) = ax.get_lines()
    np.testing.assert_array_equal(line.get_xydata(), [[8, 2], [16, 4]])
    (band,) = ax.collections
    assert {(8, 1), (8, 9), (16, 4)} == set(map(tuple, band.get_paths()[0].vertices))


def test_curves_of_two_coordinates_differ_in_colour_by_the_first_and_in_line_by_the_second():
    """A combination that the runs lack has no curve, and one that a panel lacks keeps its look."""
    runs = xr.Dataset(
        {"risk": ("run", [1.0, 2.0, 3.0])},
        {"overlap": ("run", [0.0, 0.5, 0.5]), "depth": ("run", [1, 1, 2]), "samples": ("run", [8, 8, 8]),
         "seed": ("run", [0, 0, 0])},
    )  # fmt: skip
    shown = panels.curves_by(runs, "overlap", "depth", depth=(2, 1))
    assert [label for _, label, _ in shown] == ["overlap 0, depth 1", "overlap 0.5, depth 2", "overlap 0.5, depth 1"]
    _, color = panels.colors("overlap", [0.0, 0.5])
    ax = plt.figure().subplots()
    panels.curves(ax, runs.isel(run=[2, 1]), "risk", "samples", shown)
    lines = {line.get_label(): line for line in ax.get_lines()}
    assert {label: (*line.get_ydata(), line.get_linestyle()) for label, line in lines.items()} == {
        "overlap 0.5, depth 2": (3.0, "-"), "overlap 0.5, depth 1": (2.0, "--")
    }  # fmt: skip
    np.testing.assert_array_equal([line.get_color() for line in lines.values()], [color, color])


def test_points_of_which_most_runs_are_unfitted_are_marked():
    """With squared loss, of networks that were trained with all layers: readouts alone cannot fit."""
    points = [
        ("finetuning", 10, [0.01, 0.01, 0.01]),
        ("finetuning", 10, [0.5, 0.01, 0.01]),
        ("finetuning", 10, [0.5, 0.5, 0.01]),  # most of these are unfitted
        ("linear_transfer", 10, [0.5, 0.5, 0.5]),
        ("finetuning", 0, [0.5, 0.5, 0.5]),  # solved
    ]
    protocols, steps, losses = zip(*points, strict=True)
    variables = {"risk_final": [1.0, 2.0, 0.5] * 5, "loss": np.ravel(losses), "evaluations": np.repeat(steps, 3)}
    coords = {"samples": np.repeat([1, 2, 3, 4, 5], 3), "protocol": np.repeat(protocols, 3), "seed": [0, 1, 2] * 5}
    data = xr.Dataset(*({name: ("run", values) for name, values in some.items()} for some in (variables, coords)))
    ax = plt.figure().subplots()
    panels.draw_spread(ax, data, "risk_final", "samples")
    (marks,) = (line for line in ax.get_lines() if line.get_label() == panels.UNFITTED)
    assert marks.get_xydata().tolist() == [[3, 1]]
    assert not panels.misses_samples(
        data.assign_coords(loss_function=("run", ["cross_entropy"] * 15)), "risk_final"
    ).any()


def test_what_was_trained_is_hollow_where_some_of_it_has_not_converged():
    runs = xr.Dataset(
        {"risk_final": ("run", [14.0, 15.0, 18.0, 19.0]), "converged": ("run", [1, 1, 1, 0])},
        {"samples": ("run", [4, 4, 8, 8])},
    )
    ax = plt.figure().subplots()
    panels.draw_medians(ax, runs, "risk_final", "samples", "both", color="C3")
    full, hollow = ax.get_lines()
    np.testing.assert_array_equal(full.get_xydata(), [[4, 14.5], [8, np.nan]])
    np.testing.assert_array_equal(hollow.get_xydata(), [[4, np.nan], [8, 18.5]])
    assert hollow.get_markerfacecolor() == "none"


def test_the_style_does_not_depend_on_what_was_set_before():
    style.use(STYLE)
    expected = dict(matplotlib.rcParams)
    matplotlib.rcParams.update({"axes.facecolor": "lime", "font.size": 30, "lines.linewidth": 9})
    style.use(STYLE)
    assert dict(matplotlib.rcParams) == expected


@pytest.mark.parametrize(("text", "reason"), [("font.size: large-ish\n", ".*font.size"), (None, ".*No such file")])
def test_a_style_that_cannot_be_read_is_named(text, reason, tmp_path):
    file = tmp_path / "mine"
    if text:
        file.write_text(text)
    with pytest.raises(UserError, match=f"mine cannot be read: {reason}"):
        style.use(file)


def test_facets_of_runs_that_lack_a_coordinate():
    def values(seed, **point):
        return {"risk_final": 1.0 + seed, "loss": 0.0, "converged": 1, "evaluations": 0}

    grids = [{"protocol": ["single_task"], "samples": [4, 8], "ablated": [np.nan]},
             {"protocol": ["finetuning"], "samples": [4, 8], "ablated": [0.1, 0.5]}]  # fmt: skip
    runs = dataset(values, *grids)
    runs["risk_final"].attrs["long_name"] = "risk"
    (ax,) = plugins.call("figures", "facets", {"risk": runs}).axes  # not even the column that is drawn by default
    assert len(ax.get_lines()) == 2
    axes = plugins.call("figures", "facets", {"risk": runs}, column="ablated").axes
    assert [ax.get_title() for ax in axes] == ["ablated 0.1", "ablated 0.5", "ablated none"]
    with pytest.raises(UserError, match="runs have no coordinate angle; they have ablated, layers, protocol"):
        plugins.call("figures", "facets", {"risk": runs}, column="angle")
