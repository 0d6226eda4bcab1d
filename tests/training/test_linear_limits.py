"""Limits of deep linear networks against what shares no code with them: least squares, fixed points, minimisation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from carryover.training.linear_limits import Factored, finetuned, on_features, weight_decayed


def problem(seed, n, d, runs=1):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal((runs, n)), rng.standard_normal((runs, d))


@pytest.mark.parametrize("n", [3, 7, 20])
def test_from_vanishing_weights_networks_end_at_the_least_norm(n):
    X, y, _ = problem(0, n, 7, 4)
    data = Factored.of(X)
    np.testing.assert_allclose(weight_decayed(data, data.targets(y), np.zeros(4)), y @ np.linalg.pinv(X).T, atol=1e-10)


@settings(derandomize=True, deadline=None)
@given(seed=st.integers(0, 50), n=st.integers(1, 12), depth=st.integers(1, 6))
def test_finetuned_networks_satisfy_equation_5(seed, n, depth):
    X, y, start = problem(seed, n, 8, 3)
    data = Factored.of(X)
    found = finetuned(data, data.targets(y), start, depth)
    inverse = np.linalg.pinv(X)
    outside = start - start @ (inverse @ X).T
    factor = (np.linalg.norm(found, axis=1) / np.linalg.norm(start, axis=1)) ** ((depth - 1) / depth)
    np.testing.assert_allclose(found, factor[:, None] * outside + y @ inverse.T, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_the_readout_alone_is_ridge_regression_on_its_features(ridge):
    X, y, _ = problem(2, 12, 6, 2)
    features = np.random.default_rng(3).standard_normal((6, 4))
    data, F = Factored.of(X), X @ features
    found = on_features(data, data.targets(y), features, np.full(2, ridge))
    readout = np.linalg.solve(F.T @ F + 12 * ridge * np.eye(4), F.T @ y.T)
    np.testing.assert_allclose(found, (features @ readout).T, atol=1e-10)


@pytest.mark.parametrize(("n", "strength"), [(4, 0.1), (15, 0.1), (15, 0.5)])
def test_weight_decay_of_two_layers_is_a_penalty_on_the_norm(n, strength):
    X, y, _ = problem(5, n, 6, 2)
    data = Factored.of(X)
    found = weight_decayed(data, data.targets(y), np.full(2, strength))
    for run in range(2):

        def loss(layers, targets=y[run]):
            first, second = layers[:36].reshape(6, 6), layers[36:]
            return ((X @ first @ second - targets) ** 2).sum() / (2 * n) + strength / 2 * (layers**2).sum()

        start = np.random.default_rng(6).standard_normal(42)
        layers = minimize(loss, start, method="BFGS", options={"gtol": 1e-7, "maxiter": 5000}).x
        np.testing.assert_allclose(found[run], layers[:36].reshape(6, 6) @ layers[36:], atol=2e-5)
