"""Exact risks of ReLU networks, from the arc-cosine Gram matrices of their units, in float64."""

from functools import partial

import torch
from _times import row

from carryover.theory.kernels import relu_risk

DIMENSION, TEACHER_UNITS, NETWORKS = 15, 10, 8


def risks(width, device):
    """What works them out on a device."""
    rng = torch.Generator().manual_seed(0)
    shapes = ((width, DIMENSION), (width,), (TEACHER_UNITS, DIMENSION), (TEACHER_UNITS,))
    arrays = [torch.randn(NETWORKS, *shape, generator=rng, dtype=torch.float64).to(device) for shape in shapes]
    return lambda: len(relu_risk(*arrays).cpu())


def measure(device, smallest=False):
    width = 50 if smallest else 1000
    name = f"exact risks of {NETWORKS} ReLU networks of width {width}"
    yield row(name, partial(risks, width), device, "network")
