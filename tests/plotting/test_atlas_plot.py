"""Panels of the atlas show cells as they are, the boundary where it is predicted, and say which runs are missing."""

import numpy as np
from matplotlib.collections import QuadMesh

from carryover.analysis import atlas as cells_of
from carryover.plotting import atlas
from toy.atlas_runs import GRID, mapped, runs
from toy.drawn import notes_of

BOTH = "finetuning", "finetuning_probe"


def titles(figure):
    return [ax.get_title() for ax in figure.axes if ax.get_title()]


def drawn(data, **options):
    return atlas.draw(data, atlas.Parameters(**options))


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


def test_there_is_no_boundary_without_a_prediction_or_where_all_gains_are_predicted_alike():
    for change in ({"theory": "none"}, {"against": "penalty"}):
        figure = drawn({"one": mapped(**change)})
        assert boundary(figure.axes[0]) is None
        assert "predicted boundary of gain and loss" not in str([one.get_texts() for one in figure.legends])
    up = mapped()
    up["predicted"] = abs(up["predicted"]) + 0.1
    assert boundary(drawn({"one": up}).axes[0]) is None


def test_infinite_predictions_are_drawn():
    data = mapped()
    data["predicted"] = data["predicted"].where(data["samples"] != 20, np.inf * np.sign(data["predicted"]))
    assert boundary(drawn({"one": data}).axes[0]) is not None


def test_finetuning_comes_first_and_families_with_one_protocol_last():
    maps = {"one": mapped(), "both": mapped(runs(BOTH), protocols=BOTH, family="Both")}
    assert titles(drawn(maps)) == [
        f"{panel}, 6 of 6 as predicted" for panel in ("Both\nfinetuning", "Both\nlinear transfer", "Toy\nfinetuning")
    ]


def test_one_setting_is_shown_or_all():
    data = {"one": mapped(runs(noise=[0.0, 0.2]), setting="noise", shown=0.2)}
    assert len(titles(drawn(data))) == 1
    assert "noise 0.2" in titles(drawn(data))[0]
    assert len(titles(drawn(data, settings=True))) == 2


def test_missing_cells_are_grey_and_named():
    risk = runs()
    assert "grey" not in notes_of(drawn({"one": mapped(risk)}))
    gone = (risk["protocol"] == "finetuning") & (risk["overlap"] == GRID["overlap"][1]) & (risk["samples"] == 20)
    figure = drawn({"one": mapped(risk.isel(run=~gone))})
    assert np.isnan(np.ma.filled(mesh(figure.axes[0]).get_array(), np.nan)).sum() == 1
    assert (
        "runs are missing of 1 cell, the first one, finetuning, similarity 0.5, samples 20: seeds 0, 1, 2, 3, 4, 5"
        in notes_of(figure)
    )


def test_a_map_of_one_row_and_of_many_is_drawn():
    data = mapped()
    assert len(drawn({"one": data.isel(pair=data["row"].values == 0)}).axes[0].get_yticks()) == 1
    many = data.assign_coords(row=("pair", np.arange(54) % 18))
    many["similarity"] = ("pair", many["row"].values / 18)
    assert len(drawn({"one": many}).axes[0].get_yticks()) == 6  # every third
