"""Small ReLU networks and teachers that learn from all inputs at once, and their losses by autograd."""

import numpy as np
import torch

from carryover.networks.relu import Weights


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
