"""Which weights and buffers of two networks differ, by how much, and in how many directions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from carryover.diagnosis.modules import bare, core, submodules


def weight_changes(
    before: nn.Module, after: nn.Module, layers: Iterable[str], adapter: bool = False
) -> tuple[dict[str, list[float]], str]:
    """({"weight_change", "weight_rank": values by layer}, a sentence on which parameters and buffers differ).

    An adapted layer counts with its adapter. adapter: the networks are one, without and with its adapter.
    """
    old, new = _parameters(before, not adapter), _parameters(after, True)
    changes = {
        name: (W, new[name] - W.to(new[name]))
        for name, W in old.items()
        if name in new and W.shape == new[name].shape and W.is_floating_point()
    }
    values: dict[str, list[float]] = {"weight_change": [], "weight_rank": []}
    for layer in layers:
        part = layer.partition(":")[0].partition("@")[0]
        inside = [pair for name, pair in changes.items() if name.startswith(f"{part}.")]
        size, change = (sum(float(pair[one].float().square().sum()) for pair in inside) for one in (0, 1))
        values["weight_change"].append((change / size) ** 0.5 if size else np.nan)
        matrices = [delta for W, delta in inside if W.ndim > 1]
        largest = max(matrices, key=lambda delta: float(delta.norm()), default=None)
        values["weight_rank"].append(np.nan if largest is None else effective_rank(largest))
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


def effective_rank(W: Tensor) -> float:
    """(Σσ²)² / Σσ⁴ of the singular values σ of a matrix, whose other axes are flattened; NaN for zeros."""
    flat = W.flatten(1).double()
    gram = flat @ flat.T if len(flat) <= flat.shape[1] else flat.T @ flat
    fourth = float(gram.square().sum())
    return float(gram.trace()) ** 2 / fourth if fourth else np.nan


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
