"""The part of a ReLU network outside a feature space, against least squares, quadrature, closed forms and limits."""

import numpy as np
import pytest
import torch
from relu_averages import inputs, kinks, network, pair_apart, plane_mean

from carryover.theory.kernels import function_power, function_variance, rkhs_residual


def test_residual_is_that_of_least_squares_on_samples():
    rng = np.random.default_rng(0)
    (W_star, c_star), W = network(rng, 4, 5), rng.standard_normal((6, 5))
    X = inputs("gaussian", rng, 5)
    labels = np.maximum(X @ W_star.T, 0) @ c_star / 4
    squares = (labels - np.maximum(X @ W.T, 0) @ np.linalg.lstsq(np.maximum(X @ W.T, 0), labels, rcond=None)[0]) ** 2
    # Fitting 6 coefficients lowers the mean by about 6 samples' worth, far less than its error.
    assert abs(squares.mean() - rkhs_residual(c_star, W_star, W)) < 4 * squares.std() / np.sqrt(len(X))


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
    assert function_power(c_star, W_star) == pytest.approx(power, rel=1e-11)
    expected = power - overlap @ np.linalg.solve(gram, overlap)
    assert rkhs_residual(c_star, W_star, W) == pytest.approx(expected, rel=1e-10)


def test_in_one_dimension_in_closed_form():
    """f = c₁ relu(x) + c₂ relu(−x), halved: units of one sign catch their half of it."""
    W_star, c_star = np.array([[1.0], [-1.0]]), np.array([0.6, 2.0])
    assert function_power(c_star, W_star) == pytest.approx((0.3**2 + 1.0**2) / 2, rel=1e-14)
    mean = (0.3 + 1.0) / np.sqrt(2 * np.pi)
    assert function_variance(c_star, W_star) == pytest.approx((0.3**2 + 1.0**2) / 2 - mean**2, rel=1e-14)
    assert rkhs_residual(c_star, W_star, [[3.0]]) == pytest.approx(0.5, rel=1e-14)
    assert rkhs_residual(c_star, W_star, [[-0.1], [-5.0]]) == pytest.approx(0.3**2 / 2, rel=1e-13)
    assert rkhs_residual(c_star, W_star, [[2.0], [-5.0]]) < 1e-15


@pytest.mark.parametrize("angle", [1e-9, 1e-7])
def test_nearly_parallel_units_count_as_one(angle):
    rng = np.random.default_rng(3)
    W_star, c_star = network(rng, 3, 6)
    pair = np.stack(pair_apart(rng, angle))
    alone = rkhs_residual(c_star, W_star, pair[:1])
    assert rkhs_residual(c_star, W_star, pair) == pytest.approx(alone, rel=1e-6)


@pytest.mark.parametrize("angle", [1e-3, 1e-4])
def test_units_a_little_apart_add_their_derivative(angle):
    """Two units at a small angle span relu(w·x) and, to the order of the angle, its derivative along the turn."""
    rng = np.random.default_rng(4)
    w, v = pair_apart(rng, angle)
    w_far, v_far = w, np.cos(0.02) * w + np.sin(0.02) * (v - np.cos(angle) * w) / np.sin(angle)
    W_star, c_star = network(rng, 3, 6)
    near, far = (rkhs_residual(c_star, W_star, pair) for pair in ([w, v], [w_far, v_far]))
    alone = rkhs_residual(c_star, W_star, [w])
    assert alone - near > 10 * abs(near - far)


def test_leading_axes_broadcast_in_numpy_and_torch():
    rng = np.random.default_rng(5)
    W_star, c_star, W = (
        rng.standard_normal((2, 1, 3, 4)),
        rng.standard_normal((2, 1, 3)),
        rng.standard_normal((5, 6, 4)),
    )
    residual = rkhs_residual(c_star, W_star, W)
    assert residual.shape == (2, 5)
    assert residual[1, 2] == pytest.approx(rkhs_residual(c_star[1, 0], W_star[1, 0], W[2]), rel=1e-12)
    tensor = rkhs_residual(torch.tensor(c_star), W_star, W)
    assert isinstance(tensor, torch.Tensor)
    np.testing.assert_allclose(tensor.numpy(), residual, rtol=1e-11)
    assert function_power(torch.tensor(c_star), W_star).shape == (2, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"W": np.ones((2, 3))}, r"^the shapes must be c_star"),
        ({"W": np.full((2, 4), np.nan)}, "must be finite"),
        ({"cutoff": 0.0}, "cutoff must lie between 0 and 1"),
    ],
)
def test_bad_arguments_are_named(change, message):
    arguments = {"c_star": np.ones(3), "W_star": np.ones((3, 4)), "W": np.ones((2, 4))} | change
    with pytest.raises(ValueError, match=message):
        rkhs_residual(**arguments)
