"""Batches of a set of images as a network takes them: normalised, brought to a size, and, in training, augmented."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch.nn import functional as F

from carryover.tasks.augmentation import channel_statistics, normalised, random_crop, random_flip
from carryover.tasks.images import ImageSet


@dataclass(frozen=True)
class PreparedImages:
    """`images` by the batch, each channel with mean 0 and standard deviation 1 over all training images.

    Augmentation is by random crops of images padded with `crop` pixels, and random flips. Raises UserError for a
    channel that does not vary.
    """

    images: ImageSet
    pixels: int = 0  # height and width that images are brought to, bilinearly; 0: as they are
    crop: int = 0
    flip: bool = False
    _statistics: tuple[np.ndarray, np.ndarray] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_statistics", channel_statistics(self.images.train))

    @property
    def channels(self) -> int:
        return self.images.train.shape[1]

    @property
    def shape(self) -> tuple[int, ...]:
        """(C, H, W) of an image in a batch."""
        return (self.channels, self.pixels, self.pixels) if self.pixels else self.images.train.shape[1:]

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
        if rng is not None and self.crop:
            batch = random_crop(batch, rng, self.crop)
        if rng is not None and self.flip:
            batch = random_flip(batch, rng)
        batch = torch.from_numpy(normalised(batch, *self._statistics)).to(device)
        if self.pixels:
            batch = F.interpolate(batch, (self.pixels, self.pixels), mode="bilinear", antialias=True)
        return batch
