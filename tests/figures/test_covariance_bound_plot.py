"""The figure of the covariance bound says what the instances say."""

import numpy as np
import pytest

from toy.deep_linear_networks import drawn, line, roles


def test_points_lie_at_bound_and_risk_of_the_instances_that_were_not_fitted():
    curve = roles("covariance_bound")["curve"]
    left, middle, right = drawn("covariance_bound").axes
    tested = curve.isel(instance=curve["half"].values == 1)
    c = float(curve["c"])
    points = [dots.get_data() for dots in left.get_lines() if dots.get_marker() == "."]
    bound, risk = np.concatenate(points, axis=1)
    np.testing.assert_allclose(np.sort(risk), np.sort(tested["risk"]))
    np.testing.assert_allclose(np.sort(bound), np.sort(c**3 * tested["top_unit"] + c * tested["bottom_unit"]))
    assert left.get_title() == f"a: in {np.mean(bound > 1):.0%} the bound exceeds any possible risk"
    fitted = [dots.get_xdata()[0] for dots in middle.get_lines()]
    assert fitted == pytest.approx([c, float(curve["c_estimation"])])
    np.testing.assert_allclose(line(right, "top term")[1], curve["top_term"])
