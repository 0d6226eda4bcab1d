"""A network of the same shape that has learnt nothing: what unrelated features look like to the measures."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parameter import is_lazy
from torch.nn.utils import parametrize

from carryover.diagnosis.modules import core, device_of, generators_restored
from carryover.errors import UserError


def reinitialised(module: nn.Module, seed: int = 0) -> nn.Module:
    """A copy of the network, without wrappers around it, whose parameters are drawn anew.

    Each part with `reset_parameters` draws its own, inner parts first, and statistics that it gathers are reset, too.
    Networks of HuggingFace then draw theirs as they do at the start, and a part with `init_weights` draws what is left
    in it. The given network and the state of random numbers are left as they were.

    Raises
    ------
    UserError
        Where nothing can be reset, or the network cannot be copied. Parameters that nothing resets keep their values,
        and a warning names them.
    """
    if any(is_lazy(one) for one in module.parameters()):
        raise UserError("the network has parameters without a shape yet: call it with a batch first")
    try:
        made = copy.deepcopy(core(module))
    except (RuntimeError, TypeError, AttributeError) as error:
        raise UserError(f"the network cannot be copied ({error}): give baseline= a network or None") from None
    parameters = {name: one for name, one in made.named_parameters() if one.is_floating_point() or one.is_complex()}
    before = {name: one.detach().clone() for name, one in (*parameters.items(), *made.named_buffers())}
    parts = _inner_first(made)
    with torch.no_grad(), generators_restored(device_of(made)):
        torch.manual_seed(seed)
        for one in parameters.values():
            one.fill_(float("nan"))  # which no way of drawing leaves behind
        for part in parts:
            _reset(part)
        _reset_as_huggingface(made)
        for part in parts:
            whole = getattr(part, "init_weights", None)
            if callable(whole) and any(bool(one.isnan().any()) for one in part.parameters()):
                with suppress(TypeError):  # for one that needs arguments
                    whole()
        left = [name for name, one in parameters.items() if one.isnan().any()]
        for name, value in (*parameters.items(), *made.named_buffers()):
            if name in before and value.isnan().any():  # buffers, too, that were computed of parameters meanwhile
                value.copy_(before[name])
    if len(left) == len(parameters):
        raise UserError(
            "no parameter of the network can be reset, so it has no re-initialised baseline: give baseline= a network "
            "of the same shape that is made anew, or None"
        )
    if left:
        some = ", ".join(left[:5]) + (f" and {len(left) - 5} more" if len(left) > 5 else "")
        keeps = f"the re-initialised baseline keeps what nothing resets: {some}"
        warnings.warn(f"{keeps}; give baseline= a network made anew where that matters", stacklevel=3)
    return made


def _inner_first(module: nn.Module) -> list[nn.Module]:
    """Each part once, as makers of networks draw: a part after those that it consists of."""
    found: list[nn.Module] = []
    module.apply(found.append)
    return list(dict.fromkeys(found))


def _reset(part: nn.Module) -> None:
    draw = getattr(part, "reset_parameters", None) or getattr(part, "_reset_parameters", None)
    if not callable(draw):
        return
    with parametrize.cached():  # so that a weight that is computed of others can be drawn in place
        draw()
        drawn = {name: getattr(part, name) for name in getattr(part, "parametrizations", ())}
    for name, value in drawn.items():
        setattr(part, name, value)


def _reset_as_huggingface(module: nn.Module) -> None:
    """Draw weights as the library's own models do when they are made."""
    models: list[Any] = [part for part in module.modules() if callable(getattr(part, "_init_weights", None))]
    for model in models[:1]:  # the outermost: those inside have the same rules
        for one in (*model.modules(), *model.parameters()):
            if hasattr(one, "_is_hf_initialized"):
                one._is_hf_initialized = False
        for part in _inner_first(model):
            model._init_weights(part)


def normalisations(module: nn.Module) -> list[_BatchNorm]:
    """Layers with running statistics of batches."""
    return [one for one in module.modules() if isinstance(one, _BatchNorm) and one.track_running_stats]


def renew_statistics(module: nn.Module, call: Callable[[Any], Any], batches: Iterable[Any]) -> None:
    """Compute statistics of batch normalisation as means over batches; without, deep layers hardly vary."""
    layers = normalisations(module)
    modes = {part: part.training for part in module.modules()}
    momenta = [layer.momentum for layer in layers]
    module.eval()
    for layer in layers:
        layer.reset_running_stats()
        layer.train()
        layer.momentum = None  # the mean of all batches
    with torch.no_grad():
        for batch in batches:
            with suppress(ValueError):  # of a batch of one sample
                call(batch)
    for layer, momentum in zip(layers, momenta, strict=True):
        layer.momentum = momentum
    for part, mode in modes.items():
        part.training = mode
