"""What the figures of ReLU networks share: names of conditions, curves, levels and their ranges."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from carryover.figures.drawing import panels


def test_a_level_is_the_median_across_the_panel():
    data = xr.Dataset({"ratio": ("run", [1.0, 9.0, 2.0])})
    ax = plt.figure().subplots()
    line = panels.level(ax, data, "ratio", "before")
    assert set(line.get_ydata()) == {2.0}
    (band,) = ax.patches
    assert (band.get_y(), band.get_height()) == (1.0, 8.0)


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
