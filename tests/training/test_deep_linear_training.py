"""Ensembles of deep linear networks against autograd on their full matrices, and against themselves one by one."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from carryover.networks.deep_linear import Weights, rank_one_network
from carryover.training.deep_linear import gradient_descent
from carryover.training.linear_flow import Factored
from carryover.training.result import Divergence

EXACT = {"precision": "float64", "device": "cpu"}


class Problem:
    """Networks on data of two sets, the arguments of `gradient_descent`, and the inputs and labels themselves."""

    def __init__(self, depth=2, n=4, d=6, runs=3, scale=0.4, seed=0, start="random", noise=0.3):
        rng = np.random.default_rng(seed)
        self.X, self.sets = rng.standard_normal((2, n, d)), np.arange(runs) % 2
        self.teacher = rng.standard_normal((runs, d)) / np.sqrt(d)
        self.y = np.einsum("rnd,rd->rn", self.X[self.sets], self.teacher) + noise * rng.standard_normal((runs, n))
        self.start = Weights(
            scale * rng.standard_normal((runs, depth - 1, d, d)), scale * rng.standard_normal((runs, d))
        )
        if start == "balanced":
            self.start = rank_one_network(self.start.readout, depth)
        self.data = [Factored.of(X) for X in self.X]
        self.targets = np.stack([self.data[s].targets(y) for s, y in zip(self.sets, self.y, strict=True)])

    def train(self, runs=slice(None), steps=20, **options):
        options = {"learning_rate": 0.05, "tolerance": 0.0, "max_steps": steps, **EXACT, **options}
        start = Weights(self.start.hidden[runs], self.start.readout[runs])
        return gradient_descent(
            self.data, self.targets[runs], self.sets[runs], start,
            risk=lambda which, beta: ((beta - self.teacher[runs][which]) ** 2).sum(1), **options
        )  # fmt: skip

    def autograd(self, run, steps, rate=0.05):
        """The network, its loss above the least-squares one and its risk after torch's own steps on full matrices."""
        layers = [torch.tensor(layer) for layer in (*self.start.hidden[run], self.start.readout[run])]
        for layer in layers:
            layer.requires_grad_()
        X, y = torch.tensor(self.X[self.sets[run]]), torch.tensor(self.y[run])
        optimiser = torch.optim.SGD(layers, lr=rate)

        def loss():
            f = X
            for layer in layers:
                f = f @ layer
            return ((f - y) ** 2).mean() / 2

        for _ in range(steps):
            optimiser.zero_grad()
            loss().backward()
            optimiser.step()
        hidden = np.array([layer.detach().numpy() for layer in layers[:-1]])
        d = len(layers[-1])
        found = Weights(hidden.reshape(-1, d, d), layers[-1].detach().numpy())
        fitted = X.numpy() @ np.linalg.lstsq(X.numpy(), y.numpy())[0]
        floor = ((fitted - y.numpy()) ** 2).mean() / 2
        return found, loss().item() - floor, ((found.coefficients() - self.teacher[run]) ** 2).sum()


@given(
    seed=st.integers(0, 10**6), depth=st.integers(1, 4), n=st.integers(1, 9), d=st.integers(2, 7),
    start=st.sampled_from(["random", "balanced"]), steps=st.integers(1, 12),
)  # fmt: skip
def test_training_is_that_of_autograd(seed, depth, n, d, start, steps):
    problem = Problem(depth, n, d, start=start, seed=seed)
    trained = problem.train(steps=steps, learning_rate=0.01)
    full = trained.weights.full()
    for run in range(3):
        expected, loss, risk = problem.autograd(run, steps, 0.01)
        close = {"rtol": 1e-9, "atol": 1e-11}
        np.testing.assert_allclose(full.hidden[run], expected.hidden, **close)
        np.testing.assert_allclose(full.readout[run], expected.readout, **close)
        np.testing.assert_allclose(trained.weights.coefficients[run], expected.coefficients(), **close)
        np.testing.assert_allclose(trained.loss[run], loss, **close)
        np.testing.assert_allclose(trained.risk_final[run], risk, **close)


def test_the_population_loss_is_the_distance_of_the_coefficients():
    problem = Problem(depth=2, n=6, d=6, runs=2)
    problem.data, problem.X, problem.targets = (
        [Factored.population(np.ones(6))] * 2,
        np.tile(np.eye(6), (2, 1, 1)),
        None,
    )
    problem.targets = problem.y = problem.teacher
    trained = problem.train(steps=15, learning_rate=0.05)
    for run in range(2):  # of six unit inputs the mean squared error is a sixth of the distance
        expected, loss, _ = problem.autograd(run, 15, rate=0.3)
        np.testing.assert_allclose(trained.weights.coefficients[run], expected.coefficients(), rtol=1e-10)
        assert trained.loss[run] == pytest.approx(6 * loss, rel=1e-9)


def test_networks_that_diverge_are_named():
    problem = Problem(depth=2, runs=4)
    problem.start.hidden[[1, 3]] *= 100
    with pytest.raises(Divergence, match=r"learning rate 0\.05 in runs \[1, 3\]") as error:
        problem.train(steps=100)
    assert error.value.runs == (1, 3)
