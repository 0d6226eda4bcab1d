"""Activations by layer, from mappings of arrays or from files, read a few samples at a time.

    with opened("before.npz") as activations:
        for part in activations.layers["layer4"].parts(256): ...        # (256, units)

A layer is an array of (samples, …), flattened to (samples, units). Nothing is unpickled.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np

from carryover.errors import UserError

IDS = ("sample_id", "id")
"""Names under which samples may be named, (samples,), numbers or text."""
ALONE = "layer"
"""Name of the layer that an array by itself is."""
NAMED = "layer_name"
"""Attribute of a variable in netCDF: the layer's name where it could not be the variable's."""
_SAFETENSORS = {"F16": "f2", "F32": "f4", "F64": "f8", "I8": "i1", "I16": "i2", "I32": "i4", "I64": "i8", "U8": "u1",
                "BOOL": "?"}  # fmt: skip
_DAMAGE = (OSError, ValueError, RuntimeError, EOFError, KeyError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class Layer:
    """Responses of one layer: `shape` (samples, …) as stored, and how to read them."""

    where: str  # "layer conv1 of before.npz"
    shape: tuple[int, ...]
    dtype: np.dtype
    _rows: Callable[[int, int], Iterator[np.ndarray]]

    @property
    def samples(self) -> int:
        return self.shape[0]

    @property
    def units(self) -> int:
        return prod(self.shape[1:])

    def parts(self, step: int, first: int = 0) -> Iterator[np.ndarray]:
        """(step, units) of the samples from `first` on, and all of the rest. Raises UserError for a damaged file."""
        rows = self._rows(first, step)
        try:
            for part in rows:
                yield np.asarray(part).reshape(len(part), self.units)
        except _DAMAGE as error:
            raise UserError(f"{self.where} cannot be read, the file is truncated or damaged ({error})") from None


@dataclass(frozen=True)
class Activations:
    """Layers by name, and the samples' names (samples,) where there are some."""

    name: str
    layers: dict[str, Layer]
    ids: np.ndarray | None


@contextmanager
def opened(source: Any, name: str = "the mapping") -> Iterator[Activations]:
    """The activations in a mapping {layer: (samples, …)} or in a file, by its suffix: .npz, .npy, .nc, .safetensors.

    An array or a tensor (samples, …) by itself is one layer of the name "layer". `name` is what messages call a
    mapping.

    Raises UserError (a ValueError), in one sentence, for a file that is
    missing, damaged or of another kind, one without layers, and layers that are not numbers of shape (samples, …) with
    as many samples as the others, two or more.
    """
    if hasattr(source, "__array__") and not isinstance(source, Mapping):
        source = {ALONE: source}
    if isinstance(source, Mapping):
        arrays = {str(key): as_array(_where(str(key), name), value) for key, value in source.items()}
        yield _activations(name, arrays, _sliced)
        return
    if not isinstance(source, str | Path):
        kinds = "a mapping {layer: (samples, …)}, an array or tensor of one layer, or a file"
        raise UserError(f"{name} must be {kinds}, got {type(source).__name__}")
    path = Path(source)
    if path.suffix not in KINDS:
        raise UserError(f"{path} must be of one of the kinds {', '.join(KINDS)}")
    with ExitStack() as stack:
        try:
            path.open("rb").close()  # a missing file has an error of its own
            arrays, read = _OPENERS[path.suffix](path, stack)
            activations = _activations(str(path), arrays, read)
        except UserError:
            raise
        except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
            raise UserError(f"{path} cannot be read: {error.strerror}") from None
        except Exception as error:  # each library reports damage in its own ways
            raise UserError(f"{path} is not {path.suffix[1:]}, or truncated or damaged ({error})") from None
        yield activations


def same_samples(first: Activations, other: Activations) -> None:
    """UserError unless both are of the same samples in the same order, as far as their number and names tell."""
    counts = [next(iter(side.layers.values())).samples for side in (first, other)]
    if counts[0] != counts[1]:
        raise UserError(
            f"{first.name} and {other.name} must have the same samples, got {counts[0]} and {counts[1]} of them"
        )
    if first.ids is not None and other.ids is not None:
        differ = np.flatnonzero(first.ids.astype(str) != other.ids.astype(str))
        if len(differ):
            here, there = first.ids[differ[0]], other.ids[differ[0]]
            raise UserError(
                f"{first.name} and {other.name} must have the same samples in the same order, but sample {differ[0]} "
                f"is {here} and {there}"
            )


def _activations(name: str, arrays: Mapping[str, Any], read: Callable[[Any], Any]) -> Activations:
    arrays = dict(arrays)
    named = [arrays.pop(key) for key in IDS if key in arrays]
    ids = np.concatenate([part.ravel() for part in read(named[0])(0, 2**16)]) if named else None
    if not arrays:
        raise UserError(f"{name} holds no layers")
    layers = {}
    for key, array in arrays.items():
        where, shape, dtype = _where(key, name), tuple(array.shape), np.dtype(array.dtype)
        if dtype.kind not in "biuf" or not shape or shape[0] < 2 or not prod(shape):
            raise UserError(
                f"{where} must be numbers of shape (samples, …) with two samples or more, got {dtype} of shape {shape}"
            )
        layers[key] = Layer(where, shape, dtype, read(array))
    counts = {layer.samples: key for key, layer in layers.items()}
    if len(counts) > 1:
        said = ", ".join(f"{key} has {count}" for count, key in counts.items())
        raise UserError(f"all layers of {name} must have the same samples, but {said}")
    if ids is not None and len(ids) not in counts:
        raise UserError(f"{name} must name all of its {next(iter(counts))} samples, but names {len(ids)}")
    return Activations(name, layers, ids)


def _where(layer: str, source: str) -> str:
    return f"the layer of {source}" if layer == ALONE else f"layer {layer} of {source}"


def as_array(where: str, values: Any) -> np.ndarray:
    try:
        if hasattr(values, "detach"):  # a tensor of torch
            values = values.detach().cpu()
            values = values.float() if str(values.dtype) == "torch.bfloat16" else values  # NumPy has no such type
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UserError(f"{where} must be an array of numbers, and is none ({error})") from None


def _sliced(array: Any) -> Callable[[int, int], Iterator[np.ndarray]]:
    """Parts of anything of which rows can be asked for."""
    return lambda first, step: (array[start : start + step] for start in range(first, array.shape[0], step))


def _npy(path: Path, stack: ExitStack) -> tuple:
    return {ALONE: np.load(path, mmap_mode="r", allow_pickle=False)}, _sliced


def _netcdf(path: Path, stack: ExitStack) -> tuple:
    import netCDF4

    file = stack.enter_context(netCDF4.Dataset(path))
    file.set_auto_mask(False)
    layers = {key: variable for key, variable in file.variables.items() if key in IDS or key not in file.dimensions}
    if odd := [key for key, variable in layers.items() if key not in IDS and not isinstance(variable.dtype, np.dtype)]:
        raise UserError(f"layer {odd[0]} of {path} must be numbers of shape (samples, …), not of variable length")
    names = [getattr(variable, NAMED, key) for key, variable in layers.items()]
    _refuse_twice(names, path)
    return {name: _Variable(variable) for name, variable in zip(names, layers.values(), strict=True)}, _sliced


def _refuse_twice(names: list[str], path: Path) -> None:
    if twice := [name for name in names if names.count(name) > 1]:
        raise UserError(f"{path} has two layers of the name {twice[0]}: give one another name")


def _safetensors(path: Path, stack: ExitStack) -> tuple:
    from safetensors import safe_open

    file = stack.enter_context(safe_open(path, framework="numpy"))
    slices = {key: file.get_slice(key) for key in file.keys()}  # noqa: SIM118
    for key, part in slices.items():
        if part.get_dtype() not in _SAFETENSORS:
            raise UserError(f"layer {key} of {path} is {part.get_dtype()}: save it as float16, float32 or float64")
    return {key: _Tensor(part) for key, part in slices.items()}, _sliced


def _npz(path: Path, stack: ExitStack) -> tuple:
    archive = stack.enter_context(zipfile.ZipFile(path))
    members = [name for name in archive.namelist() if name.endswith(".npy")]
    _refuse_twice([name.removesuffix(".npy") for name in members], path)
    return {name.removesuffix(".npy"): _Member(archive, name) for name in members}, lambda member: member.rows


_OPENERS = {".npz": _npz, ".npy": _npy, ".nc": _netcdf, ".safetensors": _safetensors}
KINDS = tuple(_OPENERS)
"""Suffixes of files that can be read."""


class _Variable:
    """A variable of netCDF."""

    def __init__(self, variable: Any) -> None:
        self.variable, self.shape, self.dtype = variable, variable.shape, np.dtype(variable.dtype)

    def __getitem__(self, rows: slice) -> np.ndarray:
        return np.asarray(self.variable[rows])


class _Tensor:
    """A tensor of a safetensors file."""

    def __init__(self, part: Any) -> None:
        self.part, self.shape, self.dtype = part, tuple(part.get_shape()), np.dtype(_SAFETENSORS[part.get_dtype()])

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self.part[rows.start : min(rows.stop, self.shape[0])]


class _Member:
    """An array of an npz file, unpacked while it is read."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self.archive, self.name = archive, name
        with archive.open(name) as stream:
            self.shape, self.columns_first, self.dtype = _header(stream)
            self.offset = stream.tell()

    def rows(self, first: int, step: int) -> Iterator[np.ndarray]:
        if self.columns_first and len(self.shape) > 1:  # rows lie scattered: there is no reading them one by one
            with self.archive.open(self.name) as stream:
                yield from _sliced(np.lib.format.read_array(stream, allow_pickle=False))(first, step)
            return
        size = prod(self.shape[1:]) * self.dtype.itemsize
        with self.archive.open(self.name) as stream:
            stream.seek(self.offset + first * size)
            for start in range(first, self.shape[0], step):
                rows = min(step, self.shape[0] - start)
                content = stream.read(rows * size)
                yield np.frombuffer(content, self.dtype).reshape(rows, *self.shape[1:])


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    return readers[np.lib.format.read_magic(stream)](stream)
