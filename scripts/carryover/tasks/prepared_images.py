"""Batches of a set of images as a network takes them: normalised, brought to a size, and, in training, augmented."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch.nn import functional as F

from carryover.errors import UserError
from carryover.tasks.images import ImageSet, unit_pixels

_BLOCK = 1024  # images read at once


def random_crop(images: np.ndarray, rng: np.random.Generator, padding: int) -> np.ndarray:
    """Every image of the batch, `padding` zeros put around it, cut to its size at a place of its own.

    All (2 padding + 1)² places are equally likely; shape and dtype stay. CIFAR is usually padded by 4 pixels.
    """
    count, _, height, width = images.shape
    rows, columns = rng.integers(2 * padding + 1, size=(2, count))
    padded = np.pad(images, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    places = np.lib.stride_tricks.sliding_window_view(padded, (height, width), axis=(2, 3))
    return places[np.arange(count), :, rows, columns]


def random_flip(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Every image of the batch, left and right exchanged with probability 1/2; shape and dtype stay.

    It is meant for photographs: a digit's mirror image is no digit.
    """
    flipped = rng.random(len(images)) < 0.5
    return np.where(flipped[:, None, None, None], images[..., ::-1], images)


def channel_statistics(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(mean (C,), standard deviation (C,)) float64 of the channels of training images, in units of `unit_pixels`.

    Images on disk are read twice, by blocks. Raises UserError for a channel that does not vary.
    """
    count = len(images) * images.shape[2] * images.shape[3]

    def mean(function):
        blocks = (unit_pixels(images[i : i + _BLOCK], np.float64) for i in range(0, len(images), _BLOCK))
        return sum(function(block).sum((0, 2, 3)) for block in blocks) / count

    centre = mean(lambda pixels: pixels)
    spread = np.sqrt(mean(lambda pixels: (pixels - centre[:, None, None]) ** 2))
    if (flat := np.flatnonzero(spread <= 1e-12)).size:  # rounding leaves no exact 0
        raise UserError(f"channel {flat[0]} is the same in all training images, so that it cannot be normalised.")
    return centre, spread


@dataclass(frozen=True)
class PreparedImages:
    """`images` by the batch, each channel with mean 0 and standard deviation 1 over all training images; or, with
    `published`, (mean, standard deviation) of three channels, normalised by these.

    Grey images get three equal channels where published statistics ask for them. Augmentation is by random crops of
    images padded with `crop` pixels, and random flips. Raises UserError for a channel that does not vary.
    """

    images: ImageSet
    pixels: int = 0  # height and width that images are brought to, bilinearly; 0: as they are
    crop: int = 0
    flip: bool = False
    published: tuple[Sequence[float], Sequence[float]] | None = None

    @cached_property
    def statistics(self) -> list[np.ndarray]:
        """Mean and standard deviation (C, 1, 1) that channels are normalised with."""
        values = self.published or channel_statistics(self.images.train)
        return [np.asarray(each, dtype=np.float32)[:, None, None] for each in values]

    @property
    def channels(self) -> int:
        return 3 if self.published else self.images.train.shape[1]

    @property
    def shape(self) -> tuple[int, ...]:
        """(C, H, W) of an image in a batch."""
        return (self.channels, *((self.pixels,) * 2 if self.pixels else self.images.train.shape[2:]))

    @property
    def augments(self) -> bool:
        return bool(self.crop or self.flip)

    def batch(
        self,
        part: str,
        indices: np.ndarray,
        rng: np.random.Generator | None = None,
        device: torch.device | str = "cpu",
    ) -> torch.Tensor:
        """Images (n, C, H, W) float32 of `part`, "train" or "test", at `indices` (n,); augmented if `rng` is given.

        They are brought to their size on `device`, so that only their own pixels have to get there.
        """
        batch = getattr(self.images, part)[indices]
        if batch.shape[1] < self.channels:
            batch = batch.repeat(self.channels, axis=1)
        if rng is not None and self.crop:
            batch = random_crop(batch, rng, self.crop)
        if rng is not None and self.flip:
            batch = random_flip(batch, rng)
        mean, spread = self.statistics
        batch = torch.from_numpy((unit_pixels(batch) - mean) / spread).to(device)
        if self.pixels:
            batch = F.interpolate(batch, (self.pixels, self.pixels), mode="bilinear", antialias=True)
        return batch
