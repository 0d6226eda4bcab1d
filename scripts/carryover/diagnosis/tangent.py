"""Features that a new readout would see, and their gradients, sample by sample.

A readout v·φ(x) of features φ (k,) changes with its own weights like φ, and with those below like ∂(v·φ)/∂θ. Regression
with the sum of both kernels is finetuning as long as features change little (Jacot, Gabriel and Hongler 2018). v is
drawn as PyTorch draws the weights of a linear layer, since that readout does not exist yet.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map_only
from tqdm import tqdm

from carryover.diagnosis.modules import Call, core, evaluating, places, restore_buffers, restore_random_state
from carryover.errors import UserError
from carryover.measures.gradient_sketches import Sums, readout_gradients


class Views(NamedTuple):
    """Of a network at n samples: features (n, k); the Gram matrix (n, n) of the gradients of one random readout, or
    None where nobody asked for it; and the norm of the weights below."""

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
    held: list[Tensor] = []
    found = places(network, layer) if layer else []
    if len(found) > 1:
        raise UserError(f"layer must be one, and {layer} means {', '.join(place.name for place in found)}")
    part = core(found[0].part) if found else network
    reads = bool(layer) and isinstance(part, nn.Linear)
    parameters = [one for one in network.parameters() if one.is_floating_point()]
    if any(one.is_inference() for one in parameters):
        raise UserError("the network has parameters made in inference mode, without gradients: make it outside")
    required = [one.requires_grad for one in parameters]

    def keep(_: nn.Module, inputs: tuple, named: dict, output: Any) -> None:
        """Keep the features of the first call; the layers that follow may change them in place."""
        if not held:
            held.append(_flatten([*inputs, *named.values()] if reads else output, layer).clone())

    handle = part.register_forward_hook(keep, with_kwargs=True)
    rows: list[np.ndarray] = []
    sketches: list[np.ndarray] = []
    trained: set[int] = set()  # numbers of the parameters below the features
    sums = Sums(seed)
    try:
        with ExitStack() as stack:
            for context in (evaluating(network), restore_buffers(network), restore_random_state(seed)):
                stack.enter_context(context)
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(torch.set_grad_enabled(gradients))
            for one in parameters:
                one.requires_grad_(gradients)
            for single in tqdm(singles, "samples", file=sys.stderr, leave=False, disable=None):
                held.clear()
                call(network, single)
                if not held:
                    raise UserError(f"{layer or 'the network'} is not called: name a layer with layer=")
                rows.append(held[0].detach().double().cpu().numpy())
                if gradients:
                    own = readout_gradients(held[0], parameters, seed)
                    trained |= own.keys()
                    sketches.append(sums(own))
    finally:
        handle.remove()
        for one, needs in zip(parameters, required, strict=True):
            one.requires_grad_(needs)
    if len({len(row) for row in rows}) > 1 or not np.isfinite(rows).all():
        raise UserError(f"features of {layer or 'the network'} must be finite, and as many for each sample")
    norm = float(sum(parameters[place].detach().double().square().sum() for place in trained)) ** 0.5
    below = np.array(sketches, np.float64)
    if not np.isfinite(below).all():
        raise UserError(f"gradients of the features of {layer or 'the network'} must be finite")
    return Views(np.stack(rows), below @ below.T if gradients else None, norm)


def _flatten(value: Any, layer: str) -> Tensor:
    """Features of one sample, (k,): means over rows and columns of images, or over tokens."""
    while isinstance(value, Mapping | tuple | list) and value:
        value = next(iter(value.values())) if isinstance(value, Mapping) else value[0]
    if not isinstance(value, Tensor):
        raise UserError(f"{layer or 'the network'} gives no tensor of features: name a layer with layer=")
    value = value[0] if value.ndim > 1 and len(value) == 1 else value
    return value.mean(dim=(1, 2)) if value.ndim == 3 else value.mean(dim=0) if value.ndim == 2 else value.flatten()
