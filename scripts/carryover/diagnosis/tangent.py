"""Features that a new readout would see, and their gradients, sample by sample.

A readout v·φ(x) of features φ (k,) changes with its own weights like φ, and with those below like ∂(v·φ)/∂θ. Regression
with the sum of both kernels is finetuning as long as features change little (Jacot, Gabriel and Hongler 2018). v is
drawn as PyTorch draws the weights of a linear layer, since that readout does not exist yet.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils._pytree import tree_map_only
from tqdm import tqdm

from carryover.diagnosis.modules import Call, core, evaluating, places, restore_buffers, restore_random_state
from carryover.errors import UserError
from carryover.measures.gradient_sketches import Sums, readout_gradients

_APART = "and a forecast sees each by itself: record activations in batches, and forecast from these"
_ALIKE = 0.01  # difference of features that rounding may make, relative to them


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


def in_full(batch: Any, samples: int) -> Any:
    """The batch with sparse tensors made dense if they have a row for each of its `samples`, to be cut into rows."""

    def fill(one: Tensor) -> Tensor:
        return one.to_dense() if one.layout is not torch.strided and one.ndim and len(one) == samples else one

    return tree_map_only(Tensor, fill, batch)


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
        For a layer that is not called, features that are no tensor, not finite, or of another size at each sample, and
        gradients that are not finite or reach no parameter.
    """
    rows: list[np.ndarray] = []
    sketches: list[np.ndarray] = []
    trained: set[int] = set()  # numbers of the parameters below the features
    parameters, sums = _parameters(network), Sums(seed)
    of = f"features of {layer or 'the network'}"
    with _watch(network, call, layer, gradients, seed) as see:
        for single in tqdm(singles, "samples", file=sys.stderr, leave=False, disable=None):
            features = _flatten(see(single))
            rows.append(features.detach().double().cpu().numpy())
            if len(rows[-1]) != len(rows[0]):
                raise UserError(f"{of} must be as many for each sample, got {len(rows[0])} and {len(rows[-1])}")
            if not np.isfinite(rows[-1]).all():
                raise UserError(f"{of} must be finite, and are not at number {len(rows)} of the different samples")
            if gradients:
                own = readout_gradients(features, parameters, seed)
                trained |= own.keys()
                sketches.append(sums(own))
    if gradients and not trained:
        raise UserError(f"no parameter is trained below the {of}: name a later layer with layer=, or arms=['probe']")
    norm = float(sum(parameters[place].detach().double().square().sum() for place in trained)) ** 0.5
    below = np.array(sketches, np.float64)
    if not np.isfinite(below).all():
        raise UserError(f"gradients of the {of} must be finite")
    return Views(np.stack(rows), below @ below.T if gradients else None, norm)


def refuse_mixing(network: nn.Module, batch: Any, single: Any, call: Call, layer: str) -> None:
    """Raise UserError if the features of a batch's first sample, `single`, depend on the other samples of the batch."""
    for name, part in network.named_modules():
        if isinstance(part, _BatchNorm) and part.running_mean is None:
            raise UserError(f"{name} normalises over the samples of a batch (track_running_stats=False), {_APART}")
    with _watch(network, call, layer, False, 0) as see:
        alone, again, among = see(single), see(single), see(batch)[:1]
    if not (alone.shape == among.shape and alone.is_floating_point() and among.isfinite().all()):
        return  # features that cannot be compared; `look_at` reports those that are not finite
    drawn = bool(alone.isfinite().all()) and not alone.equal(again)  # the network draws random numbers: no comparison
    close = (among - alone).norm() <= max(_ALIKE, 16 * torch.finfo(alone.dtype).eps) * among.norm()
    if not (drawn or close):
        where = f"features of {layer or 'the network'} depend on other samples of a batch"
        raise UserError(f"{where}, as they do where batch_first=False is wrong, {_APART}")


@contextmanager
def _watch(network: nn.Module, call: Call, layer: str, gradients: bool, seed: int) -> Iterator[Callable[[Any], Tensor]]:
    """Yield a function that calls the network with a batch and returns the features at `layer`, (batch, …).

    They are what `layer` receives if it is linear, or else its output; that of the network if `layer` is "". In the
    block the network is in evaluation mode, random numbers begin at `seed`, and all parameters require gradients if
    `gradients`, else none. Afterwards modes, buffers, random states and `requires_grad` are as before.
    """
    held: list[Tensor] = []  # the features of the current call, at most one tensor
    found = places(network, layer) if layer else []
    if len(found) > 1:
        raise UserError(f"layer must be one, and {layer} means {', '.join(place.name for place in found)}")
    part = core(found[0].part) if found else network
    takes_inputs = bool(layer) and isinstance(part, nn.Linear)
    parameters = _parameters(network)
    if any(one.is_inference() for one in parameters):
        raise UserError("the network has parameters made in inference mode, without gradients: make it outside")
    required = [one.requires_grad for one in parameters]

    def keep(_: nn.Module, inputs: tuple, named: dict, output: Any) -> None:
        """Keep the features of the first call; the layers that follow may change them in place."""
        if not held:
            held.append(_first_tensor([*inputs, *named.values()] if takes_inputs else output, layer).clone())

    def see(batch: Any) -> Tensor:
        held.clear()
        call(network, batch)
        if not held:
            raise UserError(f"{layer or 'the network'} is not called: name a layer with layer=")
        return held[0]

    handle = part.register_forward_hook(keep, with_kwargs=True)
    try:
        with (evaluating(network), restore_buffers(network), restore_random_state(seed),
              torch.inference_mode(False), torch.set_grad_enabled(gradients)):  # fmt: skip
            for one in parameters:
                one.requires_grad_(gradients)
            yield see
    finally:
        handle.remove()
        for one, needs in zip(parameters, required, strict=True):
            one.requires_grad_(needs)


def _parameters(network: nn.Module) -> list[nn.Parameter]:
    """Those that have gradients."""
    return [one for one in network.parameters() if one.is_floating_point()]


def _first_tensor(value: Any, layer: str) -> Tensor:
    """The first tensor in nested tuples, lists and mappings, which is taken for the features; UserError if none is."""
    while isinstance(value, Mapping | tuple | list) and value:
        value = next(iter(value.values())) if isinstance(value, Mapping) else value[0]
    if not isinstance(value, Tensor) or value.is_complex():
        raise UserError(f"{layer or 'the network'} gives no tensor of real features: name a layer with layer=")
    return value


def _flatten(value: Tensor) -> Tensor:
    """Features of one sample, (k,): means over rows and columns of images, or over tokens."""
    value = value[0] if value.ndim > 1 and len(value) == 1 else value
    return value.mean(dim=(1, 2)) if value.ndim == 3 else value.mean(dim=0) if value.ndim == 2 else value.flatten()
