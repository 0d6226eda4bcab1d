"""Gradient flow of ReLU networks against autograd and plain descent, what it conserves, and where it ends."""

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from carryover.networks.relu import Weights
from carryover.training import relu_flow
from carryover.training.relu import Samples, gradient_descent
from carryover.training.relu_flow import gradient_flow
from carryover.training.relu_tangent import Tangent
from carryover.training.result import Divergence
from toy.relu_ensembles import ensemble, part

CPU = torch.device("cpu")


def tangent_of(tasks, w, loss="squared", trainable=("first", "second"), on_sphere=False):
    first, second = torch.tensor(w.first), torch.tensor(w.second)
    lengths = first.norm(dim=2, keepdim=True) if on_sphere else None
    tangent = Tangent(tasks, np.arange(len(first)), loss, CPU, trainable, lengths)
    return tangent, tangent.at(first, second)


def jacobian(tasks, w, run, trainable, on_sphere):
    """Of all outputs with respect to the weights of one run, (N, H·D + O·H), by autograd."""
    first, second = torch.tensor(w.first[run]), torch.tensor(w.second[run])

    def outputs(first, second):
        if on_sphere:
            first = first * (torch.tensor(w.first[run]).norm(dim=1) / first.norm(dim=1))[:, None]
        return torch.cat(
            [torch.relu(torch.tensor(t.X[t.sets[run]]) @ first.T) @ second[o] for o, t in enumerate(tasks)]
        )

    parts = torch.autograd.functional.jacobian(outputs, (first, second))
    parts = parts if "second" in trainable else (parts[0], torch.zeros_like(parts[1]))
    return torch.cat([one.flatten(1) for one in parts], 1)


@pytest.mark.parametrize("on_sphere", [False, True])
@pytest.mark.parametrize("trainable", [("first", "second"), ("first",)])
@pytest.mark.parametrize("samples", [(5,), (5, 3)])
def test_tangent_features_are_those_of_autograd(samples, trainable, on_sphere):
    tasks, w = ensemble(samples=samples)
    tangent, point = tangent_of(tasks, w, "squared", trainable, on_sphere)
    vector = torch.randn(3, 6, 4, dtype=torch.float64), torch.randn(3, len(samples), 6, dtype=torch.float64)
    values = torch.randn(3, sum(samples), dtype=torch.float64)
    factors = torch.rand(3, sum(samples), dtype=torch.float64)
    times, kernel = tangent.times(point, vector), tangent.kernel(point, factors)
    back = tangent.apply_transpose(point, values.split(samples, 1))
    for run in range(3):
        J = jacobian(tasks, w, run, trainable, on_sphere)
        torch.testing.assert_close(times[run], J @ torch.cat([one[run].flatten() for one in vector]))
        torch.testing.assert_close(torch.cat([one[run].flatten() for one in back]), J.T @ values[run])
        expected = torch.tril(factors[run, :, None] * (J @ J.T) * factors[run])
        torch.testing.assert_close(torch.tril(kernel[run].double()), expected, rtol=1e-5, atol=1e-5)


def teacher_problem(seed, samples, runs=2, D=6, H=20, scale=0.2, features=2):
    """Students of a teacher, that can reach it."""
    tasks, w = ensemble(seed, runs, samples, D, H, scale)
    rng = np.random.default_rng(seed)
    for task in tasks:
        directions = rng.standard_normal((runs, features, D)) / D**0.5
        task.y[:] = np.maximum(np.einsum("rnd,rkd->rnk", task.X[task.sets], directions), 0).sum(2)
    return tasks, w


def predictions(weights, seed=1):
    """On inputs that no run was trained on, (runs, outputs, 200)."""
    X = np.random.default_rng(seed).standard_normal((200, weights.first.shape[-1]))
    return weights.second @ np.maximum(weights.first @ X.T, 0)


@settings(max_examples=3)
@given(seed=st.integers(0, 10**6), samples=st.sampled_from([(4,), (8,), (6, 4)]))
def test_descent_with_ever_smaller_steps_goes_where_the_flow_goes(seed, samples):
    tasks, w = teacher_problem(seed, samples)
    asked = {"tolerance": 1e-7, "device": "cpu"}  # where each stops below it must not tell them apart
    flow = predictions(gradient_flow(tasks, w, accuracy=0.001, max_steps=50_000, **asked).weights)
    rates = (0.01, 0.005)
    coarse, fine = (
        predictions(
            gradient_descent(tasks, w, learning_rate=rate, max_epochs=100_000, precision="float64", **asked).weights
        )
        for rate in rates
    )
    limit = 2 * fine - coarse  # the error of descent is of first order in its step
    size = np.sqrt((limit**2).mean((1, 2)))
    assert (np.sqrt(((flow - limit) ** 2).mean((1, 2))) <= 0.01 * size).all()


@pytest.mark.parametrize("train", [
    partial(gradient_flow, max_steps=50_000),
    partial(gradient_descent, learning_rate=0.01, max_epochs=100_000, precision="float64"),
])  # fmt: skip
def test_every_run_stops_at_the_tolerance_of_its_own(train):
    tasks, w = teacher_problem(5, (8,), runs=3, scale=0.5)
    wanted = np.array([1e-2, 1e-6, 1e-4])
    trained = train(tasks, w, tolerance=wanted, device="cpu")
    alone = [train(*part(tasks, w, run), tolerance=one, device="cpu") for run, one in enumerate(wanted)]
    assert (trained.loss <= wanted).all()
    assert (trained.loss > wanted / 100).all()
    np.testing.assert_allclose(trained.loss, [one.loss[0] for one in alone], rtol=1e-2)


def unit(X, y, weights):
    """The task of one unit with a fixed readout of 1, and the unit."""
    one = np.array([0])
    return [Samples(np.array([X], float), np.array([y], float), one)], Weights(
        np.array([[weights]]), np.ones((1, 1, 1))
    )


@pytest.mark.parametrize(("samples", "width"), [(4, 6), (40, 10), (40, 100)])
def test_samples_that_contradict_each_other_end_at_the_smallest_loss(samples, width):
    tasks, w = ensemble(samples=(samples,), D=12, H=width)
    tasks[0].X[:, 1], tasks[0].y[:, 1] = tasks[0].X[:, 0], tasks[0].y[:, 0] + 1
    trained = gradient_flow(tasks, w, tolerance=1e-8, device="cpu")
    assert not trained.converged.any()
    assert (trained.evaluations < 1000).all()  # of the 10 000 that were granted
    if width == 100:  # of all samples two differ by 1
        np.testing.assert_allclose(trained.loss, 0.5 / samples, rtol=1e-6)
        assert trained.measured["at_rest"].all()
    assert np.isfinite(trained.weights.first).all()


@pytest.mark.parametrize("start", [[0.5, 0.5], [-0.2, 1.3], [0.3, 1.2]])
def test_a_unit_slides_along_a_kink(start):
    """The first sample pushes it to where it does not respond, the second one back, and on along the kink."""
    tasks, w = unit([[1, 0], [1, 1]], [-1, 2], start)
    trained = gradient_flow(tasks, w, tolerance=0.5001, trainable="first", device="cpu")
    assert trained.converged.all()
    assert trained.evaluations[0] < 500
    np.testing.assert_allclose(trained.weights.first[0, 0], [0, 2], atol=0.03)


@pytest.mark.parametrize("start", [[0.5, 0.5], [-0.2, 1.3], [0.3, 1e-3]])
def test_a_run_that_stays_at_a_kink_ends_there(start):
    """Two samples push the unit to the kink from both sides, so that the gradient never gets small."""
    tasks, w = unit([[1, 0], [-1, 0], [0, 1]], [-1, -1, 1], start)
    trained = gradient_flow(tasks, w, tolerance=1e-3, trainable="first", device="cpu")
    assert not trained.converged.any()
    assert not trained.measured["at_rest"].any()
    assert trained.evaluations[0] < 5000
    assert 2 / 3 <= trained.loss[0] < 0.68
    np.testing.assert_allclose(trained.weights.first[0, 0], [0, 1], atol=0.01)


def test_a_network_that_responds_to_nothing_ends_where_it_begins():
    tasks, w = unit([[1, 0], [1, 1]], [1, 1], [-1.0, -1.0])
    trained = gradient_flow(tasks, w, tolerance=1e-3, device="cpu")
    assert (trained.converged[0], trained.evaluations[0], trained.loss[0]) == (False, 1, 1.0)
    assert trained.measured["at_rest"][0]
    np.testing.assert_array_equal(trained.weights.first, w.first)


def test_runs_without_a_finite_loss_are_named(monkeypatch):
    monkeypatch.setitem(relu_flow.BYTES, "cpu", 1)  # a run at a time
    tasks, w = ensemble()
    w.first[1] *= 1e200
    with pytest.raises(Divergence, match="lost its finite values") as caught:
        gradient_flow(tasks, w, tolerance=1e-3, device="cpu")
    assert list(caught.value.runs) == [1]
