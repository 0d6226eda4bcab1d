"""Exact averages over inputs of ReLU units against quadrature in the plane, high precision, and by PyTorch; the Gram
matrix of infinite width and its bound against high precision, wide networks and linear algebra."""

from itertools import pairwise

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from carryover.theory.kernels import (
    function_moments,
    infinite_width_gram,
    ntk_bound,
    relu_kernel,
    relu_risk,
    rkhs_residual,
    tangent_risk,
)


def network(rng, *shape):
    """first (..., H, D), readout (..., H) of shape (..., H, D)."""
    return rng.standard_normal(shape), rng.standard_normal(shape[:-1])


def batch(rng):
    """(2, 3) networks of 5 units, with teachers of their own that share the second axis."""
    weights = *network(rng, 2, 3, 5, 4), *network(rng, 2, 3, 5, 4)
    return weights, network(rng, 2, 1, 2, 4)


def plane_mean(square, kinks):
    """E[square(x)] in two dimensions of a function of degree 2, by quadrature over the angle; E|x|² = 2."""

    def integrand(angle):
        return square(np.array([np.cos(angle), np.sin(angle)]))

    edges = np.unique(np.concatenate([[0, 2 * np.pi], np.mod(kinks, 2 * np.pi)]))
    pieces = [quad(integrand, a, b, epsabs=1e-13)[0] for a, b in pairwise(edges)]
    return sum(pieces) / np.pi


def kinks(*layers):
    """Angles at which units of the plane open or close."""
    angles = np.concatenate([np.arctan2(layer[:, 1], layer[:, 0]) for layer in layers])
    return np.concatenate([angles + np.pi / 2, angles - np.pi / 2])


def pair_apart(rng, angle, D=6):
    """Two unit vectors."""
    w, n = np.linalg.qr(rng.standard_normal((D, 2)))[0].T
    return w, np.cos(angle) * w + np.sin(angle) * n


def precise_kernel(w, v):
    w, v = ([mpmath.mpf(float(x)) for x in vector] for vector in (w, v))
    norms = mpmath.sqrt(mpmath.fdot(w, w) * mpmath.fdot(v, v))
    u = mpmath.fdot(w, v) / norms
    return norms / (2 * mpmath.pi) * (mpmath.sqrt(abs(1 - u * u)) + u * (mpmath.pi - mpmath.acos(u).real))


def test_kernel_in_the_plane_by_quadrature():
    rng = np.random.default_rng(1)
    W, V = rng.standard_normal((4, 2)), rng.standard_normal((3, 2))
    for i, w in enumerate(W):
        for j, v in enumerate(V):
            expected = plane_mean(lambda x, w=w, v=v: max(w @ x, 0) * max(v @ x, 0), kinks(W, V))
            np.testing.assert_allclose(relu_kernel(W, V)[i, j], expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("angle", [1e-12, 1e-8, 1e-6, 1e-4, 1e-2, 1.0])
def test_kernel_beside_parallel_and_opposite(angle):
    rng = np.random.default_rng(2)
    with mpmath.workdps(60):
        for w, v in (pair_apart(rng, angle) for _ in range(20)):
            W, V = 3 * w[None], 0.2 * v[None]
            exact = precise_kernel(W[0], V[0])
            assert abs(relu_kernel(W, V)[0, 0] - exact) < 2e-15 * exact
            assert abs(relu_kernel(W, -V)[0, 0] - precise_kernel(W[0], -V[0])) < 2e-16 * max(angle, 1e-8)
            assert relu_kernel(W, -V)[0, 0] >= 0


def test_torch_gives_what_numpy_gives():
    weights, teacher = batch(np.random.default_rng(14))
    arguments = {relu_kernel: (weights[0], teacher[0]), relu_risk: (*weights[:2], *teacher)}
    arguments[tangent_risk] = (*weights, *teacher)
    for function, arrays in arguments.items():
        single = [array.astype(np.float32) for array in arrays]
        tensors = [torch.tensor(array, requires_grad=True) for array in single]
        for mixed in (tensors, [tensors[0], *single[1:]]):
            result = function(*mixed)
            assert isinstance(result, torch.Tensor)
            assert (result.dtype, result.device) == (torch.float64, tensors[0].device)
            assert not result.requires_grad
            np.testing.assert_allclose(result.numpy(), function(*single), rtol=1e-12, atol=1e-14)


def linearised(rng, H, D):
    """first, readout, first_change, readout_change."""
    return *network(rng, H, D), *network(rng, H, D)


def outputs(first, readout, X):
    return np.maximum(X @ first.T, 0) @ readout


def linearised_outputs(first, readout, first_change, readout_change, X):
    return outputs(first, readout + readout_change, X) + ((X @ first.T > 0) * (X @ first_change.T)) @ readout


def test_risks_in_the_plane_by_quadrature():
    rng = np.random.default_rng(6)
    for _ in range(3):
        weights, teacher = linearised(rng, 4, 2), network(rng, 2, 2)
        edges = kinks(weights[0], teacher[0])
        expected = plane_mean(lambda x, w=weights, t=teacher: (outputs(*w[:2], x) - outputs(*t, x)) ** 2, edges)
        np.testing.assert_allclose(relu_risk(*weights[:2], *teacher), expected, rtol=1e-11)
        expected = plane_mean(lambda x, w=weights, t=teacher: (linearised_outputs(*w, x) - outputs(*t, x)) ** 2, edges)
        np.testing.assert_allclose(tangent_risk(*weights, *teacher), expected, rtol=1e-11)


def test_residual_in_the_plane_by_quadrature():
    """Gram matrix and overlaps by quadrature over the angle, the projection by solving with them."""
    rng = np.random.default_rng(1)
    (W_star, c_star), W = network(rng, 3, 2), rng.standard_normal((3, 2))
    edges = kinks(W_star, W)

    def target(x):
        return np.maximum(W_star @ x, 0) @ c_star / 3

    gram = [[plane_mean(lambda x, u=u, v=v: max(u @ x, 0) * max(v @ x, 0), edges) for v in W] for u in W]
    overlap = [plane_mean(lambda x, u=u: max(u @ x, 0) * target(x), edges) for u in W]
    power = plane_mean(lambda x: target(x) ** 2, edges)
    assert function_moments(c_star, W_star)[0] == pytest.approx(power, rel=1e-11)
    rectified = function_moments([1.0], [[1.0, 0.0]])[1]  # of a rectified normal variable
    assert rectified == pytest.approx(1 / 2 - 1 / (2 * np.pi), rel=1e-12)
    expected = power - overlap @ np.linalg.solve(gram, overlap)
    assert rkhs_residual(c_star, W_star, W) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("angle", [1e-9, 1e-7])
def test_nearly_parallel_units_count_as_one(angle):
    rng = np.random.default_rng(3)
    W_star, c_star = network(rng, 3, 6)
    pair = np.stack(pair_apart(rng, angle))
    alone = rkhs_residual(c_star, W_star, pair[:1])
    assert rkhs_residual(c_star, W_star, pair) == pytest.approx(alone, rel=1e-6)


def sphere(rng, n, d):
    X = rng.standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-6, 1e-3, 1.0, np.pi - 1e-6, np.pi])
def test_gram_of_nearly_parallel_and_opposite_inputs(angle):
    X = np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)]])
    with mpmath.workdps(40):
        (a, b), (c, d) = ([mpmath.mpf(float(x)) for x in row] for row in X)
        theta = mpmath.atan2(abs(a * d - b * c), a * c + b * d)
        expected = float((a * c + b * d) * (mpmath.pi - theta) / (2 * mpmath.pi))
    gram = infinite_width_gram(X)
    np.testing.assert_allclose(gram, [[0.5, expected], [expected, 0.5]], rtol=1e-15, atol=1e-16)


def test_bound_is_the_distance_that_a_wide_network_travels():
    """√(ỹᵀH⁻¹ỹ) is what the least change of all first-layer weights measures that fits ỹ to first order."""
    rng = np.random.default_rng(1)
    X, residual, width = sphere(rng, 6, 4), rng.standard_normal(6), 40_000
    gates = X @ rng.standard_normal((4, width)) > 0
    signs = rng.choice([-1, 1], width)
    features = (gates * signs)[:, :, None] * X[:, None, :] / np.sqrt(width)
    change = np.linalg.lstsq(features.reshape(6, -1), residual, rcond=None)[0]
    assert ntk_bound(X, residual) == pytest.approx(np.linalg.norm(change), rel=0.02)
    bound = ntk_bound(X, residual)
    np.testing.assert_allclose(ntk_bound(X, [residual, 2 * residual]), [bound, 2 * bound], rtol=1e-14)


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.integers(1, 40))
def test_corollary_6_2_with_the_constant_2(seed, d, n):
    rng = np.random.default_rng(seed)
    X, difference = sphere(rng, n, d), rng.standard_normal(d)
    inside = np.linalg.norm(np.linalg.pinv(X) @ X @ difference)
    assert ntk_bound(X, X @ difference) <= 2 * inside * (1 + 1e-9)
