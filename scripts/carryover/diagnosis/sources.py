"""Activations by layer, from mappings of arrays or from files, read a layer at a time.

    with opened("before.npz") as activations:
        activations.matrix("layer4")        # (samples, units), centred

A layer is an array of (samples, …), flattened to (samples, units). Nothing is unpickled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
from safetensors.numpy import load_file

from carryover.errors import UserError
from carryover.measures.dimensionality import centred

IDS = ("sample_id", "id")
"""Names under which samples may be named, (samples,), numbers or text."""
SINGLE = "layer"
"""Name of the layer that an array by itself is."""


@dataclass(frozen=True)
class Activations:
    """Arrays by layer, and the samples' names (samples,) where there are some."""

    name: str
    layers: dict[str, Any]
    ids: np.ndarray | None

    def matrix(self, layer: str) -> np.ndarray:
        """(samples, units) float32: responses less their mean, times a power of two that brings them to order 1.

        Raises UserError for a layer that is not of numbers (samples, …), not finite or the same for all samples.
        """
        where = f"the layer of {self.name}" if layer == SINGLE else f"layer {layer} of {self.name}"
        with _reading(where):
            values = as_array(self.layers[layer][...])
        if self.ids is not None and len(self.ids) != len(np.atleast_1d(values)):
            raise UserError(f"{self.name} must name all of its {len(values)} samples, but names {len(self.ids)}")
        try:
            return centred(where, values.reshape(*values.shape[:1], -1) if values.size else values, np.float32)
        except ValueError as error:
            raise UserError(f"{error}: leave it out by naming the other layers") from None


@contextmanager
def opened(source: Any, name: str = "the mapping") -> Iterator[Activations]:
    """The activations in a mapping {layer: (samples, …)} or in a file, by its suffix: .npz, .npy, .nc, .safetensors.

    An array or a tensor (samples, …) by itself is one layer of the name "layer". `name` is what messages call a
    mapping. Raises UserError for a file that is missing, damaged or of another kind, and one without layers.
    """
    if hasattr(source, "__array__") and not isinstance(source, Mapping):
        source = {SINGLE: source}
    with ExitStack() as stack:
        if isinstance(source, Mapping):
            with _reading(name):
                arrays = {str(key): as_array(value) for key, value in source.items()}
        elif isinstance(source, str | Path):
            name = str(source)
            with _reading(name):
                arrays = _arrays(Path(source), stack)
        else:
            kinds = "a mapping {layer: (samples, …)}, an array or tensor of one layer, or a file"
            raise UserError(f"{name} must be {kinds}, got {type(source).__name__}")
        ids = next((np.asarray(arrays.pop(key)[...]).ravel() for key in IDS if key in arrays), None)
        if not arrays:
            raise UserError(f"{name} holds no layers")
        yield Activations(name, arrays, ids)


def _arrays(path: Path, stack: ExitStack) -> dict[str, Any]:
    """Arrays by name, of which netCDF and npy are read when they are used."""
    if path.suffix == ".npy":
        return {SINGLE: np.load(path, mmap_mode="r")}
    if path.suffix == ".npz":
        members = stack.enter_context(np.load(path))
        if len(set(members.files)) < len(members.files):
            raise UserError(f"{path} has two arrays of one name")
        return dict(members)
    if path.suffix == ".safetensors":
        return load_file(path)
    if path.suffix == ".nc":
        dataset = stack.enter_context(netCDF4.Dataset(path))
        dataset.set_auto_mask(False)
        return {key: held for key, held in dataset.variables.items() if key in IDS or key not in dataset.dimensions}
    raise UserError(f"{path} must be of one of the kinds .npz, .npy, .nc, .safetensors")


@contextmanager
def _reading(where: str) -> Iterator[None]:
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # each library reports damage in its own ways
        raise UserError(f"{where} cannot be read: {error}") from None


def as_array(values: Any) -> np.ndarray:
    """An array of an array or of a tensor on any device."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.float() if str(values.dtype) == "torch.bfloat16" else values  # NumPy has no such type
    return np.asarray(values)


def check_comparable(sides: Sequence[Activations], layers: Sequence[str]) -> None:
    """UserError unless all have the layers, and the same samples in the same order as far as these have names."""
    for side in sides:
        if missing := [name for name in layers if name not in side.layers]:
            raise UserError(
                f"{side.name} lacks the layer {missing[0]}; it has {', '.join(side.layers)}: name layers that all have"
                + (f" (an array by itself is a layer called {SINGLE})" if SINGLE in layers else "")
            )
    first, *others = sides
    for other in others:
        if first.ids is not None and other.ids is not None and len(first.ids) == len(other.ids):
            differ = np.flatnonzero(first.ids.astype(str) != other.ids.astype(str))
            if len(differ):
                here, there = first.ids[differ[0]], other.ids[differ[0]]
                raise UserError(
                    f"{first.name} and {other.name} must have the same samples in the same order, but sample "
                    f"{differ[0]} is {here} and {there}"
                )
