"""Exact population risks against sampling, quadrature in the plane, high precision, the kernel and limits."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from relu_averages import assert_mean, batch, inputs, kinks, network, pair_apart, plane_mean

import carryover.theory.kernels as kernels
from carryover.theory.kernels import relu_kernel, relu_risk, tangent_risk

invariant = settings(derandomize=True, deadline=None, max_examples=50)
seeds = st.integers(0, 2**32 - 1)


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


@invariant
@given(seeds, st.integers(1, 6), st.integers(1, 8), st.integers(1, 4))
def test_risk_is_the_kernels_quadratic_form(seed, D, H, K):
    rng = np.random.default_rng(seed)
    (first, readout), (directions, teacher_readout) = network(rng, H, D), network(rng, K, D)
    expected = readout @ relu_kernel(first, first) @ readout - 2 * readout @ relu_kernel(first, directions) @ (
        teacher_readout
    )
    expected += teacher_readout @ relu_kernel(directions, directions) @ teacher_readout
    scale = (np.abs(readout) @ np.linalg.norm(first, axis=1)) ** 2 + (
        np.abs(teacher_readout) @ np.linalg.norm(directions, axis=1)
    ) ** 2
    still = np.zeros_like(first), np.zeros_like(readout)
    assert abs(relu_risk(first, readout, directions, teacher_readout) - expected) < 1e-14 * scale
    # A linearised network that did not move is the network itself.
    assert abs(tangent_risk(first, readout, *still, directions, teacher_readout) - expected) < 1e-13 * scale


@invariant
@given(seeds, st.integers(1, 20), st.floats(-3, 3).map(lambda e: 10.0**e))
def test_a_student_that_splits_the_teachers_units_has_no_risk(seed, pieces, magnitude):
    rng = np.random.default_rng(seed)
    directions, teacher_readout = network(rng, 6, 15)
    share = rng.dirichlet(np.ones(pieces), 6)
    norm = magnitude * np.exp(rng.standard_normal((6, pieces)))
    first = (norm[..., None] * directions[:, None]).reshape(-1, 15)
    readout = (share / norm * teacher_readout[:, None]).ravel()
    scale = (np.abs(teacher_readout) @ np.linalg.norm(directions, axis=1)) ** 2
    assert 0 <= relu_risk(first, readout, directions, teacher_readout) < 1e-14 * scale
    still = np.zeros_like(first), np.zeros_like(readout)
    assert 0 <= tangent_risk(first, readout, *still, directions, teacher_readout) < 1e-13 * scale


def test_linearised_network_is_the_limit_of_small_changes():
    """E[(f(θ + ε δ) − f(θ))²]/ε² by `relu_risk`, against the linearised network from which f(θ) is taken away."""
    rng = np.random.default_rng(7)
    first, readout, first_change, readout_change = linearised(rng, 8, 5)
    exact = tangent_risk(first, readout, first_change, readout_change, first, readout)
    gaps = []
    for step in (1e-2, 1e-3, 1e-4):
        moved = first + step * first_change, readout + step * readout_change
        gaps.append(abs(relu_risk(*moved, first, readout) / step**2 / exact - 1))
    assert gaps[2] < gaps[1] < gaps[0]
    assert gaps[2] < 1e-3


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


def test_units_without_weights_stay_closed():
    rng = np.random.default_rng(9)
    weights, teacher = linearised(rng, 3, 4), network(rng, 2, 4)
    silent = np.zeros((1, 4)), [1.0], np.ones((1, 4)), [1.0]
    more = [np.concatenate(pair) for pair in zip(weights, silent, strict=True)]
    np.testing.assert_allclose(tangent_risk(*more, *teacher), tangent_risk(*weights, *teacher), rtol=1e-14)
    np.testing.assert_allclose(relu_risk(*more[:2], *teacher), relu_risk(*weights[:2], *teacher), rtol=1e-14)


@pytest.mark.parametrize("pairs", [1, 100, 1 << 20])
def test_batches_are_their_networks_whatever_the_blocks(monkeypatch, pairs):
    monkeypatch.setattr(kernels, "_PAIRS", pairs)
    weights, teacher = batch(np.random.default_rng(10))
    for risk, count in ((relu_risk, 2), (tangent_risk, 4)):
        together = risk(*weights[:count], *teacher)
        assert together.shape == (2, 3)
        for i, j in np.ndindex(2, 3):
            alone = risk(*(w[i, j] for w in weights[:count]), *(t[i, 0] for t in teacher))
            np.testing.assert_allclose(together[i, j], alone, rtol=1e-13)


def test_one_layer_may_be_shared_by_many_readouts():
    rng = np.random.default_rng(11)
    first, teacher = rng.standard_normal((5, 4)), network(rng, 2, 4)
    readouts = rng.standard_normal((7, 5))
    risks = relu_risk(first, readouts, *teacher)
    np.testing.assert_allclose(risks, [relu_risk(first, readout, *teacher) for readout in readouts], rtol=1e-13)
    assert relu_risk(first, readouts[:0], *teacher).shape == (0,)


def test_padding_of_teachers_is_left_out():
    rng = np.random.default_rng(12)
    weights, (directions, readout) = linearised(rng, 3, 4), network(rng, 2, 4)
    padded = np.concatenate([directions, np.full((2, 4), np.nan)]), np.concatenate([readout, [0.0, 0.0]])
    for risk, count in ((relu_risk, 2), (tangent_risk, 4)):
        expected = risk(*weights[:count], directions, readout)
        np.testing.assert_allclose(risk(*weights[:count], *padded), expected, rtol=1e-14)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_weights_that_are_not_finite_give_no_number(bad):
    rng = np.random.default_rng(13)
    weights, teacher = batch(rng)
    weights[0][1, 2, 0, 0] = bad
    for risk, count in ((relu_risk, 2), (tangent_risk, 4)):
        finite = np.isfinite(risk(*weights[:count], *teacher))
        assert not finite[1, 2]
        assert finite.sum() == 5
