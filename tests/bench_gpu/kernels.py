"""Exact risks of ReLU networks, from the arc-cosine Gram matrices of their units, in float64."""

import torch
from _times import row

from carryover.theory.kernels import relu_risk

DIMENSION, WIDTH, TEACHER_UNITS, NETWORKS = 15, 1000, 10, 8


def risks(device):
    """What works them out on a device."""
    rng = torch.Generator().manual_seed(0)
    shapes = ((WIDTH, DIMENSION), (WIDTH,), (TEACHER_UNITS, DIMENSION), (TEACHER_UNITS,))
    arrays = [torch.randn(NETWORKS, *shape, generator=rng, dtype=torch.float64).to(device) for shape in shapes]
    return lambda: len(relu_risk(*arrays).cpu())


def measure(device):
    return [row(f"exact risks of {NETWORKS} ReLU networks of width {WIDTH}", risks, device, "network")]
