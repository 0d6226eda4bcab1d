"""Which weights and buffers of two networks differ, by how much, and in how many directions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from carryover.diagnosis.activations.quantities import WEIGHTS
from carryover.diagnosis.recordings.names import bare, core, submodules


def weight_changes(
    before: nn.Module, after: nn.Module, layers: Iterable[str], adapter: bool = False
) -> tuple[dict[str, list[float]], str]:
    """({name of `WEIGHTS`: values by layer}, a sentence on which parameters and buffers differ).

    An adapted layer counts with its adapter. adapter: the networks are one, without and with its adapter.
    """
    old, new = (dict(_parameters(one, with_adapter)) for one, with_adapter in ((before, not adapter), (after, True)))
    changes = {name: (W, new[name] - W.to(new[name])) for name, W in old.items() if name in new and _fit(W, new[name])}
    values: dict[str, list[float]] = {name: [] for name in WEIGHTS}
    for layer in layers:
        part = layer.partition(":")[0].partition("@")[0]
        inside = [pair for name, pair in changes.items() if name.startswith(f"{part}.")]
        size = sum(float(W.float().square().sum()) for W, _ in inside)
        change = sum(float(delta.float().square().sum()) for _, delta in inside)
        values["weight_change"].append((change / size) ** 0.5 if size else np.nan)
        matrices = [delta for W, delta in inside if W.ndim > 1]
        largest = max(matrices, key=lambda delta: float(delta.norm()), default=None)
        values["weight_rank"].append(np.nan if largest is None else effective_rank(largest))
    differ = [name for name in old | new if name not in changes or bool(changes[name][1].any())]
    return values, _sentence(before, after, differ, len(old | new))


def effective_rank(W: Tensor) -> float:
    """(Σσ²)² / Σσ⁴ of the singular values σ of a matrix, whose other axes are flattened; NaN for zeros."""
    flat = W.flatten(1).double()
    gram = flat @ flat.T if len(flat) <= flat.shape[1] else flat.T @ flat
    fourth = float(gram.square().sum())
    return float(gram.trace()) ** 2 / fourth if fourth else np.nan


def _parameters(module: nn.Module, with_adapter: bool) -> Iterator[tuple[str, Tensor]]:
    """Parameters by plain name; weights that are computed of others, and adapted ones, as the layer uses them."""
    for name, part in [("", core(module)), *submodules(module).items()]:
        layer: Any = bare(part)
        held: dict[str, Tensor] = dict(layer.named_parameters(recurse=False))
        held |= {key: getattr(layer, key) for key in getattr(layer, "parametrizations", ())}
        for key, value in held.items():
            weight, adapted = value.detach(), cast(Any, part)
            if key == "weight" and with_adapter and hasattr(part, "get_delta_weight"):
                weight = weight + sum(adapted.get_delta_weight(one).detach() for one in adapted.active_adapters)
            yield f"{name}.{key}".removeprefix("."), weight


def _fit(old: Tensor, new: Tensor) -> bool:
    return old.shape == new.shape and old.is_floating_point()


def _sentence(before: nn.Module, after: nn.Module, differ: list[str], count: int) -> str:
    if len(differ) == count:
        return f"All {count} parameters differ."
    if differ:
        return f"{len(differ)} of {count} parameters differ ({_some(differ)})."
    old, new = (dict(core(one).named_buffers()) for one in (before, after))
    alike = {name for name in old.keys() & new.keys() if torch.equal(old[name].cpu(), new[name].cpu())}
    buffers = [name for name in old | new if name not in alike]
    if not buffers:
        return "No parameter or buffer differs."
    return f"No parameter differs, only buffers do ({_some(buffers)})."


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + ", …" * (len(names) > 3)
