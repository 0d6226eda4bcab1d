"""Activations by layer, from mappings of arrays or from files, read a layer at a time.

    with open_source("before.npz") as activations:
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
from torch import Tensor
from torch.nn.parameter import is_lazy

from carryover.errors import UserError
from carryover.measures.dimensionality import centre, constant

IDS = ("sample_id", "id")
"""Names under which samples may be named, (samples,), numbers or text."""
SINGLE = "layer"
"""Name of the layer that an array by itself is."""


class Constant(UserError):
    """A layer that does not vary."""


@dataclass(frozen=True)
class Activations:
    """Arrays by layer, and the samples' names (samples,) where there are some."""

    name: str
    layers: dict[str, Any]
    ids: np.ndarray | None

    def matrix(self, layer: str) -> np.ndarray:
        """(samples, units) float32: responses less their mean, times a power of two that brings them to order 1.

        Complex ones are given by their real and imaginary parts. Raises Constant for a layer that is the same for all
        samples, and UserError for one that is not of numbers (samples, …), or not finite.
        """
        where = f"the layer of {self.name}" if layer == SINGLE else f"layer {layer} of {self.name}"
        with _reading(where):
            values = np.asarray(self.layers[layer][...])
        values = values.reshape(*values.shape[:1], -1) if values.size else values
        if values.dtype.kind == "c":
            values = np.concatenate([values.real, values.imag], axis=1)
        if values.dtype.kind in "biuf" and values.size:
            low, high = (extreme.astype(np.float64) for extreme in (values.min(axis=0), values.max(axis=0)))
            if constant(low, high, values.dtype):
                raise Constant(f"{where} is the same for all samples")
        try:
            return centre(where, values, np.float32)
        except ValueError as error:
            raise UserError(f"{error}: leave it out by naming the other layers") from None


@contextmanager
def open_source(source: Any, name: str = "the mapping") -> Iterator[Activations]:
    """The activations in a mapping {layer: (samples, …)} or in a file, by its suffix: .npz, .npy, .nc, .safetensors.

    An array or a tensor (samples, …) by itself is one layer of the name "layer". `name` is what messages call a
    mapping. Raises UserError for a file that is missing, damaged or of another kind, and one without layers.
    """
    name = str(source) if isinstance(source, str | Path) else name
    with ExitStack() as stack:
        with _reading(name):
            arrays: dict[str, Any]
            if isinstance(source, Mapping):
                arrays = {str(key): as_array(f"layer {key} of {name}", value) for key, value in source.items()}
            elif hasattr(source, "__array__"):
                arrays = {SINGLE: as_array(name, source)}
            elif not isinstance(source, str | Path):
                kinds = "a mapping {layer: (samples, …)}, an array or tensor of one layer, or a file"
                raise UserError(f"{name} must be {kinds}, got {type(source).__name__}")
            elif (suffix := Path(source).suffix) == ".npy":
                arrays = {SINGLE: np.load(source, mmap_mode="r")}
            elif suffix == ".npz":
                members = stack.enter_context(np.load(source))
                if len(set(members.files)) < len(members.files):
                    raise UserError(f"{name} has two arrays of one name")
                arrays = dict(members)
            elif suffix == ".safetensors":
                from safetensors.torch import load_file  # which is optional, and knows types that NumPy lacks

                arrays = {key: as_array(key, value) for key, value in load_file(source).items()}
            elif suffix == ".nc":
                file = stack.enter_context(netCDF4.Dataset(source))
                file.set_auto_mask(False)
                arrays = {key: held for key, held in file.variables.items() if key in IDS or key not in file.dimensions}
            else:
                raise UserError(f"{name} must be of one of the kinds .npz, .npy, .nc, .safetensors")
        named = next((key for key in IDS if key in arrays and np.ndim(arrays[key]) == 1), None)  # a layer has units
        ids = None if named is None else np.asarray(arrays.pop(named)[...])
        if not arrays:
            raise UserError(f"{name} holds no layers")
        yield Activations(name, arrays, ids)


@contextmanager
def _reading(where: str) -> Iterator[None]:
    """Any error in the block is a UserError that says what cannot be read."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # each library reports damage in its own ways
        raise UserError(f"{where} cannot be read: {error}") from None


def as_array(name: str, values: Any) -> np.ndarray:
    """An array of an array or of a tensor on any device, sparse or quantised ones in full.

    Types that NumPy lacks are given in single precision. Raises UserError for a tensor without numbers and ragged rows.
    """
    if isinstance(values, Tensor):
        if without_numbers(values):
            raise UserError(f"{name} has no numbers: it is on the meta device, or not yet initialised")
        if values.is_nested:
            raise UserError(f"{name} must have rows of one length")
        values = values.detach().cpu()
        values = values.dequantize() if values.is_quantized else values.to_dense()
        try:
            return values.numpy()
        except TypeError:  # bfloat16 and types of eight bits
            return values.float().numpy()
    try:
        return np.asarray(values)
    except ValueError:
        raise UserError(f"{name} must have rows of one length") from None


def without_numbers(values: Tensor) -> bool:
    """Whether a tensor has a place but no numbers."""
    return is_lazy(values) or values.is_meta


def common_samples(sides: Sequence[Activations], layers: Sequence[str] = ()) -> tuple[int, np.ndarray | None]:
    """The number of samples, and their names (samples,) if a side has some, of these layers, or of all that sides have.

    Raises UserError unless all sides have the layers, and the same samples in the same order as far as they are named.
    """
    for side in sides:
        if missing := [name for name in layers if name not in side.layers]:
            raise UserError(
                f"{side.name} lacks the layer {missing[0]}; it has {', '.join(side.layers)}: name layers that all have"
                + (f" (an array by itself is a layer called {SINGLE})" if SINGLE in layers else "")
            )
    counts = {
        (side.name, layer): (np.shape(side.layers[layer]) or (1,))[0]
        for side in sides
        for layer in layers or side.layers
    }
    samples = next(iter(counts.values()))
    for (name, layer), count in counts.items():
        if count != samples:
            raise UserError(f"layers must have the same samples, got {count} in layer {layer} of {name}, not {samples}")
    named = {side.name: side.ids for side in sides if side.ids is not None}
    if not named:
        return samples, None
    first, *_ = named
    for name, ids in named.items():
        if len(ids) != samples:
            raise UserError(f"{name} must name all of its {samples} samples, but names {len(ids)}")
        differ = np.flatnonzero(named[first].astype(str) != ids.astype(str))
        if len(differ):
            raise UserError(
                f"{first} and {name} must have the same samples in the same order, but sample {differ[0]} is "
                f"{named[first][differ[0]]} and {ids[differ[0]]}"
            )
    return samples, named[first]
