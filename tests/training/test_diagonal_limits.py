"""Limits of diagonal networks and of their readouts, against integrators, small steps and each other."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from carryover.networks.diagonal import Weights
from carryover.training.exact import diagonal_flow_limit, readout_limit


def problem(seed, n, D, scale, spread=1.0):
    rng = np.random.default_rng(seed)
    w = [scale * np.exp(spread * rng.standard_normal(D)) * rng.choice([-1, 1], D) for _ in range(4)]
    return rng.standard_normal((n, D)), rng.standard_normal(n), w


@pytest.mark.parametrize(("n", "scale"), [(3, 1.0), (3, 1e-1), (3, 1e-2), (6, 1.0), (9, 1.0)])
def test_limit_is_where_an_independent_integrator_ends(n, scale):
    X, y, w = problem(7, n, 6, scale, 0.5)

    def velocity(_, state):
        a, b, c, d = state.reshape(4, 6)
        force = X.T @ (y - X @ (a * b - c * d))
        return np.concatenate([force * b, force * a, -force * d, -force * c])

    end = solve_ivp(velocity, (0, 1e5), np.concatenate(w), method="LSODA", rtol=1e-10, atol=1e-13).y[:, -1]
    a, b, c, d = end.reshape(4, 6)
    np.testing.assert_allclose(diagonal_flow_limit(X, y, *w), a * b - c * d, rtol=1e-5, atol=1e-7)


def test_batched_equals_one_by_one_and_broadcasts():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3, 4, 8)), rng.standard_normal((2, 3, 4))
    w = [np.exp(rng.standard_normal((3, 8))) for _ in range(3)] + [np.full(8, 0.1)]
    together = diagonal_flow_limit(X, y, *w)
    assert together.shape == (2, 3, 8)
    for i, j in np.ndindex(2, 3):
        alone = diagonal_flow_limit(X[j], y[i, j], *(v[j] if v.ndim == 2 else v for v in w))
        np.testing.assert_array_equal(together[i, j], alone)


def test_rows_of_low_rank_work():
    X, y, w = problem(9, 3, 8, 1e-4)
    mix = np.random.default_rng(1).standard_normal((6, 3))
    np.testing.assert_allclose(diagonal_flow_limit(mix @ X, mix @ y, *w), diagonal_flow_limit(X, y, *w), rtol=1e-8)


def test_dead_dimensions_stay_at_zero_and_one_sided_ones_are_refused():
    X, y, w = problem(6, 3, 8, 0.1)
    for v in w:
        v[2] = 0
    beta = diagonal_flow_limit(X, y, *w)
    others = np.arange(8) != 2
    assert beta[2] == 0
    np.testing.assert_allclose(beta[others], diagonal_flow_limit(X[:, others], y, *(v[others] for v in w)), rtol=1e-12)
    w[0][2] = w[1][2] = 1.0  # s₊ only
    with pytest.raises(ValueError, match="rates A and B"):
        diagonal_flow_limit(X, y, *w)


def test_bad_input_is_refused():
    X, y, w = problem(0, 3, 8, 1.0)
    with pytest.raises(ValueError, match="could not be broadcast"):
        diagonal_flow_limit(X, y[:2], *w)
    with pytest.raises(ValueError, match="must be finite"):
        diagonal_flow_limit(X * np.nan, y, *w)


@pytest.mark.parametrize("scale", [1e-3, 1e-5, 1e-6])
def test_one_feature_among_many_samples_converges_to_rounding(scale):
    """One coefficient of 1 beside 199 that stay near scale²: the line search has nothing but rounding to go by."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((128, 200))
        y = X[:, seed].copy()
        weights = (np.full(200, scale),) * 4
        beta = diagonal_flow_limit(X, y, *weights)
        assert np.linalg.norm(X @ beta - y) < 1e-10 * np.linalg.norm(y)
        z = np.arcsinh(beta / (2 * scale**2))
        assert np.linalg.norm(z - X.T @ np.linalg.lstsq(X.T, z)[0]) < 1e-8 * np.linalg.norm(z)


def networks(samples=4, runs=2, D=7, seed=0):
    rng = np.random.default_rng(seed)
    X, teacher = rng.standard_normal((runs, samples, D)), rng.standard_normal((runs, D))
    first = [np.exp(rng.standard_normal((runs, D))) for _ in range(2)]
    second = [0.3 * rng.standard_normal((runs, 1, D)) for _ in range(2)]
    return X, np.einsum("rnd,rd->rn", X, teacher), Weights(*first, *second), teacher


def integrated(X, y, start, run, end):
    """β of a run at a flow time, by SciPy on the readouts."""
    plus, minus = start.first_plus[run], start.first_minus[run]

    def velocity(_, readouts):
        beta = plus * readouts[: plus.size] - minus * readouts[plus.size :]
        gradient = 2 / len(y[run]) * X[run].T @ (y[run] - X[run] @ beta)
        return np.concatenate([plus * gradient, -minus * gradient])

    begin = np.concatenate([start.second_plus[run, 0], start.second_minus[run, 0]])
    found = solve_ivp(velocity, (0, end), begin, method="LSODA", rtol=1e-11, atol=1e-13).y[:, -1]
    return plus * found[: plus.size] - minus * found[plus.size :]


@pytest.mark.parametrize("samples", [3, 7, 12])
def test_the_limit_of_readouts_is_where_an_independent_integrator_ends(samples):
    X, y, start, _ = networks(samples)
    y = y + np.random.default_rng(1).standard_normal(y.shape)  # of more samples than dimensions some loss remains
    found = readout_limit(X, y, start).coefficients()[:, 0]
    for run in (0, 1):
        np.testing.assert_allclose(found[run], integrated(X, y, start, run, 1e5), rtol=1e-6, atol=1e-7)
