"""Limits and flow of deep linear networks against what shares no code with them: regression, fixed points,
minimisation, and SciPy's integrator of the equation in β."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

from carryover.training.linear_flow import Factored, balanced_flow, finetuning_limit, on_features, weight_decay_limit


def problem(seed, n, d, runs=1):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal((runs, n)), rng.standard_normal((runs, d))


@given(seed=st.integers(0, 50), n=st.integers(1, 12), depth=st.integers(1, 6))
def test_finetuned_networks_satisfy_equation_5(seed, n, depth):
    X, y, start = problem(seed, n, 8, 3)
    data = Factored.of(X)
    found = finetuning_limit(data, data.targets(y), start, depth)
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
    found = weight_decay_limit(data, data.targets(y), np.full(2, strength))
    for run in range(2):

        def loss(layers, targets=y[run]):
            first, second = layers[:36].reshape(6, 6), layers[36:]
            return ((X @ first @ second - targets) ** 2).sum() / (2 * n) + strength / 2 * (layers**2).sum()

        start = np.random.default_rng(6).standard_normal(42)
        layers = minimize(loss, start, method="BFGS", options={"gtol": 1e-7, "maxiter": 5000}).x
        np.testing.assert_allclose(found[run], layers[:36].reshape(6, 6) @ layers[36:], atol=2e-5)


class Problem:
    """Starts and labels of two runs on inputs of their own."""

    def __init__(self, n=4, d=6, scale=0.8, seed=0):
        rng = np.random.default_rng(seed)
        self.X, self.y = rng.standard_normal((2, n, d)), rng.standard_normal((2, n))
        self.start, self.teacher = scale * rng.standard_normal((2, d)), rng.standard_normal((2, d))
        self.data = [Factored.of(X) for X in self.X]
        self.targets = np.stack([data.targets(y) for data, y in zip(self.data, self.y, strict=True)])

    def follow(self, depth, **options):
        options = {"tolerance": 1e-12, "max_time": 1e5, "accuracy": 1e-8, **options}
        options["risk"] = lambda which, beta: ((beta - self.teacher[which]) ** 2).sum(1)
        return balanced_flow(self.data, self.targets, np.arange(2), self.start, depth=depth, **options)

    def gradient(self, run, beta):
        X = self.X[run]
        return X.T @ (X @ beta - self.y[run]) / len(X)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), depth=st.integers(1, 5), n=st.integers(1, 7), d=st.integers(2, 6))
def test_the_flow_is_that_of_the_equation_in_the_coefficients(seed, depth, n, d):
    problem = Problem(n, d, seed=seed)

    def velocity(_, beta, run):
        norm, gradient = np.linalg.norm(beta), problem.gradient(run, beta)
        along = beta * (beta @ gradient) / norm**2
        return -(norm ** (2 - 2 / depth)) * (gradient + (depth - 1) * along)

    found = problem.follow(depth, tolerance=0.0, max_time=0.7)
    assert not found.converged.any()
    for run in range(2):
        known = np.isfinite(found.time[run])
        times = found.time[run, known]
        assert times[-1] == pytest.approx(0.7)
        options = {"args": (run,), "rtol": 1e-10, "atol": 1e-12, "method": "DOP853", "t_eval": times}
        beta = solve_ivp(velocity, (0, 0.7), problem.start[run], **options).y.T
        np.testing.assert_allclose(found.weights.coefficients[run], beta[-1], atol=1e-5)
        risk = ((beta - problem.teacher[run]) ** 2).sum(1)
        np.testing.assert_allclose(found.curves["risk"][run, known], risk, atol=1e-4)


def test_it_stops_below_the_tolerance_with_curves_to_its_end():
    problem = Problem()
    found = problem.follow(2, tolerance=1e-4)
    assert (found.loss <= 1e-4).all()
    assert found.converged.all()
    for run, loss in enumerate(found.curves["loss"]):
        known = np.isfinite(loss)
        assert (loss[known][:-1] > 1e-4).all()
        assert loss[known][-1] == found.loss[run]
        assert (np.diff(found.time[run, known]) > 0).all()
