"""Panels of the atlas show cells as they are, the boundary where it is predicted, and say which runs are missing."""

import numpy as np
from matplotlib.collections import QuadMesh
from matplotlib.contour import ContourSet

from carryover.analysis.atlas import by_seed, cells
from carryover.figures.across import LARGEST
from toy.atlas_runs import mapped, runs
from toy.drawn import drawn


def mesh(ax):
    return next(one for one in ax.collections if isinstance(one, QuadMesh))


def test_a_panel_shows_mean_gains_between_the_ends_of_the_scale():
    data = mapped(runs(spread=0.3))
    ax = drawn("atlas", {"one": data}).axes[0]
    table = cells(by_seed(data)).pivot(index="row", columns="samples", values="gain")
    np.testing.assert_allclose(mesh(ax).get_array().reshape(3, 3), table)
    assert mesh(ax).get_clim() == (-LARGEST, LARGEST)
    open_cells = ax.lines[0].get_xydata()
    np.testing.assert_allclose(open_cells, [[0, 1], [1, 1], [2, 1]])  # an overlap of a half
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2", "4"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0", "0.5", "1"]


def test_the_boundary_separates_cells_of_predicted_gain_from_those_of_loss():
    data = mapped()
    data["predicted"] = ("pair", data["similarity"].values - np.where(data["samples"] > 10, 0.7, 0.3))
    (line,) = (one for one in drawn("atlas", {"one": data}).axes[0].collections if isinstance(one, ContourSet))
    (path,) = line.get_paths()
    np.testing.assert_allclose(path.vertices, [(0, 0.6), (0.5, 1), (1, 1.4), (2, 1.4)])
