"""Panels of the atlas show cells as they are, the boundary where it is predicted, and say which runs are missing."""

import numpy as np
from matplotlib.collections import QuadMesh

from carryover.analysis import atlas as cells_of
from carryover.config.parameters import model_of
from carryover.plotting import atlas
from toy.atlas_runs import mapped, runs


def drawn(data, **options):
    return atlas.draw(data, model_of("plotting", "atlas")(**options))


def mesh(ax):
    return next(one for one in ax.collections if isinstance(one, QuadMesh))


def boundary(ax):
    """Points of the line of the boundary; None where there is none."""
    lines = [one for one in ax.collections if not isinstance(one, QuadMesh)]
    return np.concatenate([path.vertices for one in lines for path in one.get_paths()]) if lines else None


def test_a_panel_shows_mean_gains_cut_at_the_ends_of_the_scale():
    data = mapped(runs(spread=0.3))
    ax = drawn({"one": data}, largest=0.6).axes[0]
    table = cells_of.cells(cells_of.by_seed(data)).pivot(index="row", columns="samples", values="gain")
    np.testing.assert_allclose(mesh(ax).get_array().reshape(3, 3), np.clip(table, -0.6, 0.6))
    edges = mesh(ax).get_coordinates()[0, :, 0]
    np.testing.assert_allclose(edges, np.array([1, 2, 4, 8]) / np.sqrt(2))
    open_cells = ax.lines[0].get_xydata()
    np.testing.assert_allclose(open_cells, [[1, 1], [2, 1], [4, 1]])  # an overlap of a half
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0", "0.5", "1"]


def test_the_boundary_is_where_the_prediction_changes_its_sign():
    data = mapped()
    shift = np.interp(np.log(data["samples"]), np.log([10, 40]), [-0.25, 0.25])  # of the overlap of no change
    data["predicted"] = ("pair", data["similarity"].values - 0.5 - shift)
    points = boundary(drawn({"one": data}).axes[0])
    expected = np.interp(np.log(points[:, 0] * 10), np.log([10, 40]), [0.5, 1.5])
    np.testing.assert_allclose(points[:, 1], expected, atol=0.02)
