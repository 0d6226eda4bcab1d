"""Gradient descent of convolutional networks on classes of images."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import nn

from carryover.tasks.class_subsets import ClassTask
from carryover.tasks.prepared_images import PreparedImages
from carryover.training.convnet_ensemble import ConvnetEnsemble
from carryover.training.integrate import Ensemble, History, Progress, Values, log_spaced, train
from carryover.training.result import Trained

Tasks = Sequence[Sequence[ClassTask]]  # the main task first, each by run
State = Mapping[str, torch.Tensor]  # parameters and buffers by name
Draws = Callable[[int, str, int], np.random.Generator]
Generators = Sequence[np.random.Generator | None]
Batch = tuple[torch.Tensor, torch.Tensor]  # images (R, b, C, H, W) and labels (R, b)
Stacks = tuple[list[torch.Tensor], list[torch.Tensor]]  # of every task
_RENEWED = 1024  # most images whose statistics normalisations start with
_EVALUATED = 2048, 512  # most test images in one forward pass: of all networks, and of one


def gradient_descent(
    network: nn.Module,
    start: Callable[[int], State],
    tasks: Tasks,
    images: PreparedImages,
    draws: Draws,
    *,
    max_epochs: int,
    checkpoints: int = 16,
    together: int = 32,
    progress: Progress | None = None,
    **settings: Any,
) -> Trained:
    """Train networks of one shape until their loss, the mean over an epoch's batches, is `tolerance`, or to the end.

    Parameters
    ----------
    network : nn.Module
        One of their shape, which is left as it is.
    start : function of the run
        The network before the first step.
    tasks : sequence of tasks by run
        Each has as many classes for all runs; their outputs stand side by side. An epoch goes once through the samples
        of the largest task, in batches of at most `batch_size` (0: of any size) whose sizes differ by one at most;
        smaller tasks begin again.
    draws : function of run, use ("order", "augmentation", "dropout") and number of the epoch or step
        A generator. So a run does not depend on its companions.
    checkpoints : int
        The most log-spaced epochs after which loss and risk are recorded, besides a network's last one.
    together : int
        The most networks that are trained together, of those that have equally many samples.
    decay : str
        Of the `learning_rate`: "constant", or "cosine" to 0 at `max_epochs`.
    renew : bool
        Whether training begins with the running statistics of the (first 1024) samples in normalisations.
    renew_tested : bool
        Whether networks are tested with these statistics as well, and not with running ones, which lag behind networks
        that are trained for some tens of steps.
    weight_decay, precision, device
        Those of `ConvnetEnsemble`.

    Returns
    -------
    Trained
        Weights are (R, P) as `packed` gives them; the risk is the share of test images that are misclassified, with
        running statistics.

    Raises
    ------
    Divergence
        The loss of some runs is not finite.
    """
    schedule = log_spaced(max_epochs, checkpoints)
    history = History(len(tasks[0]), checkpoints=len(schedule))
    training = partial(
        _Training, network=network, start=start, tasks=tasks, images=images, draws=draws, schedule=schedule, **settings
    )
    counts = np.array([[len(one.train) for one in task] for task in tasks])
    kinds = np.unique(counts, axis=1, return_inverse=True)[1].ravel()
    for kind in range(kinds.max() + 1):
        train(training, history, together, progress, np.flatnonzero(kinds == kind))
    return history.trained(*history.stacked())


class _Training(Ensemble):
    """Convolutional networks that are trained epoch by epoch."""

    PER_RUN = ("time", "loss", "risk")
    report_every = 1

    def __init__(
        self, runs: np.ndarray, network: nn.Module, start: Callable[[int], State], tasks: Tasks,
        images: PreparedImages, draws: Draws, schedule: np.ndarray, *, learning_rate: float, decay: str = "constant",
        batch_size: int = 128, tolerance: float = 0.0, renew: bool = False, renew_tested: bool = False, **options: Any,
    ) -> None:  # fmt: skip
        ends = np.cumsum([0, *(len(task[0].classes) for task in tasks)]).tolist()
        columns = [slice(*pair) for pair in pairwise(ends)]
        states = [start(int(run)) for run in runs]
        self.networks = ConvnetEnsemble(network, states, columns, images.shape, runs=runs, **options)
        self.feed, self.tasks, self.images = Feed(self.networks, tasks, images, draws, batch_size), tasks, images
        self.rates = np.full(max(schedule) * self.feed.per_epoch, learning_rate)
        if decay == "cosine":
            self.rates = self.rates * (1 + np.cos(math.pi * np.arange(len(self.rates)) / len(self.rates))) / 2
        self.tolerance, self.schedule, self.renew, self.renew_tested = tolerance, schedule, renew, renew_tested
        self.runs, self.evaluations = runs, 0
        self.time = self.loss = self.risk = torch.full((len(runs),), torch.nan, dtype=torch.float64)

    def advance(self) -> torch.Tensor:
        per_epoch = self.feed.per_epoch
        if self.renew and not self.evaluations:
            self.networks.renew_statistics(self.feed.first())
        order, losses = self.feed.order(self.steps - 1), torch.zeros_like(self.loss)
        for step in range(per_epoch):
            images, labels = self.feed.batch(order, step, self.evaluations)
            masks = self.feed.dropout_masks(self.evaluations, sum(batch.shape[1] for batch in images))
            losses += self.networks.step(images, labels, self.rates[self.evaluations], masks).cpu()
            self.evaluations += 1
        self.loss = losses / per_epoch
        self.time = torch.full_like(self.loss, self.rates[: self.evaluations].sum())
        self.refuse(~torch.isfinite(self.loss), "the training loss became infinite or not a number")
        recorded = (self.loss <= self.tolerance) | bool(self.steps in self.schedule)  # the last epoch is
        self.risk = torch.full_like(self.loss, torch.nan)
        if recorded.any():
            if self.renew_tested:
                self.networks.renew_statistics(self.feed.first())
            self.risk[recorded] = torch.from_numpy(self._test_errors(np.flatnonzero(recorded.numpy())))
        return recorded

    def ended(self) -> torch.Tensor:
        return (self.loss <= self.tolerance) | (self.evaluations == len(self.rates))

    def weights(self) -> list[Values]:
        return [self.networks.packed()]

    def keep(self, which: torch.Tensor) -> None:
        super().keep(which)
        self.networks.keep(which)
        self.feed.keep(which)

    def _test_errors(self, places: np.ndarray) -> np.ndarray:
        """Share of its test images that each of the networks at `places` misclassifies."""
        own = [self.tasks[0][run] for run in self.runs[places]]
        counts = np.array([len(task.test) for task in own])
        at_once, wrong = min(_EVALUATED[1], max(1, _EVALUATED[0] // len(own))), np.zeros(len(own))
        for first in range(0, counts.max(), at_once):
            # Where there are fewer images than of others, the last one stands in, and does not count.
            rows = [np.minimum(np.arange(first, first + at_once), count - 1) for count in counts]
            rows = [row[: max(counts) - first] for row in rows]
            batches = [self.images.batch("test", task.test[row], device=self.networks.device)
                       for task, row in zip(own, rows, strict=True)]  # fmt: skip
            outputs = self.networks.outputs(places, torch.stack(batches))[:, :, self.networks.columns[0]]
            found = outputs.argmax(2).cpu().numpy()
            expected = np.stack([task.test_labels[row] for task, row in zip(own, rows, strict=True)])
            counted = np.arange(first, first + found.shape[1]) < counts[:, None]
            wrong += ((found != expected) & counted).sum(1)
        return wrong / counts


class Feed:
    """Batches of every task, stacked over the networks of an ensemble that may shrink."""

    def __init__(
        self, ensemble: ConvnetEnsemble, tasks: Tasks, images: PreparedImages, draws: Draws, size: int
    ) -> None:
        self._ensemble, self._tasks, self._images, self._draws = ensemble, tasks, images, draws
        self._counts = [len(task[ensemble.runs[0]].train) for task in tasks]
        self._steps = [-(-count // size) if size and count > size else 1 for count in self._counts]
        self.per_epoch = max(self._steps)
        self._plain: dict[int, Batch] = {}  # of whole tasks, by place, where they are the same in every step

    def order(self, epoch: int) -> list[np.ndarray | None]:
        """Of every task that is shuffled, the order of its samples, (R, n)."""
        if self.per_epoch == 1:
            return [None] * len(self._tasks)
        rngs = [self._draws(int(run), "order", epoch) for run in self._ensemble.runs]
        return [
            np.stack([rng.permutation(count) for rng in rngs]) if steps > 1 else None
            for count, steps in zip(self._counts, self._steps, strict=True)
        ]

    def batch(self, order: list[np.ndarray | None], step: int, number: int) -> Stacks:
        """Images and labels of every task in one step; `number` counts steps from the first epoch on."""
        rngs: Generators = [None] * len(self._ensemble)
        if self._images.augments:
            rngs = [self._draws(int(run), "augmentation", number) for run in self._ensemble.runs]
        batches = []
        for place, (task, steps, samples) in enumerate(zip(self._tasks, self._steps, order, strict=True)):
            if samples is not None:
                batches.append(self._taken(task, np.array_split(samples, steps, axis=1)[step % steps], rngs))
            elif place in self._plain:
                batches.append(self._plain[place])
            else:
                batches.append(self._taken(task, self._first(self._counts[place]), rngs))
                if not self._images.augments:
                    self._plain[place] = batches[-1]
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
        unchanged: Generators = [None] * len(self._ensemble)
        return [
            self._taken(task, self._first(min(count, _RENEWED)), unchanged)[0]
            for task, count in zip(self._tasks, self._counts, strict=True)
        ]

    def keep(self, which: torch.Tensor) -> None:
        """Drop the networks that are not in the boolean mask."""
        self._plain = {place: (images[which], labels[which]) for place, (images, labels) in self._plain.items()}

    def _first(self, count: int) -> np.ndarray:
        """The first samples of a task for each network, (R, count)."""
        return np.tile(np.arange(count), (len(self._ensemble), 1))

    def _taken(self, task: Sequence[ClassTask], places: np.ndarray, rngs: Generators) -> Batch:
        """(images (R, b, C, H, W), labels (R, b)) at `places` (R, b) of a task's samples."""
        batches, labels = [], []
        for run, some, rng in zip(self._ensemble.runs, places, rngs, strict=True):
            batches.append(self._images.batch("train", task[run].train[some], rng, self._ensemble.device))
            labels.append(task[run].train_labels[some])
        return torch.stack(batches), torch.from_numpy(np.stack(labels))
