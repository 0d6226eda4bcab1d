"""The part of a ReLU network outside a feature space, against quadrature and closed forms."""

import numpy as np
import pytest
from relu_averages import kinks, network, pair_apart, plane_mean

from carryover.theory.kernels import function_power, function_variance, rkhs_residual


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"W": np.full((2, 4), np.nan)}, "must be finite"),
        ({"cutoff": 0.0}, "cutoff must lie between 0 and 1"),
    ],
)
def test_bad_arguments_are_named(change, message):
    arguments = {"c_star": np.ones(3), "W_star": np.ones((3, 4)), "W": np.ones((2, 4))} | change
    with pytest.raises(ValueError, match=message):
        rkhs_residual(**arguments)
