"""The margin over the squared scale tells how long a network was trained."""

import numpy as np
import xarray as xr

from carryover.claims.cross_entropy import at_margins, margin_over_scale


def test_a_margin_is_that_of_samples_that_all_have_the_loss():
    margins = np.array([0.5, 1.0, 3.0, 20.0])
    loss = np.log1p(np.exp(-margins))  # of a sample with that margin
    found = margin_over_scale([loss, loss], [1.0, 0.1])
    np.testing.assert_allclose(found, [margins, margins * 100], rtol=1e-6)


def test_it_is_told_from_the_fit_on_and_does_not_fall():
    loss = [[1.0, 0.3, 0.1, 0.2, 0.05, np.nan]]
    (found,) = margin_over_scale(loss, [1.0], fitted=0.3)
    assert np.isnan(found).tolist() == [True, False, False, False, False, True]
    assert found[3] == found[2] < found[4]


def test_a_curve_is_read_at_margins_that_were_reached():
    margins = np.array(
        [[0.5, 1.0, 10.0, 100.0, np.nan], [-1.0, 2.0, 20.0, 40.0, 80.0], [-3.0, -2.0, -1.0, -1.0, np.nan]]
    )
    curves = {"loss_curve": np.log1p(np.exp(-margins)), "norm_curve": 3 * np.abs(margins) ** 0.7}
    data = xr.Dataset({name: (("run", "checkpoint"), curve) for name, curve in curves.items()})
    data = data.assign_coords(seed=("run", [4, 5, 6]), checkpoint=np.arange(5))
    found = at_margins(data, "norm_curve", [1.0, 30.0, 90.0])
    powers = 3 * np.array([1.0, 30.0, 90.0]) ** 0.7
    np.testing.assert_allclose(found[0], powers, rtol=1e-6)
    np.testing.assert_allclose(found[1], [np.nan, powers[1], np.nan], rtol=1e-6)
    assert np.isnan(found[2]).all()  # never fitted
    assert found["seed"].values.tolist() == [4, 5, 6]
    assert found["margin"].values.tolist() == [1.0, 30.0, 90.0]
