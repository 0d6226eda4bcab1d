"""What the figure reads off trajectories: medians at common times, and margins over squared scales."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

from carryover.analysis.margins import margin_over_scale
from carryover.drawing import panels
from carryover.errors import UserError
from carryover.plotting import cross_entropy

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
    p = cross_entropy.Parameters(fitted=fitted)
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


def test_noise_does_not_lead_back_and_ended_runs_stop(runs):
    runs["loss_curve"][:, 30] *= 1.5
    runs["time"][:, 35:] = np.nan
    runs["loss_curve"][:, 35:] = np.nan
    ratio = margin_over_scale(runs["loss_curve"].values, runs["initial_scale"].values, 0.3)
    known = ratio[0][np.isfinite(ratio[0])]
    assert (np.diff(known) >= 0).all()
    assert np.isnan(ratio[:, 35:]).all()
    assert ratio[0, 29] == ratio[0, 30] < ratio[0, 31]


def test_where_seeds_share_no_time_nothing_is_drawn(runs):
    _, curves = lines(runs, "ratio", fitted=1e-9)
    assert not curves


def test_a_loss_of_zero_has_no_margin(runs):
    runs["loss_curve"][:, -1] = 0.0
    ratio = margin_over_scale(runs["loss_curve"].values, runs["initial_scale"].values, 0.3)
    assert np.isnan(ratio[:, -1]).all()
    assert np.isfinite(ratio[:, -2]).all()


def test_runs_that_were_not_trained_on_cross_entropy_are_left_out(runs):
    squared = runs.copy(deep=True)
    squared["effective_features_curve"][:] = np.nan
    mixed = xr.concat([runs, squared], dim="run")
    assert cross_entropy._scratch("diagonal", mixed).identical(runs)


def test_every_panel_is_named(runs):
    figure = cross_entropy.draw({"diagonal": runs, "relu": runs}, cross_entropy.Parameters())
    assert [ax.get_title()[:1] for ax in figure.axes] == [*"abcdef"]
    assert [ax.get_ylabel().partition("\n")[0] for ax in figure.axes[::3]] == ["Diagonal networks", "ReLU networks"]
    plt.close(figure)


def test_each_family_says_its_own_number_of_seeds(runs):
    fewer = runs.isel(run=runs["seed"].values == runs["seed"].values[0])
    figure = cross_entropy.draw({"diagonal": runs, "relu": fewer}, cross_entropy.Parameters())
    told = [part.legends[0].get_title().get_text().partition(";")[0] for part in figure.subfigs]
    assert told == [panels.seeds_in_words(runs), "1 seed"]
    assert told[0] != "1 seed"
    plt.close(figure)


def test_each_family_has_a_legend_of_its_own_scales_in_their_order(runs):
    other = runs.assign_coords(initial_scale=runs["initial_scale"] * 0.9)
    figure = cross_entropy.draw({"diagonal": runs, "relu": other}, cross_entropy.Parameters())
    for part, factor in zip(figure.subfigs, (1.0, 0.9), strict=True):
        (legend,) = part.legends
        told = [float(text.get_text().rpartition(" ")[2]) for text in legend.get_texts()]
        assert told == sorted(round(factor * scale, 6) for scale in SCALES)
    plt.close(figure)


def test_data_without_scales_or_features_are_refused(runs):
    p = cross_entropy.Parameters()
    with pytest.raises(UserError, match="draws the roles diagonal and relu, of which there is none"):
        cross_entropy.draw({"other": runs}, p)
    with pytest.raises(UserError, match="relu has no effective_features_curve: cross_entropy draws runs from scratch"):
        cross_entropy.draw({"relu": runs.drop_vars("effective_features_curve")}, p)
    with pytest.raises(UserError, match="diagonal has no initial_scale"):
        cross_entropy.draw({"diagonal": runs.drop_vars("initial_scale")}, p)
    pretrained = runs.assign_coords(initial_scale=("run", np.full(runs.sizes["run"], np.nan)))
    with pytest.raises(UserError, match="diagonal has no run that was trained on cross-entropy"):
        cross_entropy.draw({"diagonal": pretrained}, p)
