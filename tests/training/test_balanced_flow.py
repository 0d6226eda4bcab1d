"""Gradient flow of balanced deep linear networks against its equation in β, tiny steps of descent, and its limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from carryover.training.balanced_flow import balanced_flow
from carryover.training.linear_limits import Factored
from carryover.training.result import Divergence

FIXED = settings(derandomize=True, deadline=None, max_examples=25)


class Problem:
    """Starts and labels of two runs on inputs of their own."""

    def __init__(self, n=4, d=6, scale=0.8, seed=0):
        rng = np.random.default_rng(seed)
        self.X, self.y = rng.standard_normal((2, n, d)), rng.standard_normal((2, n))
        self.start, self.teacher = scale * rng.standard_normal((2, d)), rng.standard_normal((2, d))
        self.data = [Factored.of(X) for X in self.X]
        self.targets = np.stack([data.targets(y) for data, y in zip(self.data, self.y, strict=True)])

    def follow(self, depth, runs=(0, 1), **options):
        options = {"tolerance": 1e-12, "max_time": 1e5, "accuracy": 1e-8, **options}
        runs = np.array(runs)
        targets, start, teacher = self.targets[runs], self.start[runs], self.teacher[runs]
        options.setdefault("risk", lambda which, beta: ((beta - teacher[which]) ** 2).sum(1))
        return balanced_flow(self.data, targets, runs, start, depth=depth, **options)

    def gradient(self, run, beta):
        X = self.X[run]
        return X.T @ (X @ beta - self.y[run]) / len(X)


@FIXED
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


def test_losses_that_are_not_finite_name_their_runs():
    problem = Problem()
    problem.targets[1] *= 1e200
    with pytest.raises(Divergence, match=r"in runs \[1\]"):
        problem.follow(2, tolerance=1e-6)
