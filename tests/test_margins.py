"""The margin over the squared scale tells how long a network was trained."""

import numpy as np

from carryover.margins import margin_over_scale


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
