"""How alike each layer of one network is to each layer of another, from their responses to the same samples.

    from carryover import layer_similarity
    matrix = layer_similarity("before.nc", "after.nc")          # (layer_before, layer_after)

Linear centred kernel alignment (CKA): for centred X and Y, ⟨K, L⟩ / √(⟨K, K⟩⟨L, L⟩) with K = XXᵀ and L = YYᵀ, where
⟨K, L⟩ = Σ K_ij L_ij = ‖XᵀY‖². With fewer samples than units it is too large: of unrelated layers it tends to 1. The
debiased one has in place of ⟨K, L⟩ the unbiased estimate of L. Song et al., "Feature selection via dependence
maximization" (2012), equation 4, which for centred kernels with diagonals a and b is a multiple of

    ⟨K, L⟩ − n/(n−2) a·b + Σa Σb / ((n−1)(n−2)).

Being unbiased it may be averaged over small batches of samples (T. Nguyen, M. Raghu and S. Kornblith, "Do wide and deep
networks learn the same things?", 2021, equation 3), which takes less time and no memory, and is less precise.

Kernels are computed a few rows at a time, their lower triangles alone, and every pair of layers is one entry of one
product; or products between units are, if that is less to compute. Products are in single precision, their sums in
double.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from carryover.diagnosis.activations import responses
from carryover.diagnosis.activations.responses import Responses, Rooms
from carryover.diagnosis.activations.sources import Activations, Layer, opened, same_samples
from carryover.errors import UserError

ROOM = 2**30  # bytes of kernels, or of products between units, that are held
_TILE = 512  # rows of kernels that are computed at a time
_COLUMNS = 2**13  # products that are summed in single precision


def layer_similarity(
    before: Mapping[str, Any] | str | Path,
    after: Mapping[str, Any] | str | Path,
    layers: Sequence[str] | str | None = None,
    other_layers: Sequence[str] | str | None = None,
    *,
    debiased: bool = False,
    batch: int | None = None,
) -> xr.DataArray:
    """Linear CKA of each layer before with each layer after, (layer_before, layer_after).

    Args:
        before, after: what `diagnose` takes: mappings {layer: (samples, …)} or files, of the same samples in the same
            order. Layers may have different units, and the networks different layers.
        layers: those of `before`, all by default.
        other_layers: those of `after`; `layers` by default.
        debiased: estimate CKA without the bias of few samples. It may be negative, and NaN where noise is all there is.
        batch: average the debiased estimate over batches of so many samples; a smaller rest is left out.

    Memory: 1 GiB of products, and up to 0.5 GiB of one layer or, where samples are many, of all layers together.

    Raises:
        UserError: a ValueError, in one sentence, for files that cannot be read, samples that differ in number or
            order, fewer than four samples if debiased, layers that a side lacks, that are not finite or do not vary.
    """
    with opened(before, "before") as old, opened(after, "after") as new:
        same_samples(old, new)
        names = _named(old, layers), _named(new, layers if other_layers is None else other_layers)
        xs, ys = ([side.layers[name] for name in chosen] for side, chosen in zip((old, new), names, strict=True))
        samples = xs[0].samples
        if (debiased or batch is not None) and min(samples, samples if batch is None else batch) < 4:
            batches = "" if batch is None else f" in batches of {batch}"
            raise UserError(f"a debiased similarity needs 4 samples or more, got {samples}{batches}")
        if batch is not None:
            cross, own = _by_batches(xs, ys, min(batch, samples))
        else:
            products = _between_units if _units_are_fewer(xs, ys) else _between_samples
            cross, own, squares = products(xs, ys)
            if debiased:
                cross, own = _debiased(cross, own, squares)
    size = np.sqrt(np.where(own > 0, own, np.nan))
    kind = "debiased " if debiased or batch is not None else ""
    attributes = {"long_name": f"{kind}linear CKA", "units": "1", "samples": samples}
    coords = dict(zip(("layer_before", "layer_after"), names, strict=True))
    alike = cross / np.outer(size[: len(xs)], size[len(xs) :])
    return xr.DataArray(alike, coords, tuple(coords), "cka", attributes)


def _debiased(cross: np.ndarray, own: np.ndarray, squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What replaces ⟨K, L⟩ (before, after) and ⟨K, K⟩ (layers,), from kernels' diagonals (layers, samples)."""
    split, n, total = len(cross), squares.shape[1], squares.sum(axis=1)
    weight, rest = n / (n - 2), (n - 1) * (n - 2)
    products = squares[:split] @ squares[split:].T, np.outer(total[:split], total[split:])
    cross = cross - weight * products[0] + products[1] / rest
    return cross, own - weight * (squares**2).sum(axis=1) + total**2 / rest


def _named(side: Activations, layers: Sequence[str] | str | None) -> list[str]:
    names = list(side.layers) if layers is None else [layers] if isinstance(layers, str) else list(layers)
    if missing := [name for name in names if name not in side.layers]:
        raise UserError(f"{side.name} lacks the layer {missing[0]}; it has {', '.join(side.layers)}")
    if not names:
        raise UserError(f"at least one layer of {side.name} must be named")
    return names


def _units_are_fewer(xs: list[Layer], ys: list[Layer]) -> bool:
    """Whether products between units are less to compute, and fit."""
    samples, units = xs[0].samples, [sum(layer.units for layer in side) for side in (xs, ys)]
    between = units[0] * units[1] + sum(layer.units**2 for layer in [*xs, *ys])
    kernels = samples / 2 * (sum(units) + len(xs) * len(ys))
    return between < kernels and 8 * between <= ROOM  # one is added to the other


def _between_samples(xs: list[Layer], ys: list[Layer]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """⟨K, L⟩ (before, after), ⟨K, K⟩ (layers,) and squared sizes of responses (layers, samples): of `xs`, then `ys`."""
    every, samples, rooms = [*xs, *ys], xs[0].samples, Rooms()
    widest = max(layer.units for layer in every)
    step = max(1, min(_TILE, samples, ROOM // (4 * len(every) * samples), responses.HELD // (4 * widest)))
    tiles = [slice(start, min(start + step, samples)) for start in range(0, samples, step)]
    sizes = [(tile.stop - tile.start) * (samples - tile.start) for tile in tiles]
    most = max(ROOM // (4 * len(every)), sizes[0])
    cross, own = np.zeros((len(xs), len(ys))), np.zeros(len(every))
    squares, done = np.zeros((len(every), samples)), 0
    while done < len(tiles):
        upto = done + int(np.searchsorted(np.cumsum(sizes[done:]), most, side="right"))
        kernels = rooms.get("kernels", len(every), sum(sizes[done:upto]))
        for kernel, layer, square in zip(kernels, every, squares, strict=True):
            x = _read(layer, rooms)
            _fill(kernel, x, tiles[done:upto], square)
        for start in range(0, kernels.shape[1], _COLUMNS):
            some = kernels[:, start : start + _COLUMNS]
            cross += some[: len(xs)] @ some[len(xs) :].T
            own += _squares(some)
        done = upto
    return cross, own, squares


def _fill(kernel: np.ndarray, x: Responses, tiles: list[slice], squares: np.ndarray) -> None:
    """The kernel's columns of these tiles from the diagonal down, one tile after the other, as numbers whose products
    are to be summed: those off the diagonal tile stand for two each."""
    samples, at = len(x.block), 0
    panels = []
    for tile in tiles:
        shape = samples - tile.start, tile.stop - tile.start
        panels.append((tile, kernel[at : at + shape[0] * shape[1]].reshape(shape)))
        at += shape[0] * shape[1]
    width = tiles[0].stop - tiles[0].start
    for rows, held in x.parts(x.step // width * width, tiles[0].start):
        mine = [(tile, panel) for tile, panel in panels if rows.start <= tile.start < rows.stop]
        if not mine:
            break
        squares[rows] = _squares(held)
        for columns, some in chain([(rows, held)], x.parts(max(1, x.step // 4), rows.stop, " beside")):
            for tile, panel in mine:
                first = max(tile.start, columns.start)
                out = panel[first - tile.start : columns.stop - tile.start]
                one = held[tile.start - rows.start : tile.stop - rows.start]
                np.matmul(some[first - columns.start :], one.T, out=out)
    for tile, panel in panels:
        panel[tile.stop - tile.start :] *= np.float32(2**0.5)


def _between_units(xs: list[Layer], ys: list[Layer]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `_between_samples`."""
    every, samples, rooms = [*xs, *ys], xs[0].samples, Rooms()
    units = np.array([layer.units for layer in every])
    step = max(1, min(samples, responses.HELD // (4 * units.sum())))
    read = [_read(layer, rooms, str(index), step < samples) for index, layer in enumerate(every)]
    split, ends = units[: len(xs)].sum(), np.cumsum(units)
    products = np.zeros((split, ends[-1] - split), np.float32)
    alone = [np.zeros((count, count), np.float32) for count in units]
    squares = np.zeros((len(every), samples))
    for parts in zip(*(x.parts(step) for x in read), strict=True):
        rows, together = parts[0][0], np.hstack([part for _, part in parts])
        products += together[:, :split].T @ together[:, split:]
        for index, (_, part) in enumerate(parts):
            alone[index] += part.T @ part
            squares[index, rows] = _squares(part)
    own = np.array([_squares(product).sum() for product in alone])
    edges = zip(ends[len(xs) - 1 : -1] - split, ends[len(xs) :] - split, strict=True)
    by_unit = np.array([_squares(products[:, first:last]) for first, last in edges])
    cross = np.add.reduceat(by_unit, np.r_[0, ends[: len(xs) - 1]], axis=1).T
    return cross, own, squares


def _by_batches(xs: list[Layer], ys: list[Layer], batch: int) -> tuple[np.ndarray, np.ndarray]:
    """Sums over batches of what replaces ⟨K, L⟩ and ⟨K, K⟩."""
    every, sums = [*xs, *ys], (np.zeros((len(xs), len(ys))), np.zeros(len(xs) + len(ys)))
    kernels = np.empty((len(every), batch, batch), np.float32)
    scales: list[float] = []
    size = np.zeros(len(every))
    for parts in zip(*(layer.parts(batch) for layer in every), strict=True):
        if len(parts[0]) < batch:
            break
        for index, (part, layer) in enumerate(zip(parts, every, strict=True)):
            values = part if part.dtype == np.float32 else part.astype(np.float64)
            values = values - values.mean(axis=0, dtype=np.float64).astype(values.dtype)
            if len(scales) == index:  # a power of two that brings the first batch to the order of 1
                scales.append(2.0 ** -max(np.frexp(np.abs(values).max())[1], -1000))
            values = (values * values.dtype.type(scales[index])).astype(np.float32, copy=False)
            np.matmul(values, values.T, out=kernels[index])
            if not np.isfinite(kernels[index].trace()):
                raise UserError(f"{layer.where} must be finite")
        squares = np.einsum("kii->ki", kernels).astype(np.float64)
        flat = kernels.reshape(len(every), -1)
        products = (flat[: len(xs)] @ flat[len(xs) :].T).astype(np.float64)
        for total, some in zip(sums, _debiased(products, _squares(flat), squares), strict=True):
            total += some
        size = np.maximum(size, squares.max(axis=1))
    if not size.all():
        raise UserError(f"{every[int(np.argmin(size))].where} must vary between the samples of a batch")
    return sums


def _squares(values: np.ndarray) -> np.ndarray:
    """Sums of squares of each row, to be summed in double precision."""
    return np.einsum("ij,ij->i", values, values).astype(np.float64)


def _read(layer: Layer, rooms: Rooms, name: str = "layer", anew: bool = False) -> Responses:
    """anew: each time that it is asked for, so that those of many layers are never in memory together."""
    x = Responses(name, layer, np.zeros(layer.samples, dtype=int), rooms)
    if anew:
        x._read, x.rooms = None, Rooms()
    return x
