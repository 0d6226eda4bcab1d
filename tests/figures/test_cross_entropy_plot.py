"""What the figure reads off trajectories: medians at common times, and margins over squared scales."""

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

from carryover.config.parameters import model_of
from carryover.errors import UserError
from carryover.figures import cross_entropy

TIME = np.geomspace(0.1, 1000, 40)
SCALES = (2.0, 1.0, 0.5)


def law(margin, scale, seed):
    return 50 / (1 + margin / scale**2) + seed


@pytest.fixture
def runs():
    """Networks whose features follow from margin over squared scale, after a start in which they do not."""
    scale, seed = (values.ravel() for values in np.meshgrid(SCALES, [0, 1, 2], indexing="ij"))
    margin = np.log1p(TIME) + 0 * scale[:, None]
    features = np.where(margin > 1, law(margin, scale[:, None], seed[:, None]), 70)
    curves = {"time": TIME + 0 * margin, "loss_curve": np.log1p(np.exp(-margin)), "effective_features_curve": features,
              "risk_curve": features / 100}  # fmt: skip
    return xr.Dataset(
        {name: (("run", "checkpoint"), values) for name, values in curves.items()},
        coords={"initial_scale": ("run", scale), "seed": ("run", seed)},
    )


def lines(runs, along, fitted=0.3):
    ax = Figure().subplots()
    p = model_of("figures", "cross_entropy")(fitted=fitted)
    cross_entropy._panel(ax, runs, "effective_features_curve", along, p, dict.fromkeys(SCALES, "black"))
    return ax, [line for line in ax.get_lines() if line.get_marker() == "None"]


def test_curves_against_time_are_medians_within_the_seeds_range(runs):
    ax, curves = lines(runs, "time")
    assert [line.get_label() for line in curves] == [f"initial scale {scale:g}" for scale in SCALES]
    for scale, line, band in zip(SCALES, curves, ax.collections, strict=True):
        time, features = line.get_data()
        assert (time[0], time[-1]) == (pytest.approx(TIME[0]), pytest.approx(TIME[-1]))
        late = time > 10
        np.testing.assert_allclose(features[late], law(np.log1p(time[late]), scale, 1), rtol=0.01)
        assert band.get_paths()[0].vertices[:, 1].min() == pytest.approx(features.min() - 1, rel=1e-6)


def test_curves_against_margin_over_squared_scale_lie_on_one_another(runs):
    _, curves = lines(runs, "ratio")
    for line in curves:
        ratio, features = line.get_data()
        np.testing.assert_allclose(features, law(ratio, 1, 1), rtol=0.01)
    starts = [line.get_xdata()[0] * scale**2 for scale, line in zip(SCALES, curves, strict=True)]
    first = np.log1p(TIME)[np.log1p(np.exp(-np.log1p(TIME))) <= 0.3][0]
    np.testing.assert_allclose(starts, first)  # from a loss of .3 on


def test_data_without_scales_or_features_are_refused(runs):
    p = model_of("figures", "cross_entropy")()
    with pytest.raises(UserError, match="draws the roles diagonal and relu, of which there is none"):
        cross_entropy.draw({"other": runs}, p)
    with pytest.raises(UserError, match="relu has no effective_features_curve: cross_entropy draws runs from scratch"):
        cross_entropy.draw({"relu": runs.drop_vars("effective_features_curve")}, p)
    with pytest.raises(UserError, match="diagonal has no initial_scale"):
        cross_entropy.draw({"diagonal": runs.drop_vars("initial_scale")}, p)
    pretrained = runs.assign_coords(initial_scale=("run", np.full(runs.sizes["run"], np.nan)))
    with pytest.raises(UserError, match="diagonal has no run that was trained on cross-entropy"):
        cross_entropy.draw({"diagonal": pretrained}, p)
