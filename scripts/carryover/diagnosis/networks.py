"""Networks as such: a copy that has learnt nothing, statistics of normalisation, and which weights of two differ."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.utils import parametrize

from carryover.diagnosis.modules import bare, core, evaluating, random_state_restored, submodules
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
    try:
        made = copy.deepcopy(core(module))
    except (RuntimeError, TypeError, AttributeError) as error:
        raise UserError(f"the network cannot be copied ({error}): give baseline= a network or None") from None
    parameters = {name: one for name, one in made.named_parameters() if one.is_floating_point() or one.is_complex()}
    before = {name: one.detach().clone() for name, one in (*parameters.items(), *made.named_buffers())}
    with torch.no_grad(), random_state_restored(seed):
        for one in parameters.values():
            one.fill_(float("nan"))  # which no way of drawing leaves behind
        _draw(made)
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
        keeps = f"the re-initialised baseline keeps what nothing resets: {_some(left)}"
        warnings.warn(f"{keeps}; give baseline= a network made anew where that matters", stacklevel=3)
    return made


def _draw(made: nn.Module) -> None:
    """Draw the parameters of a network, which are NaN before, in all ways that its parts offer."""
    parts: list[Any] = []
    made.apply(parts.append)  # inner parts first, as makers of networks draw
    for part in parts:
        reset = getattr(part, "reset_parameters", None) or getattr(part, "_reset_parameters", None)
        if callable(reset):
            with parametrize.cached():  # so that a weight that is computed of others can be drawn in place
                reset()
                drawn = {name: getattr(part, name) for name in getattr(part, "parametrizations", ())}
            for name, value in drawn.items():
                setattr(part, name, value)
    huggingface: list[Any] = [part for part in made.modules() if callable(getattr(part, "_init_weights", None))]
    for model in huggingface[:1]:  # the outermost: those inside have the same rules
        for one in (*model.modules(), *model.parameters()):
            if hasattr(one, "_is_hf_initialized"):
                one._is_hf_initialized = False
        model.apply(model._init_weights)
    for part in parts:
        whole = getattr(part, "init_weights", None)
        if callable(whole) and any(bool(one.isnan().any()) for one in part.parameters()):
            with suppress(TypeError):  # for one that needs arguments
                whole()


def renew_statistics(module: nn.Module, call: Callable[[Any], Any], batches: Iterable[Any]) -> None:
    """Compute statistics of batch normalisation as means over batches; UserError where there are none."""
    layers = [one for one in module.modules() if isinstance(one, _BatchNorm) and one.track_running_stats]
    momenta = [layer.momentum for layer in layers]
    used = False
    with torch.no_grad(), evaluating(module):
        for layer in layers:
            layer.reset_running_stats()
            layer.train()
            layer.momentum = None  # the mean of all batches
        for batch in batches:
            used = True
            with suppress(ValueError):  # of a batch of one sample
                call(batch)
    for layer, momentum in zip(layers, momenta, strict=True):
        layer.momentum = momentum
    if not used:
        raise UserError("there are no batches for statistics of normalisation: an iterator is used up by its first use")


def weight_changes(
    before: nn.Module, after: nn.Module, layers: Iterable[str], adapter: bool = False
) -> tuple[dict[str, list[float]], str]:
    """({"weight_change", "weight_rank": values by layer}, a sentence on which parameters and buffers differ).

    The rank is (Σσ²)² / Σσ⁴ of the matrix that changed most, whose other axes are flattened; NaN without a change. An
    adapted layer counts with its adapter. adapter: the networks are one, without and with its adapter.
    """
    old, new = _parameters(before, not adapter), _parameters(after, True)
    changes = {
        name: (W, new[name] - W.to(new[name]))
        for name, W in old.items()
        if name in new and W.shape == new[name].shape and W.is_floating_point()
    }
    values: dict[str, list[float]] = {"weight_change": [], "weight_rank": []}
    for layer in layers:
        part = layer.partition(":")[0]
        inside = [pair for name, pair in changes.items() if name.startswith(f"{part}.")]
        size, change = (sum(float(pair[one].float().square().sum()) for pair in inside) for one in (0, 1))
        values["weight_change"].append((change / size) ** 0.5 if size else np.nan)
        matrices = [delta for W, delta in inside if W.ndim > 1]
        largest = max(matrices, key=lambda delta: float(delta.norm()), default=torch.zeros(1, 1)).flatten(1).double()
        gram = largest @ largest.T if len(largest) <= largest.shape[1] else largest.T @ largest
        fourth = float(gram.square().sum())  # Σσ⁴ of the singular values σ
        values["weight_rank"].append(float(gram.trace()) ** 2 / fourth if fourth else np.nan)
    differ = [name for name in old | new if name not in changes or bool(changes[name][1].any())]
    count = len(old | new)
    if len(differ) == count:
        return values, f"All {count} parameters differ."
    if differ:
        return values, f"{len(differ)} of {count} parameters differ ({_some(differ)})."
    here, there = (dict(core(one).named_buffers()) for one in (before, after))
    same = {name for name in here.keys() & there.keys() if torch.equal(here[name].cpu(), there[name].cpu())}
    if buffers := [name for name in here | there if name not in same]:
        return values, f"No parameter differs, only buffers do ({_some(buffers)})."
    return values, "No parameter or buffer differs."


def _parameters(module: nn.Module, with_adapter: bool) -> dict[str, Tensor]:
    """Parameters by plain name; weights that are computed of others, and adapted ones, as the layer uses them."""
    found: dict[str, Tensor] = {}
    for name, part in [("", core(module)), *submodules(module).items()]:
        layer: Any = bare(part)
        held: dict[str, Tensor] = dict(layer.named_parameters(recurse=False))
        held |= {key: getattr(layer, key) for key in getattr(layer, "parametrizations", ())}
        found |= {f"{name}.{key}".removeprefix("."): value.detach() for key, value in held.items()}
        if with_adapter and "weight" in held and hasattr(part, "get_delta_weight"):
            adapted: Any = part
            deltas = (adapted.get_delta_weight(one).detach() for one in adapted.active_adapters)
            found[f"{name}.weight"] = held["weight"].detach() + sum(deltas)
    return found


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + ", …" * (len(names) > 3)
