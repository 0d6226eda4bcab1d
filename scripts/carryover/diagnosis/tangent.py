"""Features that a new readout would see, and their gradients, sample by sample.

A readout v·φ(x) of features φ (k,) changes with its own weights like φ, and with those below like ∂(v·φ)/∂θ. Regression
with the sum of both kernels is finetuning as long as features change little (Jacot, Gabriel and Hongler 2018). v is
drawn as PyTorch draws the weights of a linear layer, since that readout does not exist yet.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map_only
from tqdm import tqdm

from carryover.diagnosis.modules import Call, core, evaluating, places, restore_buffers, restore_random_state
from carryover.errors import UserError
from carryover.streams import generator

SKETCH = 2**16
"""Numbers that the gradient at a sample is projected to where the network has more parameters."""


class Views(NamedTuple):
    """Of a network at n samples: features (n, k); the Gram matrix (n, n) of the gradients of one random readout, or
    None where nobody asked for it; and the norm of all weights."""

    features: np.ndarray
    gradients: np.ndarray | None = None
    norm: float = np.nan

    @property
    def kernels(self) -> list[np.ndarray]:
        """(n, n) kernels: of the features, and of these with the weights below."""
        probe = self.features @ self.features.T
        return [probe] if self.gradients is None else [probe, probe + self.gradients]


def single_samples(batch: Any, samples: int) -> Iterable[Any]:
    """Batches of one sample each of a batch: tensors with as many rows as it has samples are cut, others are kept."""
    for row in range(samples):
        yield tree_map_only(
            Tensor, lambda one: one[row : row + 1] if one.ndim and len(one) == samples else one, batch  # noqa: B023
        )  # fmt: skip


def look_at(network: nn.Module, singles: Iterable[Any], call: Call, layer: str, gradients: bool, seed: int) -> Views:
    """Features and gradients of a network at batches of one sample.

    Parameters
    ----------
    layer
        The layer whose inputs are the features, if it is linear, or else whose outputs are; "" for the network.
    gradients
        Whether gradients by all parameters are taken.
    seed
        Of the readout and of the projection of gradients.

    Raises
    ------
    UserError
        For a layer that is not called, and features that are no tensor, not finite, or of another size at each sample.
    """
    held: list[Any] = []
    part = core(places(network, layer)[0].part) if layer else network
    reads = bool(layer) and isinstance(part, nn.Linear)
    parameters = [one for one in network.parameters() if one.is_floating_point()]
    required = [one.requires_grad for one in parameters]
    handle = part.register_forward_hook(lambda _, inputs, output: held.append(inputs[0] if reads else output))
    rows, sketches = [], []
    try:
        with evaluating(network), restore_buffers(network), restore_random_state(seed):
            for one in parameters:
                one.requires_grad_(gradients)
            for single in tqdm(singles, "samples", file=sys.stderr, leave=False, disable=None):
                held.clear()
                with torch.set_grad_enabled(gradients):
                    call(network, single)
                    features = _flatten(held, layer)
                rows.append(features.detach().double().cpu().numpy())
                if gradients:
                    sketches.append(_sketch(features, parameters, seed))
    finally:
        handle.remove()
        for one, needs in zip(parameters, required, strict=True):
            one.requires_grad_(needs)
    if len({len(row) for row in rows}) > 1 or not np.isfinite(rows).all():
        raise UserError(f"features of {layer or 'the network'} must be finite, and as many for each sample")
    norm = float(sum(one.detach().double().square().sum() for one in parameters)) ** 0.5
    below = np.array(sketches, np.float64)
    return Views(np.stack(rows), below @ below.T if gradients else None, norm)


def _flatten(held: list[Any], layer: str) -> Tensor:
    """Features of one sample, (k,): means over rows and columns of images, or over tokens."""
    value = held[0] if held else None
    while isinstance(value, Mapping | tuple | list) and value:
        value = next(iter(value.values())) if isinstance(value, Mapping) else value[0]
    if not isinstance(value, Tensor):
        raise UserError(f"{layer or 'the network'} gives no tensor of features: name a layer with layer=")
    value = value[0] if value.ndim > 1 and len(value) == 1 else value
    return value.mean(dim=(1, 2)) if value.ndim == 3 else value.mean(dim=0) if value.ndim == 2 else value.flatten()


def _sketch(features: Tensor, parameters: list[nn.Parameter], seed: int) -> np.ndarray:
    """The gradient of a random readout of the features (k,), or `SKETCH` signed sums of it where it is longer.

    Each number is added, with a random sign, to one of the sums (Charikar, Chen and Farach-Colton 2002). The product of
    two sketches is that of the gradients g and g', with a standard deviation below √(2/`SKETCH`) |g||g'|, .006 |g||g'|.
    """
    if not features.requires_grad:  # no weights below the features
        return np.zeros(1)
    drawn = generator("forecast", "", seed, "readout").uniform(-1, 1, len(features)) / np.sqrt(len(features))
    value = torch.as_tensor(drawn).to(features) @ features
    found = torch.autograd.grad(value, parameters, allow_unused=True)
    gradients = [one.detach().flatten().float().cpu() for one in found if one is not None]
    if sum(one.numel() for one in gradients) <= SKETCH:
        return torch.cat(gradients).numpy()
    sums, draws = torch.zeros(SKETCH), torch.Generator().manual_seed(seed)  # the same sums for every sample
    for gradient in gradients:
        numbers = torch.randint(2 * SKETCH, gradient.shape, generator=draws)
        sums.index_add_(0, numbers >> 1, gradient * ((numbers & 1) * 2 - 1))
    return sums.numpy()
