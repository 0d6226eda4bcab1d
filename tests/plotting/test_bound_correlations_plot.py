"""The figure of bounds shows R² along the samples beside the published, and the pairs of tasks at one of them."""

import numpy as np
import pytest

from carryover.analysis import jackknife, r_squared
from carryover.errors import UserError
from carryover.plotting import bound_correlations
from toy.bound_runs import made
from toy.drawn import notes_of
from toy.image_pair_networks import SEEDS, roles


def drawn(data=None, **told):
    return bound_correlations.draw(data or roles("bound_correlations"), bound_correlations.Parameters(**told))


def test_lines_are_means_over_seeds_with_intervals_over_classes_and_dashes_what_was_published():
    data = {"bounds": made(pairs=30), "published": roles("bound_correlations")["published"]}
    figure = drawn(data)
    left_out = r_squared.without_each(r_squared.arranged(data["bounds"]))
    ours = r_squared.r_squared(data["bounds"])
    assert len(figure.axes) == 4  # two cutoffs
    for ax, cutoff in zip(figure.axes[:2], (0.0, 0.01), strict=True):
        lines = {line.get_label(): line for line in ax.get_lines()}
        for bound, name in r_squared.BOUNDS.items():
            found = ours.loc[cutoff, bound].groupby("samples")
            np.testing.assert_allclose(lines[name].get_xdata(), [10, 20], atol=1)  # beside each other
            np.testing.assert_allclose(lines[name].get_ydata(), found.mean())
            published = lines[f"{name}, published (MNIST)"]
            theirs, _ = r_squared.published(data["published"], bound)
            np.testing.assert_array_equal(published.get_data(), (theirs.index, theirs))
            assert published.get_linestyle() == "--"
            bars = ax.collections[list(r_squared.BOUNDS).index(bound)].get_segments()
            for samples, bar in zip((10, 20), bars, strict=True):
                values = left_out.sel(bound=bound, cutoff=cutoff, samples=samples).values
                ends = jackknife.estimate(values, "", 0.0, jackknife.R_SQUARED)
                np.testing.assert_allclose(bar[:, 1], [ends["low"], ends["high"]])


def test_many_pairs_have_a_row_of_shares_and_small_points():
    data = {"bounds": made(pairs=201), "published": roles("bound_correlations")["published"]}
    figure = drawn(data)
    shares = r_squared.first_shares(r_squared.arranged(data["bounds"])).isel(left_out=0)
    assert len(figure.axes) == 6
    for ax, cutoff in zip(figure.axes[2:4], (0.0, 0.01), strict=True):
        lines = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
        for bound, name in r_squared.BOUNDS.items():
            np.testing.assert_allclose(lines[name], shares.sel(bound=bound, cutoff=cutoff))
    (points,) = figure.axes[4].get_lines()
    assert len(points.get_xdata()) == 201
    assert notes_of(figure).endswith("below: a point per pair")


def test_points_are_pairs_at_one_number_of_samples():
    runs = r_squared.finetuned(roles("bound_correlations")["bounds"])
    figure = drawn(bound="distance", samples=20)
    for ax, cutoff in zip(figure.axes[2:], (0.0, 0.01), strict=True):
        (container,) = ax.containers
        chosen = runs[(runs["cutoff"] == cutoff) & (runs["samples"] == 20)].groupby("pair")
        assert (chosen.size() == len(SEEDS)).all()
        expected = chosen[["distance", "risk_final"]].mean()
        np.testing.assert_allclose(np.asarray(container[0].get_data(), float), expected.to_numpy().T)
        assert ax.get_title().startswith("n = 20: R² = ")


def test_the_notes_say_what_was_drawn():
    told = "5 pairs, 3 seeds, raw pixels; bars above: 95 % jackknife over classes; below: mean and standard deviation"
    assert told in notes_of(drawn())


def test_one_seed_is_drawn_without_spread():
    data = roles("bound_correlations")
    one = data["bounds"].isel(run=data["bounds"]["seed"].values == 1)
    figure = drawn(data | {"bounds": one})
    figure.draw_without_rendering()
    lines = [curve.get_ydata() for curve in figure.axes[0].get_lines()]
    assert all(np.isfinite(line).all() for line in lines)
    assert "1 seed" in notes_of(figure)


def test_a_number_of_samples_that_no_run_has_is_refused():
    with pytest.raises(UserError, match="no run has 12 samples; this figure's option samples must be one of 10, 20"):
        drawn(samples=12)
