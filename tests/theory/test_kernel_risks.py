"""Exact population risks against sampling and quadrature in the plane."""

import numpy as np
import pytest
from relu_averages import assert_mean, inputs, kinks, network, plane_mean

from carryover.theory.kernels import relu_risk, tangent_risk


def linearised(rng, H, D):
    """first, readout, first_change, readout_change."""
    return *network(rng, H, D), *network(rng, H, D)


def outputs(first, readout, X):
    return np.maximum(X @ first.T, 0) @ readout


def linearised_outputs(first, readout, first_change, readout_change, X):
    return outputs(first, readout + readout_change, X) + ((X @ first.T > 0) * (X @ first_change.T)) @ readout


@pytest.mark.parametrize("kind", ["gaussian", "sphere"])
def test_risks_are_means_over_inputs(kind):
    rng = np.random.default_rng(5)
    weights, teacher = linearised(rng, 6, 4), network(rng, 2, 4)
    X = inputs(kind, rng, 4)
    errors = outputs(*weights[:2], X) - outputs(*teacher, X)
    assert_mean(relu_risk(*weights[:2], *teacher), errors**2)
    errors = linearised_outputs(*weights, X) - outputs(*teacher, X)
    assert_mean(tangent_risk(*weights, *teacher), errors**2)


def test_risks_in_the_plane_by_quadrature():
    rng = np.random.default_rng(6)
    for _ in range(3):
        weights, teacher = linearised(rng, 4, 2), network(rng, 2, 2)
        edges = kinks(weights[0], teacher[0])
        expected = plane_mean(lambda x, w=weights, t=teacher: (outputs(*w[:2], x) - outputs(*t, x)) ** 2, edges)
        np.testing.assert_allclose(relu_risk(*weights[:2], *teacher), expected, rtol=1e-11)
        expected = plane_mean(lambda x, w=weights, t=teacher: (linearised_outputs(*w, x) - outputs(*t, x)) ** 2, edges)
        np.testing.assert_allclose(tangent_risk(*weights, *teacher), expected, rtol=1e-11)
