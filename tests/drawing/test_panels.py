"""What the figures of ReLU networks share: names of conditions, curves, levels and their ranges."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from carryover import runs
from carryover.drawing import panels, relu
from carryover.errors import UserError
from carryover.plotting import clusters
from toy.drawn import notes_of
from toy.relu_networks import LARGE, LEAST, crossed


def test_numbers_of_seeds_are_said_by_role_where_they_differ():
    assert relu.seeds_of({"regimes": LARGE["regimes"]}) == "3 seeds"
    assert relu.seeds_of(LARGE) == "regimes: 3 seeds, overlap: 5 seeds, nested: 2 seeds"
    assert "regimes: 3 seeds" in notes_of(clusters.draw(LARGE, clusters.Parameters()))


def test_lists_of_cosines_have_short_names_from_new_to_shared():
    data = xr.Dataset(coords={"unit_correlations": ("run", ["1 1 1", "0 0 0", "0.9 0.9 0.9", "1 0 0.5", "0 0 0"])})
    assert relu.related(data) == {"0 0 0": "3 × 0", "1 0 0.5": "1 × 1, 1 × 0.5, 1 × 0", "0.9 0.9 0.9": "3 × 0.9",
                                  "1 1 1": "3 × 1"}  # fmt: skip
    assert list(relu.some(relu.related(data), 2)) == ["0 0 0", "1 1 1"]
    assert relu.some(relu.related(data), 9) == relu.related(data)
    assert relu.some({"0": "1 × 0"}) == {"0": "1 × 0"}


def test_regimes_and_overlaps_are_named_at_their_ends():
    assert list(relu.regimes(LARGE["regimes"]).values()) == [
        "rich (initial scale 0.001)", "initial scale 0.1", "lazy (initial scale 1)"
    ]  # fmt: skip
    assert relu.regimes(LEAST["regimes"]) == {0.1: "initial scale 0.1"}
    assert list(relu.overlaps(LARGE["nested"]).values()) == [
        "overlap 0 (disjoint)",
        "overlap 0.5",
        "overlap 1 (subset)",
    ]
    assert set(relu.subset(LARGE["nested"])["overlap"].values) == {1.0}
    one, many = (panels.where(LARGE["nested"], main_features=k) for k in (1, 40))
    assert (relu.task(one), relu.task(many)) == ("main task of 1 unit", "main task of 40 units")


def test_a_single_point_shows_its_range():
    data = xr.Dataset({"risk": ("run", [1.0, 9.0, 2.0])}, coords={"samples": ("run", [8, 8, 8])})
    ax = plt.figure().subplots()
    panels.spread(ax, data, "risk", "samples")
    (segment,) = ax.collections[-1].get_segments()
    np.testing.assert_array_equal(segment, [[8, 1], [8, 9]])


def test_a_level_is_the_median_across_the_panel():
    data = xr.Dataset({"ratio": ("run", [1.0, 9.0, 2.0])})
    ax = plt.figure().subplots()
    line = panels.level(ax, data, "ratio", "before")
    assert set(line.get_ydata()) == {2.0}
    (band,) = ax.patches
    assert (band.get_y(), band.get_height()) == (1.0, 8.0)


def test_curves_keep_their_colours_where_some_are_missing():
    data = crossed(seed=[0, 1], samples=[8, 16], overlap=[0.0, 1.0])
    named = {0.0: "none", 0.5: "half", 1.0: "all"}
    ax = plt.figure().subplots()
    panels.curves(ax, data, "alignment", "samples", "overlap", named)
    assert [line.get_label() for line in ax.get_lines()] == ["none", "all"]
    first, _, last = panels.colors("overlap", list(named))
    np.testing.assert_array_equal([line.get_color() for line in ax.get_lines()], [first, last])


def test_what_did_not_converge_is_named_by_protocol():
    data = xr.Dataset(
        {"converged": ("run", [1, 0, 1, 1, 0, 1]), "evaluations": ("run", [5, 5, 5, 5, 9, 0])},
        coords={"protocol": ("run", ["single_task"] * 2 + ["finetuning"] * 2 + ["multi_task", "solved"])},
    )
    assert panels.convergence(data) == ["not converged: 100% of multi_task, 50% of single_task"]
    assert panels.convergence(data.isel(run=[0, 2, 3, 5])) == ["all training converged"]
    assert panels.convergence(data.isel(run=[5])) == []
    rested = data.assign(at_rest=("run", [0, 1, 0, 0, np.nan, np.nan]))
    assert panels.convergence(rested) == [
        "at rest before the loss was small: 50% of single_task",
        "not converged: 100% of multi_task",
    ]


def test_points_of_which_most_runs_are_unfitted_are_marked():
    """With squared loss, of networks that were trained with all layers: readouts alone cannot fit."""
    points = {
        "fitted": ("finetuning", 10, 0.01), "one of three": ("finetuning", 10, [0.5, 0.01, 0.01]),
        "most": ("finetuning", 10, [0.5, 0.5, 0.01]), "readouts": ("linear_transfer", 10, 0.5),
        "solved": ("finetuning", 0, 0.5),
    }  # fmt: skip
    parts = [
        xr.Dataset(
            {"risk_final": ("run", [1.0, 2.0, 0.5]), "loss": ("run", np.broadcast_to(loss, 3)),
             "evaluations": ("run", [steps] * 3)},
            coords={"samples": ("run", [place + 1] * 3), "protocol": ("run", [protocol] * 3)},
        )
        for place, (protocol, steps, loss) in enumerate(points.values())
    ]  # fmt: skip
    data = xr.concat(parts, "run")
    ax = plt.figure().subplots()
    panels.spread(ax, data, "risk_final", "samples")
    (marks,) = (line for line in ax.get_lines() if line.get_label() == panels.UNFITTED)
    assert marks.get_xydata().tolist() == [[3, 1]]
    assert not panels.unfitted(data.assign_coords(loss_function=("run", ["cross_entropy"] * 15)), "risk_final").any()
    assert not panels.unfitted(data.drop_vars("loss"), "risk_final").any()


def test_spread_is_the_median_and_the_range():
    data = xr.Dataset({"risk": ("run", [1.0, 9.0, 2.0, 4.0])}, coords={"samples": ("run", [8, 8, 8, 16])})
    ax = plt.figure().subplots()
    line = panels.spread(ax, data, "risk", "samples")
    np.testing.assert_array_equal(line.get_xydata(), [[8, 2], [16, 4]])
    (band,) = ax.collections
    corners = band.get_paths()[0].vertices
    assert {(8, 1), (8, 9), (16, 4)} == set(map(tuple, corners))


def test_conditions_that_make_no_sense_are_named():
    data = xr.Dataset({"risk": ("run", [1.0])}, coords={"rescale": ("run", [1.0])})
    with pytest.raises(UserError, match="rescale is no condition"):
        runs.conditions(("rescale",))
    with pytest.raises(UserError, match="rescale=much names no value"):
        panels.where(data, rescale="much")
    with pytest.raises(UserError, match="no coordinate size; they have rescale"):
        panels.where(data, size="2")
