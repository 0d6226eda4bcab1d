"""Gradient descent of convolutional networks on classes of images."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from carryover.tasks.prepared_images import PreparedImages
from carryover.training.convnet_ensemble import ConvnetEnsemble
from carryover.training.integrate import Ensemble, History, Progress, Values, integrate, log_spaced
from carryover.training.result import Trained

Draws = Callable[[int, str, int], np.random.Generator]
Generators = Sequence[np.random.Generator | None]
Batch = tuple[torch.Tensor, torch.Tensor]  # images (R, b, C, H, W) and labels (R, b)
Stacks = tuple[list[torch.Tensor], list[torch.Tensor]]  # of every task
_RENEWED = 1024  # most images whose statistics normalisations start with
Test = tuple[np.ndarray, np.ndarray]  # indices in the set's test images, and labels
_EVALUATED = 2048, 512  # most test images in one forward pass: of all networks, and of one


@dataclass(frozen=True)
class Samples:
    """Training images of one task, of every network; equally many of each."""

    indices: np.ndarray  # (R, n), in the set's training images
    labels: np.ndarray  # (R, n), from 0
    columns: slice  # the outputs that tell the classes of this task apart


def gradient_descent(
    network: nn.Module,
    start: Sequence[Mapping[str, torch.Tensor]],
    tasks: Sequence[Samples],
    tests: Sequence[Test],
    images: PreparedImages,
    draws: Draws,
    *,
    learning_rate: float,
    decay: str = "constant",
    weight_decay: float = 0.0,
    batch_size: int = 128,
    tolerance: float = 0.0,
    max_epochs: int,
    checkpoints: int = 16,
    renew: bool = False,
    renew_tested: bool = False,
    precision: str = "float32",
    device: torch.device | str = "cpu",
    progress: Progress | None = None,
) -> Trained:
    """Train networks of one shape until their loss, the mean over an epoch's batches, is `tolerance`, or to the end.

    Parameters
    ----------
    network : nn.Module
        One of their shape, which is left as it is.
    start : sequence of {name: tensor}
        Parameters and buffers of the networks before the first step.
    tasks : sequence of Samples
        The first one is the main task. An epoch goes once through the samples of the largest task, in batches of at
        most `batch_size` (0: of any size) whose sizes differ by one at most; smaller tasks begin again.
    tests : sequence of (indices in the set's test images, labels)
        Of the main task for every network.
    draws : function of run, use ("order", "augmentation", "dropout") and number of the epoch or step
        A generator. So a run does not depend on its companions.
    decay : str
        Of the learning rate: "constant", or "cosine" to 0 at `max_epochs`.
    checkpoints : int
        The most log-spaced epochs after which loss and risk are recorded, besides a network's last one.
    renew : bool
        Whether training begins with the running statistics of the (first 1024) samples in normalisations.
    renew_tested : bool
        Whether networks are tested with these statistics as well, and not with running ones, which lag behind networks
        that are trained for some tens of steps.

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
    networks = ConvnetEnsemble(
        network, start, [task.columns for task in tasks], images.shape, weight_decay=weight_decay, precision=precision,
        device=device,
    )  # fmt: skip
    feed = Feed(networks, tasks, images, draws, batch_size)
    rates = np.full(max_epochs * feed.per_epoch, learning_rate)
    if decay == "cosine":
        rates = rates * (1 + np.cos(math.pi * np.arange(len(rates)) / len(rates))) / 2
    schedule = log_spaced(max_epochs, checkpoints)
    training = _Training(networks, feed, tests, images, rates, tolerance, schedule, renew, renew_tested)
    history = History(len(networks), checkpoints=len(schedule))
    integrate(training, history, progress)
    return history.trained(*history.stacked())


class _Training(Ensemble):
    """Convolutional networks, and the losses of an epoch; a step is one batch of every task."""

    PER_RUN = ("total", "time", "loss", "risk")

    def __init__(
        self, networks: ConvnetEnsemble, feed: Feed, tests: Sequence[Test], images: PreparedImages, rates: np.ndarray,
        tolerance: float, schedule: np.ndarray, renew: bool, renew_tested: bool,
    ) -> None:  # fmt: skip
        self.networks, self.feed, self.tests, self.images, self.rates = networks, feed, tests, images, rates
        self.tolerance, self.schedule, self.renew, self.renew_tested = tolerance, schedule, renew, renew_tested
        self.runs, self.report_every, self.evaluations = networks.runs, feed.per_epoch, 0
        self.total = torch.zeros(len(networks), dtype=torch.float64)  # of the losses in the steps of an epoch
        self.time = self.loss = self.risk = torch.full_like(self.total, torch.nan)  # after the last epoch
        self.order: list[np.ndarray | None] = []  # of the samples in this epoch, once it has begun

    def advance(self) -> torch.Tensor | None:
        number, self.evaluations = self.steps - 1, self.steps
        epoch, step = divmod(number, self.feed.per_epoch)
        if number == 0 and self.renew:
            self.networks.renew_statistics(self.feed.first())
        self.order = self.order or self.feed.order(epoch)
        images, labels = self.feed.batch(self.order, step, number)
        masks = self.feed.dropout_masks(number, sum(batch.shape[1] for batch in images))
        self.total += self.networks.step(images, labels, self.rates[number], masks).cpu()
        if step + 1 < self.feed.per_epoch:
            return None
        self.loss, self.total, self.order = self.total / self.feed.per_epoch, torch.zeros_like(self.total), []
        self.time = torch.full_like(self.loss, self.rates[: self.steps].sum())
        self.refuse(~torch.isfinite(self.loss), "the training loss became infinite or not a number")
        recorded = (self.loss <= self.tolerance) | bool(epoch + 1 in self.schedule)  # the last epoch is
        self.risk = torch.full_like(self.loss, torch.nan)
        if recorded.any():
            if self.renew_tested:
                self.networks.renew_statistics(self.feed.first())
            self.risk[recorded] = torch.from_numpy(self._test_errors(np.flatnonzero(recorded.numpy())))
        return recorded

    def ended(self) -> torch.Tensor | None:
        if self.steps % self.feed.per_epoch:
            return None
        return (self.loss <= self.tolerance) | (self.steps == len(self.rates))

    def weights(self) -> list[Values]:
        return [self.networks.packed(np.arange(len(self)))]

    def keep(self, which: torch.Tensor) -> None:
        super().keep(which)
        self.networks.keep(which.numpy())

    def _test_errors(self, places: np.ndarray) -> np.ndarray:
        """Share of its test images that each of the networks at `places` misclassifies."""
        own = [self.tests[int(run)] for run in self.runs[places]]
        counts = np.array([len(indices) for indices, _ in own])
        at_once, wrong = min(_EVALUATED[1], max(1, _EVALUATED[0] // len(own))), np.zeros(len(own))
        for first in range(0, counts.max(), at_once):
            # Where there are fewer images than of others, the last one stands in, and does not count.
            rows = [np.minimum(np.arange(first, first + at_once), count - 1) for count in counts]
            rows = [row[: max(counts) - first] for row in rows]
            batches = [self.images.batch("test", indices[row], device=self.networks.device)
                       for (indices, _), row in zip(own, rows, strict=True)]  # fmt: skip
            outputs = self.networks.outputs(places, torch.stack(batches))[:, :, self.networks.columns[0]]
            found = outputs.argmax(2).cpu().numpy()
            expected = np.stack([labels[row] for (_, labels), row in zip(own, rows, strict=True)])
            counted = np.arange(first, first + found.shape[1]) < counts[:, None]
            wrong += ((found != expected) & counted).sum(1)
        return wrong / counts


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
