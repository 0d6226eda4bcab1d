"""Trained runs are markers over the lines of limits, and panels may have legends of their own."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from carryover.figures.drawing import markers


@pytest.fixture
def runs():
    """Two seeds at two numbers of samples, solved and trained; at the larger one a trained run has not converged."""
    table = [(s, n, solver) for s in (0, 1) for n in (4, 8) for solver in ("exact", "descent")]
    seed, samples, solver = (np.array(column) for column in zip(*table, strict=True))
    trained = solver == "descent"
    return xr.Dataset(
        {
            "risk_final": ("run", 1.0 * samples + seed + 10.0 * trained),
            "converged": ("run", (~trained | (samples < 8) | (seed == 0)).astype(int)),
        },
        {"seed": ("run", seed), "samples": ("run", samples), "solver": ("run", solver), "gamma": ("run", samples / 16)},
    )


def test_limits_are_a_line_and_what_was_trained_is_full_where_all_of_it_converged(runs):
    ax = plt.figure().subplots()
    markers.over_limits(ax, runs, "risk_final", "samples", "both", color="C3", linestyle="--")
    line, full, hollow = ax.get_lines()
    assert (line.get_label(), line.get_linestyle(), line.get_marker()) == ("both", "--", "None")
    np.testing.assert_array_equal(line.get_xydata(), [[4, 4.5], [8, 8.5]])
    np.testing.assert_array_equal(full.get_xydata(), [[4, 14.5], [8, np.nan]])
    np.testing.assert_array_equal(hollow.get_xydata(), [[4, np.nan], [8, 18.5]])
    assert full.get_color() == hollow.get_color() == "C3"
    assert hollow.get_markerfacecolor() == "none"
    assert ax.get_legend_handles_labels()[1] == ["both"]
