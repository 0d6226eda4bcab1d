"""The figure of endless training shows what its runs have reached, and no more."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from carryover.config.parameters import model_of
from carryover.figures import endless_training
from carryover.labels import labelled

MARGINS = np.geomspace(1, 1000, 13)
P = model_of("figures", "endless_training")(most=100.0)
KINDS = [("single_task", 0.1), ("single_task", 1.0), ("multi_task", 0.1), ("multi_task", 1.0), ("finetuning", np.nan)]


def trajectories():
    """Two seeds of every kind, with the margin as their norms."""
    runs = [(*kind, seed) for kind in KINDS for seed in (0, 1)]
    curves = {"loss_curve": np.log1p(np.exp(-MARGINS)), "risk_curve": np.full(len(MARGINS), 0.2)}
    curves |= {"l1_norm_curve": MARGINS, "group_norm_curve": 2 * MARGINS}
    names = ("protocol", "initial_scale", "seed")
    made_up = xr.Dataset(
        {name: (("run", "checkpoint"), np.tile(curve, (len(runs), 1))) for name, curve in curves.items()},
        {name: ("run", list(column)) for name, column in zip(names, zip(*runs, strict=True), strict=True)},
    )
    return labelled(made_up, "diagonal")


@pytest.fixture
def figure():
    yield endless_training.draw({"trajectory": trajectories()}, P)
    plt.close("all")


def test_norms_are_for_their_margin(figure):
    stl = figure.axes[0].lines[0]
    np.testing.assert_allclose(stl.get_ydata(), 1.0, rtol=1e-6)  # whose norm is the margin
    assert stl.get_xdata()[0] == pytest.approx(P.least)
    assert stl.get_xdata()[-1] == pytest.approx(P.most)
