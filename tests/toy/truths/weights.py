"""What cases of networks share: inputs, weights and how layers are recorded.

The baseline is the same layer of a third network, drawn as the one before. Weights are orthogonal where units, heads or
channels must carry features of their own.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from sklearn.datasets import load_digits

from toy.truths.case import Recordings

SAMPLES = 2000
Rng = np.random.Generator


@cache
def digits() -> np.ndarray:
    """(1797, 64) pixels of order 1."""
    return (load_digits().data / 8).astype(np.float32)


def normal(rng: Rng, *shape: int) -> torch.Tensor:
    return torch.from_numpy(rng.standard_normal(shape).astype(np.float32))


def orthogonal(rng: Rng, rows: int, columns: int) -> torch.Tensor:
    """Rows of length 1 at right angles."""
    return torch.from_numpy(np.linalg.qr(rng.standard_normal((columns, rows)))[0].T.astype(np.float32))


def built(rng: Rng, build):
    """A module with weights as PyTorch draws them, without touching its generator."""
    with torch.random.fork_rng():
        torch.manual_seed(int(rng.integers(2**31)))
        return build().eval()


def recorded(*layers) -> Recordings:
    """Layers (samples, …) before, after and of the baseline, flattened."""
    return Recordings(*(layer.detach().flatten(1).numpy() for layer in layers))


def three(rng: Rng, draw, see, change) -> Recordings:
    """`see` of a network that is drawn, of the same changed, and of another draw."""
    network = draw(rng)
    return recorded(see(network), see(change(rng, network)), see(draw(rng)))


def low_rank(rng: Rng, weight: torch.Tensor, see) -> torch.Tensor:
    """`weight` and a random update of rank 2 that changes what `see` makes of it by 2 % of its standard deviation."""
    update = normal(rng, weight.shape[0], 2) @ normal(rng, 2, weight.shape[1])
    seen, size = see(weight), 1e-4 * weight.norm() / update.norm()
    change = (see(weight + size * update) - seen).std() / (seen - seen.mean(0)).std()
    return weight + size * 0.02 / change * update
