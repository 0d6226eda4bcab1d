"""Wide ReLU networks: what a run is alone, and solvers against plain loops, sampling, and each other."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from carryover.families.wide_relu import finetune, pretrain
from toy.wide_relu_toys import followed, pretrained


@pytest.fixture(scope="module")
def start():
    return pretrained()


@given(st.floats(0, 2), st.integers(0, 100), st.integers(2, 20))
def test_targets_are_unit_vectors_at_their_distance(distance, seed, dimension):
    source, target = (pretrain.teacher(np.random.default_rng(seed), dimension, far) for far in (0.0, distance))
    assert np.linalg.norm(target) == pytest.approx(1)
    assert np.linalg.norm(target - source) == pytest.approx(distance, abs=1e-12)


def plain(first, signs, X, y, rate, tolerance):
    """The first layer after gradient descent on half the sum of squares, as the paper writes it, by autograd."""
    w = torch.tensor(first, requires_grad=True)
    X, y, signs = torch.tensor(X), torch.tensor(y), torch.tensor(signs)
    while True:
        loss = ((torch.relu(X @ w.T) @ signs / len(signs) ** 0.5 - y) ** 2).sum() / 2
        if 2 * loss.item() / len(y) <= tolerance:
            return w.detach().numpy()
        (gradient,) = torch.autograd.grad(loss, w)
        with torch.no_grad():
            w -= rate * gradient


def test_the_distance_of_gram_matrices_is_that_of_gradients_from_their_mean_over_weights(start):
    data, problem, trained = followed(start, samples=(5,), distance=(1.0,))
    rng = np.random.default_rng(2)
    for run, network in enumerate(problem.task.sets):
        X, (first, second) = problem.task.X[network], (trained.weights.first[run], trained.weights.second[run, 0])
        w, inputs, readout = (torch.tensor(array, dtype=torch.float64) for array in (first, X, second))
        gradient = torch.autograd.functional.jacobian(lambda w: torch.relu(inputs @ w.T) @ readout, w).numpy()  # noqa: B023
        on = (X @ rng.standard_normal((400_000, 4)).T > 0).astype(float)
        endless = X @ X.T * (on @ on.T) / 400_000
        distance = np.linalg.norm(np.einsum("imd, jmd", gradient, gradient) - endless) / np.linalg.norm(endless)
        assert data["gram_distance"].values[run] == pytest.approx(distance, rel=0.02)


def test_risks_are_means_over_new_inputs(start, monkeypatch):
    monkeypatch.setattr(finetune, "TEST_SAMPLES", 40_000)
    data, problem, trained = followed(start, distance=(0.5, 1.5))
    for run, network in enumerate(problem.task.sets):
        x = problem.tests[network]
        wanted = x @ problem.teacher[run]
        errors = np.maximum(x @ trained.weights.first[run].T, 0) @ trained.weights.second[run, 0] - wanted
        square = errors**2
        assert abs(square.mean() - data["risk_final"].values[run]) < 4 * square.std() / 200
        np.testing.assert_allclose(data["absolute_risk"][run], np.minimum(abs(errors), 1).mean(), rtol=1e-9)
        before = np.maximum(x @ problem.start.first[network].T, 0) @ problem.start.second[network, 0] - wanted
        np.testing.assert_allclose(data["start_risk"][run], np.minimum(abs(before), 1).mean(), rtol=1e-9)


def test_the_limit_is_the_linearised_training_of_a_very_wide_network():
    """Its tangent features, sampled: the least change of weights that fits is the end of gradient flow."""
    data, problem, trained = followed(solver="exact", samples=(5,), distance=(1.0,), seeds=(0,))
    w = np.random.default_rng(0).standard_normal((40_000, 4))
    X, x, f0 = problem.task.X[0], problem.tests[0], problem.start.outputs

    def features(inputs):
        return ((inputs @ w.T > 0)[..., None] * inputs[:, None] / np.sqrt(len(w))).reshape(len(inputs), -1)

    change = features(X).T @ np.linalg.solve(features(X) @ features(X).T, problem.task.y[0] - f0(X)[0, :, 0])
    expected = f0(x)[0, :, 0] + features(x) @ change
    risk = ((expected - x @ problem.teacher[0]) ** 2).mean()
    assert data["risk_final"].item() == pytest.approx(risk, rel=0.03)
    assert data["loss"].item() < 1e-25
    assert data["tangent_distance"].item() == 0
    assert trained.weights is None


def test_the_norms_are_those_of_the_gram_matrix_by_sampling(start):
    data, problem, _ = followed(start, samples=(3,), distance=(0.5,))
    w = np.random.default_rng(1).standard_normal((400_000, 4))
    for run, network in enumerate(problem.task.sets):
        X = problem.task.X[network]
        gates = (X @ w.T > 0).astype(float)
        inverse = np.linalg.inv(X @ X.T * (gates @ gates.T) / len(w))
        source = start["source"].values[run].astype(float)
        residual = problem.task.y[run] - problem.start.outputs(X)[network, :, 0]
        for name, y in (("ntk_norm", residual), ("ntk_norm_linear", X @ (problem.teacher[run] - source))):
            assert data[name].values[run] == pytest.approx(np.sqrt(y @ inverse @ y), rel=0.01)
        assert data["bound"].values[run] == pytest.approx(2 * data["ntk_norm"].values[run] / np.sqrt(3))
        assert data["corollary"].values[run] == pytest.approx(1.5)


@pytest.mark.parametrize("protocol", ["single_task", "finetuning"])
def test_the_flow_is_descent_with_ever_smaller_steps(start, protocol):
    given = start if protocol == "finetuning" else None
    told = {"distance": (1.0,), "tolerance": 1e-3, "seeds": (0,)}
    flow, problem, trained = followed(given, accuracy=0.001, max_steps=100_000, **told)
    assert flow["protocol"].values.tolist() == [protocol]
    np.testing.assert_array_equal(trained.weights.second, problem.start.second[problem.task.sets])
    for run, network in enumerate(problem.task.sets):
        start_of = problem.start.first[network], np.sign(problem.start.second[network, 0])
        data = problem.task.X[network], problem.task.y[run]
        coarse, fine = (plain(*start_of, *data, rate, 1e-3) for rate in (0.08, 0.04))
        x, signs = problem.tests[network], trained.weights.second[run, 0]
        far, near = (np.maximum(x @ first.T, 0) @ signs for first in (coarse, fine))
        found = trained.weights[run].outputs(x)[:, 0]
        np.testing.assert_allclose(found, 2 * near - far, rtol=0, atol=0.01 * np.abs(found).max())
        assert flow["loss"].values[run] <= 1e-3
