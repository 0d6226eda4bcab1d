"""Gradient descent on the population loss against autograd, sampling, plain loops and the same networks on samples."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from carryover.networks.relu import Weights
from carryover.training.population import Group, population_descent
from carryover.training.result import Divergence
from toy.population_ensembles import differentiated, ensemble, unit

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


def test_runs_that_diverge_are_named():
    teacher, weights = ensemble(12)
    teacher.second[0] = weights.second[0] = 0  # nothing moves
    with pytest.raises(Divergence) as caught:
        population_descent(teacher, weights, learning_rate=200.0, tolerance=0, max_steps=50, device="cpu")
    assert caught.value.runs == (1, 2)
