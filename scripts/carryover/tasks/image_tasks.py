"""Tasks on sets of images: telling some of the classes apart, and batches of images as a network takes them.

"Feature reuse in multi-task learning and finetuning (appendix)", figure 8d, pretrains on 98 of CIFAR-100's classes and
finetunes on the other two; on the ten digits it is 8 and 2. A task holds where its images stand in the set, and batches
are read from there: normalised, brought to a size, and, in training, augmented.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch.nn import functional as F

from carryover.errors import UserError
from carryover.tasks.images import ImageSet, unit_pixels

_BLOCK = 1024  # images read at once


@dataclass(frozen=True)
class ClassTask:
    """Telling some classes apart; labels are numbered from 0 in the order of `classes`.

    Training and test images come from the two parts of an `ImageSet`, and so have none in common.
    """

    classes: tuple[int, ...]  # labels in the set
    train: np.ndarray  # (n,) indices of training images, in increasing order where all are taken
    train_labels: np.ndarray  # (n,)
    test: np.ndarray  # (k,) indices of test images, in increasing order
    test_labels: np.ndarray  # (k,)


def class_task(images: ImageSet, classes: Sequence[int | str]) -> ClassTask:
    """The task of classifying images into `classes`, with all training and test images of these classes.

    `classes` are distinct labels of the set, as numbers or texts; the task numbers them from 0 in this order. Raises
    UserError for a class that has no training or no test image.
    """
    numbers = tuple(map(int, classes))
    number, parts = np.zeros(images.classes, dtype=np.int64), []  # {old label: new label} as an array
    for part, labels in (("training", images.train_labels), ("test", images.test_labels)):
        if missing := sorted(set(numbers) - set(labels.tolist())):
            raise UserError(f"classes names {missing}, of which there are no {part} images: leave these out.")
        number[list(numbers)] = np.arange(len(numbers))
        chosen = np.flatnonzero(np.isin(labels, numbers))
        parts += [chosen, number[labels[chosen]]]
    return ClassTask(numbers, *parts)


def sample_task(task: ClassTask, samples: int, rng: np.random.Generator) -> ClassTask:
    """The task with `samples` of its training images, drawn without replacement, and all of its test images.

    Classes have equally many, or one more in some that are drawn, too. From generators in the same state, fewer samples
    are the first of more.

    Raises UserError where a class has fewer images than its share.
    """
    count = len(task.classes)
    share = -(-samples // count)
    members = [np.flatnonzero(task.train_labels == label) for label in range(count)]
    least, smallest = min((len(known), label) for label, known in enumerate(members))
    if share > least:
        raise UserError(
            f"samples is {samples}, {share} of each of {count} classes, but class {task.classes[smallest]} has {least} "
            "training images: lower samples."
        )
    # A row holds one image of each class, so that any number of first ones is balanced.
    rounds = np.stack([rng.permutation(members[label])[:least] for label in rng.permutation(count)], axis=1)
    chosen = rounds.ravel()[:samples]
    return replace(task, train=task.train[chosen], train_labels=task.train_labels[chosen])


def limit_test_images(task: ClassTask, count: int, rng: np.random.Generator) -> ClassTask:
    """The task with `count` of its test images, drawn without replacement; with all for 0, or where it has no more."""
    if not 0 < count < len(task.test):
        return task
    chosen = np.sort(rng.permutation(len(task.test))[:count])
    return replace(task, test=task.test[chosen], test_labels=task.test_labels[chosen])


def random_crop(images: np.ndarray, rng: np.random.Generator, padding: int) -> np.ndarray:
    """Images (n, C, H, W), each padded with `padding` zeros on all sides and cropped to its old size at a random place.

    All (2 padding + 1)² places are equally likely. CIFAR is usually padded by 4 pixels.
    """
    count, _, height, width = images.shape
    rows, columns = rng.integers(2 * padding + 1, size=(2, count))
    padded = np.pad(images, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    places = np.lib.stride_tricks.sliding_window_view(padded, (height, width), axis=(2, 3))
    return places[np.arange(count), :, rows, columns]


def random_flip(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Images (n, C, H, W), each mirrored left to right with probability 1/2.

    It is meant for photographs: a digit's mirror image is no digit.
    """
    flipped = rng.random(len(images)) < 0.5
    return np.where(flipped[:, None, None, None], images[..., ::-1], images)


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
        """Mean and standard deviation (C, 1, 1) that channels are normalised with; images are read by blocks."""
        if self.published:
            centre, spread = self.published
        else:
            images = self.images.train
            count = len(images) * images.shape[2] * images.shape[3]

            def mean(function):
                blocks = (unit_pixels(images[i : i + _BLOCK], np.float64) for i in range(0, len(images), _BLOCK))
                return sum(function(block).sum((0, 2, 3)) for block in blocks) / count

            centre = mean(lambda pixels: pixels)
            spread = np.sqrt(mean(lambda pixels: (pixels - centre[:, None, None]) ** 2))
            if (flat := np.flatnonzero(spread <= 1e-12)).size:  # rounding leaves no exact 0
                alike = "is the same in all training images, so that it cannot be normalised"
                raise UserError(f"channel {flat[0]} {alike}.")
        return [np.asarray(each, dtype=np.float32)[:, None, None] for each in (centre, spread)]

    @property
    def channels(self) -> int:
        return 3 if self.published else self.images.train.shape[1]

    @property
    def shape(self) -> tuple[int, ...]:
        """(C, H, W) of an image in a batch."""
        return (self.channels, *((self.pixels,) * 2 if self.pixels else self.images.train.shape[2:]))

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
