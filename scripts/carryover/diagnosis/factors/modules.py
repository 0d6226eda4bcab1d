"""A pretrained torch module as finetuning is to begin with it: weights loaded, rescaled, the last layer new."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING

from carryover.errors import UserError
from carryover.networks.convnet_weights import KINDS

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module


def load_rescaled(
    module: Module, state: Mapping[str, Tensor], factor: float, which: str = "weights", head: str | None = None
) -> list[str]:
    """Load pretrained weights into a module, and multiply what is trained of it; returns what is worth a sentence.

    Parameters
    ----------
    module
        Changed in place. Buffers are loaded and never scaled, nor are frozen parameters; shared ones are scaled once.
    state
        The pretrained `state_dict` of the same network but for its head. Integer buffers may be missing.
    which
        "all" that is trained, "weights", parameters of two axes or more with the biases of their layers, or "readout",
        the head alone.
    head
        The layer that begins anew. Without a name it is the last, which is kept where `state` has it in its shape.

    Raises
    ------
    UserError
        For another `factor`, `which` or `head`, a `state` of another network, and where there is nothing to multiply.
    """
    import torch

    check_kind(which)
    if not (math.isfinite(factor) and factor > 0):
        raise UserError(f"factor must be a finite number above 0, got {factor!r}")
    if not isinstance(state, Mapping):
        raise UserError(f"state must be what state_dict() gives, tensors by name, got a {type(state).__name__}")
    last = _head(module, head)
    notes = _load(module, state, last, anew=head is not None)
    chosen = _chosen(module, which, last)
    trained = {name: value for name, value in chosen.items() if value.requires_grad}
    if not trained:
        raise UserError(f"there is nothing to multiply: this {type(module).__name__} has no {which} that is trained")
    if frozen := len(chosen) - len(trained):
        notes.append(f"{frozen} of {len(chosen)} parameters are frozen and stay as they are.")
    with torch.no_grad():
        for value in trained.values():
            value.mul_(factor)
    return notes


def check_kind(which: str) -> None:
    if which not in KINDS:
        raise UserError(f"which must be one of {', '.join(KINDS)}, got {which!r}")


def _head(module: Module, head: str | None) -> str:
    names = [name for name, _ in module.named_parameters(remove_duplicate=False)]
    if head is None:
        return next(reversed(module.state_dict()), "").rpartition(".")[0]
    if not any(_inside(name, head) for name in names):
        layers = dict.fromkeys(name.rpartition(".")[0] for name in reversed(names))
        some = ", ".join([*layers][:3])
        raise UserError(
            f"this {type(module).__name__} has no layer {head!r} with parameters; it has {some}, among others"
        )
    return head


def _inside(name: str, layer: str) -> bool:
    return name == layer or name.startswith(f"{layer}.") or (layer == "" and "." not in name)


def _load(module: Module, state: Mapping[str, Tensor], head: str, anew: bool) -> list[str]:
    own, network = module.state_dict(), type(module).__name__
    parameters = dict(module.named_parameters(remove_duplicate=False))
    in_head = [name for name in own if _inside(name, head)]
    shared = {id(value): name for name, value in parameters.items() if name not in in_head}
    known = {name: tensor for name, tensor in state.items() if name in own and tensor.shape == own[name].shape}
    for name in in_head:
        if anew and name in parameters and id(parameters[name]) in shared:
            raise UserError(
                f"the head {head!r} shares {name!r} with {shared[id(parameters[name])]!r}, which is pretrained: it "
                "cannot begin anew"
            )
    loaded = {id(parameters[name]) for name in known if name in parameters}
    kept = not anew and all(name in known or id(parameters.get(name)) in loaded for name in in_head)
    if not kept:  # the bias of another head may have the right shape by chance
        known = {name: tensor for name, tensor in known.items() if name not in in_head}
    for name, tensor in own.items():
        if name in known or name in in_head or id(parameters.get(name)) in loaded:
            continue
        if name not in parameters and not tensor.is_floating_point():
            continue
        what = f"has {name!r} of the shape {tuple(state[name].shape)}" if name in state else f"lacks {name!r}"
        raise UserError(
            f"state {what}, in this {network} of the shape {tuple(tensor.shape)}: give weights of the same network, of "
            "which the last layer alone may be another (name it with head, where it is not the last)"
        )
    module.load_state_dict(known, strict=False)
    if kept:
        tied = any(id(parameters.get(name)) in shared for name in in_head)
        anew_by = " with what shares its weights" if tied else f": head={head!r} begins it anew"
        return [f"The last layer, {head!r}, is of the pretrained one's shape and kept{anew_by}."]
    return []


def _chosen(module: Module, which: str, head: str) -> dict[str, Tensor]:
    """Parameters by name, each once whatever it is shared by."""
    every = list(module.named_parameters(remove_duplicate=False))
    axes: dict[str, int] = {}
    for name, value in every:
        axes[_layer(name)] = max(axes.get(_layer(name), 0), value.ndim)

    def weighs(name: str, value: Tensor) -> bool:
        return (axes[_layer(name)] if name.endswith("bias") else value.ndim) > 1

    found: dict[int, tuple[str, Tensor]] = {}
    for name, value in every:
        if which == "all" or (weighs(name, value) if which == "weights" else _inside(name, head)):
            found.setdefault(id(value), (name, value))
    return dict(found.values())


def _layer(name: str) -> str:
    """The layer that a parameter is of, however the layer makes its weight."""
    return name.partition(".parametrizations.")[0] if ".parametrizations." in name else name.rpartition(".")[0]


def renew(module: Module, batches: Iterable | Callable[[int], Iterable], seed: int) -> None:
    """Compute the running statistics of normalisation layers anew; UserError where there are none, or no batches."""
    from torch.nn.modules.batchnorm import _BatchNorm
    from torch.optim.swa_utils import update_bn

    if not any(isinstance(layer, _BatchNorm) and layer.track_running_stats for layer in module.modules()):
        raise UserError(f"this {type(module).__name__} has no running statistics of batches that could be renewed")
    given = iter(batches(seed) if callable(batches) else batches)
    if (first := next(given, None)) is None:
        raise UserError("renew_statistics gave no batches: give a loader (iterators are used up), or a function")
    update_bn(chain([first], given), module)
