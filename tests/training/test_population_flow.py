"""Gradient flow on the population loss against SciPy's integrator with gradients by autograd, and what rests."""

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp

from carryover.networks.relu import Weights
from carryover.training.population_flow import population_flow


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def ensemble(seed=0, runs=3, D=4, H=6, K=3, length=0.7):
    """Teacher and networks."""
    rng = np.random.default_rng(seed)
    teacher = Weights(unit(rng.standard_normal((runs, K, D))), rng.standard_normal((runs, 1, K)))
    first = length * rng.uniform(0.5, 1.5, (runs, H, 1)) * unit(rng.standard_normal((runs, H, D)))
    return teacher, Weights(first, 0.5 * rng.standard_normal((runs, 1, H)))


def kernel(W, V):
    """The arc-cosine kernel, written for autograd."""
    lengths = W.norm(dim=-1)[:, None] * V.norm(dim=-1)
    u = (W @ V.mT / lengths).clamp(-1 + 1e-15, 1 - 1e-15)
    return lengths * ((1 - u**2).sqrt() + (torch.pi - u.acos()) * u) / (2 * torch.pi)


def differentiated(teacher, weights, run):
    """Loss and both gradients of one run by autograd; a unit's kernel with itself is |v|²/2, where acos has none."""
    first, second = (torch.tensor(w[run], requires_grad=True) for w in (weights.first, weights.second[:, 0]))
    directions, readout = torch.tensor(teacher.first[run]), torch.tensor(teacher.second[run, 0])
    own = kernel(first, first)
    diagonal = torch.eye(len(second), dtype=torch.bool)
    own = torch.where(diagonal, torch.diag((first**2).sum(1) / 2), torch.where(diagonal, 0.0, own).nan_to_num())
    own = own if len(second) > 1 else (first**2).sum(1, keepdim=True) / 2
    cross, power = kernel(first, directions), kernel(directions, directions)
    loss = (second @ own @ second - 2 * second @ cross @ readout + readout @ power @ readout) / 2
    return loss, *torch.autograd.grad(loss, (first, second))


PRECISE = {"precision": "float64", "device": "cpu"}


def integrated(teacher, start, run, time, anchor):
    """Weights of one run after flow on the sphere, by SciPy with gradients by autograd."""
    begin, D = start.first[run], start.first.shape[2]
    one = Weights(teacher.first[run : run + 1], teacher.second[run : run + 1])

    def velocity(_, packed):
        units = packed.reshape(len(begin), D + 1)
        first, second = units[:, :D], units[:, D]
        _, first_force, second_force = differentiated(one, Weights(first[None], second[None, None]), 0)
        force = first_force.numpy() + anchor * (first - begin)
        force -= unit(first) * (unit(first) * force).sum(1, keepdims=True)
        return -np.hstack([force, second_force.numpy()[:, None]]).ravel()

    packed = np.hstack([begin, start.second[run, 0][:, None]]).ravel()
    end = solve_ivp(velocity, (0, time), packed, rtol=1e-8, atol=1e-10).y[:, -1].reshape(len(begin), D + 1)
    return end[:, :D], end[:, D]


@pytest.mark.parametrize("anchor", [0.0, 0.5])
def test_the_flow_is_that_of_an_integrator_with_gradients_by_autograd(anchor):
    teacher, start = ensemble(1, runs=2, D=3, H=4, K=2)
    exact = [integrated(teacher, start, run, 30.0, anchor) for run in range(2)]
    errors = []
    for accuracy in (0.01, 0.0001):
        trained = population_flow(
            teacher, start, tolerance=0, max_time=30.0, accuracy=accuracy, anchor=anchor, **PRECISE
        )
        np.testing.assert_array_equal(np.nanmax(trained.time, 1), 30.0)
        first, second = (np.stack(layer) for layer in zip(*exact, strict=True))
        errors.append(
            max(np.abs(trained.weights.first - first).max(), np.abs(trained.weights.second[:, 0] - second).max())
        )
    assert errors[1] < 0.003
    assert errors[1] < errors[0] / 5


def test_what_does_not_move_has_converged_or_waits():
    teacher, start = ensemble(8)
    silent, still = Weights(teacher.first, 0 * teacher.second), Weights(start.first, 0 * start.second)
    done = population_flow(silent, still, tolerance=0, max_time=10.0, device="cpu")
    assert done.converged.all()
    np.testing.assert_allclose(done.weights.first, start.first, rtol=1e-15)
    apart = Weights(-np.eye(4)[None, :1], np.ones((1, 1, 1)))  # of which this unit sees nothing: it is never to learn
    unit_of = Weights(np.eye(4)[None, :1], np.zeros((1, 1, 1)))
    waits = population_flow(apart, unit_of, tolerance=0, max_time=10.0, device="cpu")
    assert not waits.converged.any()
    np.testing.assert_array_equal(waits.weights.second, 0)
    assert waits.loss[0] == pytest.approx(0.25)
