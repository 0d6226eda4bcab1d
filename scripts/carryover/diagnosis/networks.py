"""Operations on networks: a re-initialised copy, new statistics of normalisation, and differences of weights."""

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

from carryover.diagnosis.modules import bare, core, evaluating, restore_random_state, submodules
from carryover.errors import UserError
from carryover.streams import generator

SAME = "No parameter or buffer differs"


def reinitialise(module: nn.Module, seed: int = 0) -> nn.Module:
    """A copy of the network, without wrappers around it, whose parameters are drawn anew.

    Each module with `reset_parameters` draws its own parameters and resets its running statistics, inner modules first.
    Then HuggingFace's `_init_weights` is applied, and then `init_weights` of each module that still has parameters
    which no method has drawn. The given network and the global random state do not change.

    Raises
    ------
    UserError
        If no parameter can be reset, or the network cannot be copied. If some parameters cannot be reset, they keep
        their values, and a warning names them.
    """
    network = copy_network(core(module), "give baseline= a network or None")
    parameters = {name: w for name, w in network.named_parameters() if w.is_floating_point() or w.is_complex()}
    before = {name: value.detach().clone() for name, value in (*parameters.items(), *network.named_buffers())}
    # With `seed` itself a network that was built after `manual_seed(seed)` would get its own initial weights again.
    other_seed = int(generator("diagnosis", "", seed, "baseline").integers(2**31))
    with torch.no_grad(), restore_random_state(other_seed):
        for parameter in parameters.values():
            parameter.fill_(float("nan"))  # marks parameters that are not drawn
        _draw(network)
        not_drawn = [name for name, parameter in parameters.items() if parameter.isnan().any()]
        for name, value in (*parameters.items(), *network.named_buffers()):
            if name in before and value.isnan().any():  # also buffers that were computed from NaN parameters
                value.copy_(before[name])
    if len(not_drawn) == len(parameters):
        raise UserError(
            "no parameter of the network can be reset, so it has no re-initialised baseline: give baseline= a network "
            "of the same shape that is made anew, or None"
        )
    if not_drawn:
        keeps = f"the re-initialised baseline keeps what nothing resets: {_first_names(not_drawn)}"
        warnings.warn(f"{keeps}; give baseline= a network made anew where that matters", stacklevel=3)
    return network


def copy_network(network: nn.Module, otherwise: str) -> nn.Module:
    """A copy; UserError that says what to do otherwise."""
    try:
        return copy.deepcopy(network)
    except (RuntimeError, TypeError, AttributeError) as error:
        raise UserError(f"the network cannot be copied ({error}): {otherwise}") from None


def check_baseline(baseline: Any) -> None:
    """Raise UserError for what is no baseline."""
    if not (isinstance(baseline, nn.Module | None) or (isinstance(baseline, str) and baseline == "reinitialised")):
        raise UserError(f"baseline must be 'reinitialised', a torch module or None, got {baseline!r:.40}")


def _draw(network: nn.Module) -> None:
    """Draw the parameters of a network, which are NaN before, by all methods of its modules for that."""
    parts: list[Any] = []
    network.apply(parts.append)  # inner parts first, as makers of networks draw
    for part in parts:
        reset = getattr(part, "reset_parameters", None) or getattr(part, "_reset_parameters", None)
        if callable(reset):
            with parametrize.cached():  # so that a weight that is computed of others can be drawn in place
                reset()
                drawn = {name: getattr(part, name) for name in getattr(part, "parametrizations", ())}
            for name, value in drawn.items():
                setattr(part, name, value)
    huggingface: list[Any] = [part for part in network.modules() if callable(getattr(part, "_init_weights", None))]
    for model in huggingface[:1]:  # the outermost: those inside have the same rules
        for item in (*model.modules(), *model.parameters()):
            if hasattr(item, "_is_hf_initialized"):
                item._is_hf_initialized = False
        model.apply(model._init_weights)
    for part in parts:
        init_weights = getattr(part, "init_weights", None)
        if callable(init_weights) and any(bool(parameter.isnan().any()) for parameter in part.parameters()):
            with suppress(TypeError):  # it may need arguments
                init_weights()


def renew_statistics(module: nn.Module, call: Callable[[Any], Any], batches: Iterable[Any]) -> None:
    """Compute statistics of batch normalisation as means over batches; UserError where there are none."""
    layers = [part for part in module.modules() if isinstance(part, _BatchNorm) and part.track_running_stats]
    momenta = [layer.momentum for layer in layers]
    used = False
    with torch.no_grad(), evaluating(module):
        for layer in layers:
            layer.reset_running_stats()
            layer.train()
            layer.momentum = None  # the mean of all batches
        for batch in batches:
            used = True
            with suppress(ValueError):  # raised for a batch of one sample
                call(batch)
    for layer, momentum in zip(layers, momenta, strict=True):
        layer.momentum = momentum
    if not used:
        raise UserError("there are no batches for statistics of normalisation: an iterator is used up by its first use")


def weight_changes(
    before: nn.Module, after: nn.Module, layers: Iterable[str], adapter: bool = False
) -> tuple[dict[str, list[float]], str]:
    """({"weight_change", "weight_rank": values by layer}, a sentence on which parameters and buffers differ).

    The rank is (Σσ²)² / Σσ⁴ of the change of the layer's matrix that changed most, with further axes flattened; NaN
    without a change. Weights include adapters; with `adapter` both networks are one, taken without its adapter before.
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
        size, change = (sum(float(pair[k].float().square().sum()) for pair in inside) for k in (0, 1))
        values["weight_change"].append((change / size) ** 0.5 if size else np.nan)
        matrices = [delta for W, delta in inside if W.ndim > 1]
        largest = max(matrices, key=lambda delta: float(delta.norm()), default=torch.zeros(1, 1)).flatten(1).double()
        gram = largest @ largest.T if len(largest) <= largest.shape[1] else largest.T @ largest
        fourth = float(gram.square().sum())  # Σσ⁴ of the singular values σ
        values["weight_rank"].append(float(gram.trace()) ** 2 / fourth if fourth else np.nan)
    differ = [name for name in old | new if name not in changes or bool(changes[name][1].any())]
    old_buffers, new_buffers = (dict(core(network).named_buffers()) for network in (before, after))
    same = {name for name in old_buffers.keys() & new_buffers.keys()
            if torch.equal(old_buffers[name].cpu(), new_buffers[name].cpu())}  # fmt: skip
    buffers, count = [name for name in old_buffers | new_buffers if name not in same], len(old | new)
    if not count:
        return values, "The networks have no parameters that can be compared."
    if not differ:
        said = f"No parameter differs, only buffers do ({_first_names(buffers)})" if buffers else SAME
    elif len(differ) == count:
        said = f"All {count} parameters differ"
    else:
        said = f"{len(differ)} of {count} parameters differ ({_first_names(differ)})"
    if 0 < len(differ) < count and buffers:
        said += f", and buffers ({_first_names(buffers)})"
    return values, f"{said}{_unseen(after)}."


def _parameters(module: nn.Module, with_adapter: bool) -> dict[str, Tensor]:
    """{plain name: parameter}; parametrised and adapted weights are given as the layer uses them."""
    parameters: dict[str, Tensor] = {}
    for name, part in [("", core(module)), *submodules(module).items()]:
        layer: Any = _active(part) if with_adapter else bare(part)
        held: dict[str, Tensor] = dict(layer.named_parameters(recurse=False))
        held |= {key: getattr(layer, key) for key in getattr(layer, "parametrizations", ())}
        parameters |= {f"{name}.{key}".removeprefix("."): value.detach() for key, value in held.items()}
        if with_adapter and "weight" in held and hasattr(part, "get_delta_weight"):
            adapted: Any = part
            own = getattr(adapted, "lora_A", adapted.active_adapters)  # an active adapter may leave this layer out
            deltas = (adapted.get_delta_weight(one).detach() for one in adapted.active_adapters if one in own)
            parameters[f"{name}.weight"] = held["weight"].detach() + sum(deltas)
    return parameters


def _active(part: Any) -> Any:
    """A layer without its adapters, or the copy of it that PEFT trains in its place."""
    copies = getattr(part, "modules_to_save", None)
    if not isinstance(copies, nn.ModuleDict):
        return bare(part)
    return next((copies[name] for name in part.active_adapters if name in copies), bare(part))


def _unseen(module: nn.Module) -> str:
    """Words on parameters of adapters of other kinds than those that change a layer's weight."""
    layers = [layer for part in (core(module), *submodules(module).values()) for layer in (bare(part), _active(part))]
    seen = {id(one) for layer in layers for one in layer.parameters(recurse=False)}
    seen |= {id(one) for part in module.modules() if hasattr(part, "get_delta_weight") for one in part.parameters()}
    seen |= {id(one) for part in module.modules() if hasattr(part, "parametrizations") for one in part.parameters()}
    count = sum(id(one) not in seen for one in module.parameters())
    return f"; {count} of adapters are not compared" if count else ""


def _first_names(names: list[str]) -> str:
    return ", ".join(names[:3]) + ", …" * (len(names) > 3)
