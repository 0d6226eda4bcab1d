"""The figure of bounds shows R² along the samples beside the published, and the pairs of tasks at one of them."""

import numpy as np
import pytest

from carryover.analysis import jackknife, r_squared
from carryover.config.parameters import model_of
from carryover.errors import UserError
from carryover.figures import bound_correlations
from toy.bound_runs import made
from toy.image_pair_networks import roles


def drawn(data=None, **told):
    return bound_correlations.draw(
        data or roles("bound_correlations"), model_of("figures", "bound_correlations")(**told)
    )


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


def test_a_number_of_samples_that_no_run_has_is_refused():
    with pytest.raises(UserError, match="no run has 12 samples; this figure's option samples must be one of 10, 20"):
        drawn(samples=12)
