"""Responses of a layer less their mean over samples, in single precision, a few samples at a time.

Samples are dealt to blocks at random, so that leaving out one block after the other says how much the sample matters,
in whatever order a file has its samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from carryover.diagnosis.activations.sources import Layer
from carryover.errors import UserError
from carryover.measures.dimensionality import constant
from carryover.streams import generator

BLOCKS = 20
HELD = 2**29  # bytes of a layer that are held at a time: all of it, if it fits, is read once
_PIECE = 2**21  # numbers that are read at a time


def dealt(samples: int) -> np.ndarray:
    """(samples,) block of each sample, `BLOCKS` of them or as many as samples, of equal sizes up to one."""
    order = generator("diagnosis", "", 0, "blocks").permutation(samples)
    return order % min(BLOCKS, samples)


class Rooms:
    """Large arrays by name, used again for the next layer: fresh memory costs about as much as what is done in it."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}

    def get(self, name: str, *shape: int) -> np.ndarray:
        """Numbers of single precision, whatever they are, in this shape; what had the name before is overwritten."""
        if name not in self._arrays or self._arrays[name].size < prod(shape):
            self._arrays.pop(name, None)
            self._arrays[name] = np.empty(prod(shape), np.float32)
        return self._arrays[name][: prod(shape)].reshape(shape)


class Responses:
    """X, (samples, units), less its mean and times a power of two that brings it to the order of 1.

    Made by reading the layer once. Raises UserError naming it where it is not finite or the same for all samples.
    `rooms` may be shared by responses of other names.

    Attributes: layer, rooms; block (samples,) of each sample; sums (blocks, units) of X by block.
    """

    def __init__(self, name: str, layer: Layer, block: np.ndarray, rooms: Rooms) -> None:
        self.layer, self.block, self.rooms, self._name = layer, block, rooms, name
        self.step = min(len(block), max(1, HELD // (4 * layer.units)))
        self._piece = max(1, _PIECE // layer.units)
        self._read = None
        low, high, origin, sums = self._survey()
        if not (np.isfinite(low).all() and np.isfinite(high).all() and np.isfinite(sums).all()):
            raise UserError(f"{layer.where} must be finite{self._where_not()}")
        if constant(low, high, layer.dtype):
            raise UserError(f"{layer.where} must vary between samples: leave it out by naming the other layers")
        self._scale = 2.0 ** -max(np.frexp((high - low).max())[1], -1000)
        offset = sums.sum(axis=0) / len(block)
        self._mean = origin + offset
        self.sums = ((sums - np.bincount(block)[:, None] * offset) * self._scale).astype(np.float32)
        if self.step == len(block):
            self._read = next(self.parts(self.step))[1]

    def _survey(self) -> tuple[np.ndarray, ...]:
        """Smallest and largest responses (units,), those to the first sample, and the sums of what others are more."""
        sums, start = np.zeros((self.block.max() + 1, self.layer.units)), 0
        for part in self.layer.parts(self._piece):
            if not start:
                low, high, origin = part[0], part[0], part[0].astype(np.float64)
            low, high = np.minimum(low, part.min(axis=0)), np.maximum(high, part.max(axis=0))
            member = self.block[start : start + len(part)] == np.arange(len(sums))[:, None]
            with np.errstate(invalid="ignore", over="ignore"):  # refused by the caller
                sums += member.astype(np.float64) @ (part - origin)
            start += len(part)
        return low.astype(np.float64), high.astype(np.float64), origin, sums

    def _where_not(self) -> str:
        start = 0
        for part in self.layer.parts(self._piece):
            if len(wrong := np.flatnonzero(~np.isfinite(part).all(axis=1))):
                return f", and sample {start + wrong[0]} is not"
            start += len(part)
        return ", and is too large to be summed"

    def rows(self, some: np.ndarray) -> np.ndarray:
        """X of these samples, whose numbers ascend, (some, units) float32."""
        picked = [part[some[(some >= at.start) & (some < at.stop)] - at.start] for at, part in self.parts(self.step)]
        return np.concatenate(picked)

    def parts(self, step: int, first: int = 0, room: str = "") -> Iterator[tuple[slice, np.ndarray]]:
        """(which samples, their X (step, units) float32) from `first` on, and all of the rest.

        A part lies where the one before was, unless `room` is another.
        """
        pieces = self._pieces(first)
        left: Any = ()
        for start in range(first, len(self.block), step):
            rows = slice(start, min(start + step, len(self.block)))
            if self._read is not None:
                yield rows, self._read[rows]
                continue
            part, done = self.rooms.get(self._name + room, rows.stop - start, self.layer.units), 0
            while done < len(part):
                left = left if len(left) else next(pieces)
                some, left = left[: len(part) - done], left[len(part) - done :]
                part[done : done + len(some)] = some
                done += len(some)
            yield rows, part

    def _pieces(self, first: int) -> Iterator[np.ndarray]:
        """X from `first` on, in one go through the file, for to begin anew may be to unpack it anew."""
        for piece in self.layer.parts(self._piece, first):
            centred = np.subtract(piece, self._mean, dtype=np.float64)
            centred *= self._scale
            yield centred
