"""Activations of any torch module, written to a file while it sees its data, for `carryover.diagnosis.diagnosis`.

with record(network, ["layer3", "layer4"], "before.nc") as see:
    for images, _ in loader:            # not shuffled: the same samples in the same order for both networks
        see(images)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import torch
from torch import Tensor, nn

from carryover.diagnosis.activations.sources import IDS
from carryover.provenance import store

_CHUNK = 2**20  # numbers that are stored together
_TAKEN = ("sample", *IDS)


@contextmanager
def record(module: nn.Module, names: Sequence[str], path: str | Path) -> Iterator[Callable[..., Any]]:
    """Record what submodules of a torch module give out.

    Args:
        module: any torch module. Inside the block it is in evaluation mode and its calls record no gradients; at the
            end, also after an error, its modes are what they were and nothing hangs on it any more.
        names: submodules as in `module.named_modules()`, each with one tensor (batch, …) as output. It is recorded as
            the submodule returns it, whatever is done to it in place afterwards.
        path: netCDF file, `.nc`; it takes its place when the block ends well. One batch is in memory at a time.

    Yields:
        `see(*inputs, sample_id=None, **named_inputs)`, which calls the module, appends activations to the file and
        returns the module's output. `sample_id` are numbers or text (batch,), in every call or in none; `diagnose`
        compares them.

    Raises:
        ValueError: for a name that is no submodule, saying which are close, for another suffix, for a submodule that
            is called not once in a call of the module or whose output is no tensor of (batch, …), for `sample_id` of
            another length or in some calls only, and where nothing was seen.
    """
    path, parts = Path(path), dict(module.named_modules())
    if path.suffix != ".nc":
        raise ValueError(f"path must end in .nc, got {path}")
    if not names:
        raise ValueError("names must name at least one submodule")
    for name in names:
        if name in _TAKEN:
            raise ValueError(f"names must not be any of {', '.join(_TAKEN)}, which the file uses itself, got {name}")
        if not name:
            raise ValueError("names must be submodules, and an empty name is the whole module")
        if name not in parts:
            close = get_close_matches(name, parts, n=5, cutoff=0.4) or [key for key in parts if key][:5]
            raise ValueError(f"names must be submodules, and {name} is none; close are: {', '.join(close)}")
    modes = {part: part.training for part in parts.values()}
    outputs: dict[str, Any] = {}
    hooks: list = []
    with store.atomic(path) as unfinished, netCDF4.Dataset(unfinished, "w") as file:
        try:
            for name in dict.fromkeys(names):
                hooks.append(parts[name].register_forward_hook(_keep(outputs, name)))
            module.eval()
            yield _seer(module, list(dict.fromkeys(names)), outputs, _Writer(file))
        finally:
            for hook in hooks:
                hook.remove()
            for part, mode in modes.items():
                part.training = mode
        if not file.variables:
            raise ValueError(f"nothing was seen, so {path} is not written: call what the block is given")


def _keep(outputs: dict[str, list[np.ndarray]], name: str) -> Callable[..., None]:
    def hook(module: nn.Module, inputs: Any, output: Any) -> None:
        if not isinstance(output, Tensor) or not output.ndim or not output.numel():
            wanted = "submodules with one tensor (batch, …) as output"
            raise ValueError(f"names must be {wanted}, {name} has {type(output)}")
        values = output.detach().to("cpu", torch.float32, copy=True)  # the next layer may overwrite its input
        outputs.setdefault(name, []).append(values.reshape(len(values), -1).numpy())

    return hook


def _seer(module: nn.Module, names: list[str], outputs: dict[str, list], writer: _Writer) -> Callable[..., Any]:
    def see(*inputs: Any, sample_id: Sequence | None = None, **named_inputs: Any) -> Any:
        outputs.clear()
        with torch.inference_mode():
            result = module(*inputs, **named_inputs)
            writer.append({name: _only(name, outputs.get(name, [])) for name in names}, sample_id)
        outputs.clear()
        return result

    return see


def _only(name: str, outputs: list[np.ndarray]) -> np.ndarray:
    """(batch, units) of one submodule."""
    if len(outputs) != 1:
        raise ValueError(
            f"names must be submodules that are called once for each input, {name} was {len(outputs)} times"
        )
    return outputs[0]


class _Writer:
    """Appends batches along the dimension `sample` of a netCDF file."""

    def __init__(self, file: netCDF4.Dataset) -> None:
        self.file, self.samples = file, 0

    def append(self, batch: dict[str, np.ndarray], ids: Sequence | None) -> None:
        counts = {name: len(values) for name, values in batch.items()}
        if len(set(counts.values())) > 1:
            raise ValueError(f"names must be submodules with the same number of samples, got {counts}")
        count = next(iter(counts.values()))
        if ids is not None and len(ids) != count:
            raise ValueError(f"sample_id must name each of the {count} samples, got {len(ids)}")
        if not self.samples:
            self._create(batch, named=ids is not None)
        if (ids is not None) != ("sample_id" in self.file.variables):
            raise ValueError("sample_id must be given in every call or in none")
        rows = slice(self.samples, self.samples + count)
        for name, values in batch.items():
            if values.shape[1] != self.file[name].shape[1]:
                raise ValueError(f"{name} must have the same units in every call, got {values.shape[1]}")
            self.file[name][rows] = values
        if ids is not None:
            self.file["sample_id"][rows] = np.array([str(one) for one in np.asarray(ids).tolist()], dtype=object)
        self.samples += count

    def _create(self, batch: dict[str, np.ndarray], named: bool) -> None:
        self.file.createDimension("sample", None)
        for name, values in batch.items():
            units = values.shape[1]
            self.file.createDimension(f"unit of {name}", units)
            chunks = (max(1, min(len(values), _CHUNK // units)), units)
            dimensions = ("sample", f"unit of {name}")
            made = self.file.createVariable(name, "f4", dimensions, chunksizes=chunks, fill_value=False)
            made.setncatts({"long_name": f"activations of {name}", "units": "1"})
        if named:
            self.file.createVariable("sample_id", str, ("sample",)).long_name = "name of the sample"
            self.file["sample_id"].units = "1"
