"""Exact population risks against sampling, quadrature in the plane, high precision, the kernel and limits."""

import mpmath
import numpy as np
import pytest
from relu_averages import assert_mean, batch, inputs, kinks, network, pair_apart, plane_mean

from carryover.theory.kernels import relu_risk, tangent_risk


def linearised(rng, H, D):
    """first, readout, first_change, readout_change."""
    return *network(rng, H, D), *network(rng, H, D)


def outputs(first, readout, X):
    return np.maximum(X @ first.T, 0) @ readout


def linearised_outputs(first, readout, first_change, readout_change, X):
    return outputs(first, readout + readout_change, X) + ((X @ first.T > 0) * (X @ first_change.T)) @ readout


def precise_gated(w, v, s, t):
    """E[1[w·x > 0] 1[v·x > 0] (s·x)(t·x)] from the second moments along and across the wedge of open inputs."""
    w, v, s, t = (mpmath.matrix([float(x) for x in vector]) for vector in (w, v, s, t))
    w, v = w / mpmath.norm(w), v / mpmath.norm(v)
    bisector, across = (w + v) / mpmath.norm(w + v), (w - v) / mpmath.norm(w - v)
    opening = 2 * mpmath.acos(mpmath.norm(w - v) / 2)
    plane = mpmath.fdot(s, bisector) * mpmath.fdot(t, bisector) - mpmath.fdot(s, across) * mpmath.fdot(t, across)
    return (opening * mpmath.fdot(s, t) + mpmath.sin(opening) * plane) / (2 * mpmath.pi)


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


@pytest.mark.parametrize("angle", [1e-9, 1e-8, 1e-7, 1e-6, 1e-4, 1e-2, 1.0])
def test_linearised_units_beside_parallel(angle):
    rng = np.random.default_rng(8)
    with mpmath.workdps(60):
        for _ in range(10):
            first = np.array(pair_apart(rng, angle)) * [[2.0], [0.1]]
            slopes = rng.standard_normal(first.shape)
            exact = sum(
                precise_gated(first[i], first[j], slopes[i], slopes[j])
                if i != j
                else mpmath.fdot(slopes[i].tolist(), slopes[i].tolist()) / 2
                for i in (0, 1)
                for j in (0, 1)
            )
            risk = tangent_risk(first, np.ones(2), slopes, -np.ones(2), np.ones((1, 6)), [0.0])
            scale = np.prod(np.linalg.norm(slopes, axis=1))
            assert abs(float(risk) - exact) < min(1e-15 / angle + 1e-14, 2e-8) * scale


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_weights_that_are_not_finite_give_no_number(bad):
    rng = np.random.default_rng(13)
    weights, teacher = batch(rng)
    weights[0][1, 2, 0, 0] = bad
    for risk, count in ((relu_risk, 2), (tangent_risk, 4)):
        finite = np.isfinite(risk(*weights[:count], *teacher))
        assert not finite[1, 2]
        assert finite.sum() == 5
