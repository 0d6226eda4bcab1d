"""Batches of images of an ensemble of convolutional networks, each as its own random numbers have it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from carryover.tasks.prepared_images import PreparedImages
from carryover.training.convnet_ensemble import ConvnetEnsemble

Draws = Callable[[int, str, int], np.random.Generator]
Generators = Sequence[np.random.Generator | None]
Batch = tuple[torch.Tensor, torch.Tensor]  # images (R, b, C, H, W) and labels (R, b)
Stacks = tuple[list[torch.Tensor], list[torch.Tensor]]  # of every task
_RENEWED = 1024  # most images whose statistics normalisations start with


@dataclass(frozen=True)
class Samples:
    """Training images of one task, of every network; equally many of each."""

    indices: np.ndarray  # (R, n), in the set's training images
    labels: np.ndarray  # (R, n), from 0
    columns: slice  # the outputs that tell the classes of this task apart


class Feed:
    """Batches of every task, stacked over the networks of an ensemble that may shrink."""

    def __init__(
        self, ensemble: ConvnetEnsemble, tasks: Sequence[Samples], images: PreparedImages, draws: Draws, size: int
    ) -> None:
        self._ensemble, self._tasks, self._images, self._draws = ensemble, tasks, images, draws
        counts = [task.indices.shape[1] for task in tasks]
        self._steps = [-(-count // size) if size and count > size else 1 for count in counts]
        self.per_epoch = max(self._steps)
        self._known: tuple[int, ...] = ()  # runs of the batches in `_plain`
        self._plain: dict[int, Batch] = {}  # of whole tasks that are the same in every step

    def order(self, epoch: int) -> list[np.ndarray | None]:
        """Of every task that is shuffled, the order of its samples, (R, n)."""
        if self.per_epoch == 1:
            return [None] * len(self._tasks)
        rngs = [self._draws(int(run), "order", epoch) for run in self._ensemble.runs]
        return [
            np.stack([rng.permutation(task.indices.shape[1]) for rng in rngs]) if steps > 1 else None
            for task, steps in zip(self._tasks, self._steps, strict=True)
        ]

    def batch(self, order: list[np.ndarray | None], step: int, number: int) -> Stacks:
        """Images and labels of every task in one step; `number` counts steps from the first epoch on."""
        rngs: Generators = [None] * len(self._ensemble)
        if self._images.augments:
            rngs = [self._draws(int(run), "augmentation", number) for run in self._ensemble.runs]
        batches = []
        for place, (task, steps, places) in enumerate(zip(self._tasks, self._steps, order, strict=True)):
            if places is None:
                batches.append(self._whole(place, rngs))
            else:
                batches.append(self._taken(task, np.array_split(places, steps, axis=1)[step % steps], rngs))
        return [images for images, _ in batches], [labels for _, labels in batches]

    def dropout_masks(self, number: int, images: int) -> list[torch.Tensor]:
        """Units to keep in a step, (R, images, units) of 0 and 2, of every layer that drops half of them."""
        layers = self._ensemble.units_dropped
        if not layers:
            return []
        count = images * sum(layers)
        rngs = [self._draws(int(run), "dropout", number) for run in self._ensemble.runs]
        drawn = np.stack([np.frombuffer(rng.bytes(-(-count // 8)), np.uint8) for rng in rngs])
        bits = torch.from_numpy(np.unpackbits(drawn, axis=1, count=count)).to(torch.float32).mul_(2)
        parts = bits.split([images * units for units in layers], dim=1)
        return [part.view(len(rngs), images, units) for part, units in zip(parts, layers, strict=True)]

    def first(self) -> list[torch.Tensor]:
        """The first images of every task, without augmentation."""
        places = [np.arange(min(task.indices.shape[1], _RENEWED)) for task in self._tasks]
        every = [np.tile(some, (len(self._ensemble), 1)) for some in places]
        nothing: Generators = [None] * len(self._ensemble)
        return [self._taken(task, some, nothing)[0] for task, some in zip(self._tasks, every, strict=True)]

    def _whole(self, place: int, rngs: Generators) -> Batch:
        if self._known != (runs := tuple(self._ensemble.runs.tolist())):
            self._known, self._plain = runs, {}
        if place in self._plain:
            return self._plain[place]
        task = self._tasks[place]
        batch = self._taken(task, np.tile(np.arange(task.indices.shape[1]), (len(runs), 1)), rngs)
        if not self._images.augments:
            self._plain[place] = batch
        return batch

    def _taken(self, task: Samples, places: np.ndarray, rngs: Generators) -> Batch:
        """(images (R, b, C, H, W), labels (R, b)) at `places` (R, b) of a task's samples."""
        rows = self._ensemble.runs[:, None]
        indices, labels = task.indices[rows, places], task.labels[rows, places]
        device = self._ensemble.device
        batches = [self._images.batch("train", some, rng, device) for some, rng in zip(indices, rngs, strict=True)]
        return torch.stack(batches), torch.from_numpy(labels)
