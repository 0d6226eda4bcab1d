"""The figure of bounds shows R² along the samples beside the published, and the pairs of tasks at one of them."""

import numpy as np
import pytest

from carryover.analysis import r_squared
from carryover.errors import UserError
from carryover.plotting import bound_correlations
from toy.drawn import notes_of
from toy.image_pair_networks import SEEDS, roles


def drawn(data=None, **told):
    return bound_correlations.draw(data or roles("bound_correlations"), bound_correlations.Parameters(**told))


def test_lines_are_means_over_seeds_and_dashes_what_was_published():
    data = roles("bound_correlations")
    figure = drawn()
    ours = r_squared.r_squared(data["bounds"])
    assert len(figure.axes) == 4  # two cutoffs
    for ax, cutoff in zip(figure.axes[:2], (0.0, 0.01), strict=True):
        lines = {line.get_label(): line for line in ax.get_lines()}
        for bound, name in r_squared.BOUNDS.items():
            found = ours.loc[cutoff, bound].groupby("samples")
            np.testing.assert_array_equal(lines[name].get_xdata(), [10, 20])
            np.testing.assert_allclose(lines[name].get_ydata(), found.mean())
            published = lines[f"{name}, published (MNIST)"]
            theirs, _ = r_squared.published(data["published"], bound)
            np.testing.assert_array_equal(published.get_data(), (theirs.index, theirs))
            assert published.get_linestyle() == "--"
            band = ax.collections[list(r_squared.BOUNDS).index(bound)].get_datalim(ax.transData)
            assert band.ymax == pytest.approx((found.mean() + found.std()).max())


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


def test_the_title_says_what_was_drawn():
    assert "5 pairs, 3 seeds, raw pixels; mean and standard deviation over seeds" in notes_of(drawn())


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
