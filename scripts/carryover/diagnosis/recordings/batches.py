"""Batches as loaders give them, and how a network is called with one."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from carryover.diagnosis.recordings.names import core
from carryover.errors import UserError

Call = Callable[[nn.Module, Any], Any]
_SIZE = 256  # of the batches that an array is cut into


def home(module: nn.Module) -> torch.device:
    """Device of the network's parameters, or of its buffers; the CPU where it has none."""
    return next((one.device for held in (module.parameters(), module.buffers()) for one in held), torch.device("cpu"))


def moved(value: Any, device: torch.device) -> Any:
    """The tensors in nested tuples, lists and mappings on another device, mappings as dicts; all else as it is."""
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, Mapping):
        return {key: moved(part, device) for key, part in value.items()}
    if isinstance(value, tuple | list):
        parts = [moved(part, device) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def batches(loader: Any) -> Iterable[Any]:
    """What a loader gives; an array or a tensor (samples, …) is cut into batches."""
    if isinstance(loader, np.ndarray):
        loader = torch.from_numpy(loader)
    if isinstance(loader, Tensor):
        return loader.split(_SIZE)
    if isinstance(loader, Mapping) or not isinstance(loader, Iterable):
        raise UserError(f"loader must give batches, as a DataLoader, a list of them or a tensor, got {_kind(loader)}")
    return loader


def called(module: nn.Module, batch: Any) -> Any:
    """What the network returns for a batch: a tensor, (inputs, labels, …) of which as many are taken as the network
    needs, one mostly, or a mapping of named inputs, of which those are given that the network takes, labels too."""
    device = home(module)
    inputs = batch[0] if isinstance(batch, tuple | list) and len(batch) else batch
    if isinstance(inputs, Tensor):
        many = _needed(module) if isinstance(batch, tuple | list) else 1
        if many > len(batch):
            raise UserError(f"batches have {len(batch)} parts, and the network needs {many} inputs: say call=")
        return module(*moved([inputs, *batch[1:many]], device))
    if not isinstance(inputs, Mapping):
        kinds = "tensors, tuples (inputs, labels, …) or mappings of named tensors"
        raise UserError(
            f"batches must be {kinds}, got {_kind(inputs)}: say call=, how a network is called with a batch"
        )
    return module(**moved(named(module, inputs), device))


def labels_of(module: nn.Module, batch: Any) -> np.ndarray | None:
    """Labels (batch,) of a batch: what follows its inputs, or is named so; None without."""
    found, inputs = None, batch
    if isinstance(batch, tuple | list) and len(batch):
        inputs = batch[0]
        found = next(iter(batch[_needed(module) :]), None)
    if isinstance(inputs, Mapping):
        found = next((inputs[key] for key in ("labels", "label") if key in inputs), None)
    return found.detach().cpu().numpy() if isinstance(found, Tensor) and found.ndim == 1 else None


def _needed(module: nn.Module) -> int:
    """How many inputs the network cannot do without, one at least."""
    parameters = inspect.signature(core(module).forward).parameters.values()
    return max(1, sum(one.kind is one.POSITIONAL_OR_KEYWORD and one.default is one.empty for one in parameters))


def named(module: nn.Module, batch: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the batch's entries that the network takes by name."""
    parameters = inspect.signature(core(module).forward).parameters
    every = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    takes = [one.name for one in parameters.values() if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    given = {key: value for key, value in batch.items() if key in takes}
    if every and not given:
        given = dict(batch)
    if not given:
        raise UserError(
            f"batches have {', '.join(map(str, batch))}, and the network takes {', '.join(takes) or 'nothing'}: say "
            f"call=, how a network is called with a batch"
        )
    return given


@contextmanager
def generators_kept(*devices: torch.device) -> Iterator[None]:
    """Random numbers after the block are those that would have come without it, of Python, NumPy and PyTorch."""
    indices = [device.index or 0 for device in dict.fromkeys(devices) if device.type == "cuda"]
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        with torch.random.fork_rng(devices=indices):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002


def _kind(value: Any) -> str:
    return type(value).__name__
