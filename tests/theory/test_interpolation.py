"""Risks of many dimensions against the closed form of the minimum norm and against exact limits of drawn data."""

import numpy as np
import pytest

from carryover.networks.diagonal import rates
from carryover.theory.interpolation import interpolation_risk
from carryover.training.exact import diagonal_flow_limit

D = 300


def test_large_weights_have_the_risk_of_the_minimum_norm():
    n = np.array([20, 100, 250])
    found = interpolation_risk(n, [5, D - 5], [0.4, 0.0], 1e3, 1e3)
    np.testing.assert_allclose(found, 5 * 0.16 * (1 - n / D), rtol=1e-3)


SMALL = 1e-3
STARTS = {  # first and second layer of both paths, by kind of dimension
    "scratch": np.full((4, 4), SMALL),
    "half of the features learned": np.array([[0.6, SMALL, 0.6, SMALL], [SMALL] * 4, [SMALL] * 4, [SMALL] * 4]),
    "with large readouts": np.array([[0.6, SMALL, 0.6, SMALL], [0.2] * 4, [SMALL] * 4, [SMALL] * 4]),
}


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("n", [12, 40, 80])
def test_exact_limits_of_drawn_data_have_this_risk(start, n):
    """The mean of the log over draws: within its deviation, which at D = 300 is also what is left of finite D."""
    counts, beta = np.array([5, 5, 5, D - 15]), np.array([0.35, 0.35, 0.0, 0.0])
    X, target = np.random.default_rng(n).standard_normal((24, n, D)), np.repeat(beta, counts)
    found = diagonal_flow_limit(X, X @ target, *(np.repeat(values, counts) for values in STARTS[start]))
    logs = np.log10(((found - target) ** 2).sum(-1))
    predicted = np.log10(interpolation_risk(n, counts, beta, *rates(*STARTS[start])))
    assert abs(logs.mean() - predicted) < logs.std()
