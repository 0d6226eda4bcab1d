"""Gradient descent on the population loss against autograd, sampling, plain loops and the same networks on samples."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from carryover.networks.relu import Weights
from carryover.training import population
from carryover.training.population import Group, population_descent
from carryover.training.result import Divergence
from rounding import share
from toy.population_ensembles import differentiated, ensemble, unit
from toy.relu_ensembles import assert_same

PRECISE = {"precision": "float64", "device": "cpu"}
invariant = settings(derandomize=True, deadline=None, max_examples=25)


def group(teacher, weights, rate=0.1, anchor=0.0, dtype=torch.float64):
    runs = np.arange(len(weights.first))
    return Group(runs, weights, teacher, rate, np.full(len(runs), anchor), dtype, torch.device("cpu"))


def forces(group):
    """∂L/∂v (R, H, D) and ∂L/∂a (R, H) as a step uses them."""
    G, (first, second) = group.gradient(), group.weights()
    return second[:, 0, :, None] * G, (first * G).sum(2)


def plain(teacher, weights, rate, steps, anchor=0.0):
    """The networks after some steps, one at a time, by autograd."""
    found = []
    for run in range(len(weights.first)):
        first, second = weights.first[run].copy(), weights.second[run, 0].copy()
        start, lengths = first.copy(), np.linalg.norm(first, axis=1, keepdims=True)
        for _ in range(steps):
            now = Weights(first[None], second[None, None])
            one = Weights(teacher.first[run : run + 1], teacher.second[run : run + 1])
            _, first_force, second_force = differentiated(one, now, 0)
            first = first - rate * (first_force.numpy() + anchor * (first - start))
            second = second - rate * second_force.numpy()
            first *= lengths / np.linalg.norm(first, axis=1, keepdims=True)
        found.append((first, second))
    return [np.stack(values) for values in zip(*found, strict=True)]


@invariant
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 6), st.integers(1, 4), st.floats(0.1, 3))
def test_loss_and_gradient_are_those_of_autograd(seed, D, H, K, length):
    teacher, weights = ensemble(seed, 2, D, H, K, length)
    trained = group(teacher, weights)
    first, second = forces(trained)
    for run in range(2):
        loss, *expected = differentiated(teacher, weights, run)
        np.testing.assert_allclose(trained.losses()[run], loss.item(), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(first[run], expected[0], rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(second[run], expected[1], rtol=1e-7, atol=1e-9)


def test_the_gradient_is_the_mean_over_inputs():
    teacher, weights = ensemble(1, runs=1)
    X = np.random.default_rng(2).standard_normal((200_000, 4))
    error = weights.outputs(X)[0] - teacher.outputs(X)[0]
    open_units = (X @ weights.first[0].T > 0).astype(float)
    samples = error[:, :, None] * open_units[:, :, None] * X[:, None, :]
    found = group(teacher, weights).gradient()[0].numpy()
    assert (np.abs(samples.mean(0) - found) < 5 * samples.std(0) / np.sqrt(len(X))).all()


@pytest.mark.parametrize("anchor", [0.0, 0.8])
def test_steps_are_those_of_a_plain_loop_on_the_sphere(anchor):
    teacher, weights = ensemble(3)
    trained = population_descent(
        teacher, weights, learning_rate=0.2, tolerance=0, max_steps=15, anchor=anchor, **PRECISE
    )
    first, second = plain(teacher, weights, 0.2, 15, anchor)
    np.testing.assert_allclose(trained.weights.first, first, rtol=0, atol=1e-7)
    np.testing.assert_allclose(trained.weights.second[:, 0], second, rtol=0, atol=1e-7)
    lengths = (np.linalg.norm(one.first, axis=2) for one in (trained.weights, weights))
    np.testing.assert_allclose(*lengths, rtol=1e-12)
    assert (trained.evaluations == 15).all()
    assert not trained.converged.any()


def test_single_precision_follows_double_even_between_parallel_units():
    teacher, weights = ensemble(9, D=8, H=40, K=5)
    weights.first[:, 20:] = unit(weights.first[:, :20] + 1e-5) * 0.7
    double, single = (group(teacher, weights, dtype=kind).gradient() for kind in (torch.float64, torch.float32))
    size = np.abs(weights.second).sum() + np.abs(teacher.second).sum()
    assert (double - single).abs().max() < 3e-7 * size


@pytest.mark.portable
def test_a_run_is_the_same_alone_as_in_a_batch(monkeypatch):
    teacher, weights = ensemble(10, runs=5)
    told = {"learning_rate": 0.2, "tolerance": 1e-2, "max_steps": 300, **PRECISE}
    together = population_descent(teacher, weights, **told)
    assert len(set(together.evaluations.tolist())) > 2
    monkeypatch.setitem(population.BYTES, "cpu", 1)
    alone = population_descent(teacher, weights, **told)
    assert_same(alone, together, share=share("float64", 300, 4 + 6 + 3))


def test_units_without_a_coefficient_are_padding():
    teacher, weights = ensemble(11)
    padded = Weights(
        np.concatenate([teacher.first, teacher.first[:, ::-1]], 1), np.pad(teacher.second, ((0, 0), (0, 0), (0, 3)))
    )
    told = {"learning_rate": 0.2, "tolerance": 0, "max_steps": 9, **PRECISE}
    one, other = (population_descent(t, weights, **told) for t in (teacher, padded))
    np.testing.assert_allclose(one.weights.first, other.weights.first, rtol=1e-12)
    np.testing.assert_allclose(one.loss, other.loss, rtol=1e-12)


@pytest.mark.parametrize(
    ("told", "named"),
    [
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"max_steps": 0}, "max_steps"),
        ({"anchor": np.nan}, "anchor"),
    ],
)
def test_bad_numbers_are_refused_by_name(told, named):
    settings = {"learning_rate": 0.1, "tolerance": 0.0, "max_steps": 2, "device": "cpu", **told}
    with pytest.raises(ValueError, match=named):
        population_descent(*ensemble(), **settings)


def test_runs_that_diverge_are_named():
    teacher, weights = ensemble(12)
    teacher.second[0] = weights.second[0] = 0  # nothing moves
    with pytest.raises(Divergence) as caught:
        population_descent(teacher, weights, learning_rate=200.0, tolerance=0, max_steps=50, device="cpu")
    assert caught.value.runs == (1, 2)
