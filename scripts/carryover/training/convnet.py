"""Gradient descent of convolutional networks on classes of images."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
import torch
from torch import nn

from carryover.tasks.image_tasks import ClassTask, PreparedImages
from carryover.training.convnet_ensemble import ConvnetEnsemble
from carryover.training.integrate import Ensemble, History, Values, log_checkpoints, slices, train
from carryover.training.result import Trained

Batch = tuple[torch.Tensor, torch.Tensor]  # images (R, b, C, H, W) and labels (R, b)
_RENEWED = 1024  # most images whose statistics normalisations start with
_EVALUATED = 2048, 512  # most test images in one forward pass: of all networks, and of one


@dataclass(frozen=True)
class Problem:
    """Networks of one shape to be trained on classes of images.

    Each task has as many classes for all runs; their outputs stand side by side. Generators are of a run, a use
    ("order", "augmentation", "dropout") and the number of the epoch or step, so that a run does not depend on its
    companions.
    """

    network: nn.Module  # of their shape, which is left as it is
    state: Callable[[int], Mapping[str, torch.Tensor]]  # by run: parameters and buffers before the first step
    tasks: Sequence[Sequence[ClassTask]]  # the main task first, each by run
    images: PreparedImages
    draws: Callable[[int, str, int], np.random.Generator]
    pretrained_readouts: Sequence[tuple[torch.Tensor, torch.Tensor]] = ()
    """By run: weights and biases of the last layer that pretraining ended with; none where its classes are unknown."""


def gradient_descent(
    problem: Problem, *, max_epochs: int, checkpoints: int = 16, together: int = 32, **settings: Any
) -> Trained:
    """Train networks until the mean loss of an epoch's batches is at most `tolerance`, or for `max_epochs`.

    Parameters
    ----------
    batch_size : int
        Most samples of a task in a batch (0: all). An epoch goes once through the samples of the largest task, in
        batches whose sizes differ by one at most; smaller tasks repeat their batches.
    checkpoints : int
        The most log-spaced epochs after which loss and risk are recorded, besides a network's last one.
    together : int
        Most networks in one ensemble. Those of an ensemble must have equal numbers of samples of each task.
    decay : str
        Of the `learning_rate`: "constant", or "cosine" to 0 at `max_epochs`.
    renew : bool
        Whether the running statistics of normalisations are set to those of the first 1024 samples before training.
    renew_tested : bool
        Whether this is repeated before each test. Without it, networks are tested with the running statistics, which
        lag behind the weights if there are only some tens of steps.
    weight_decay, precision, device
        Those of `ConvnetEnsemble`.

    Returns
    -------
    Trained
        Weights are (R, P) as `ConvnetEnsemble.pack` gives them; the risk is the share of test images that are
        misclassified, with the statistics that `renew_tested` says.

    Raises
    ------
    Divergence
        The loss of some runs is not finite.
    """
    schedule = log_checkpoints(max_epochs, checkpoints)
    history = History(len(problem.tasks[0]), checkpoints=len(schedule))
    training = partial(_Training, problem=problem, schedule=schedule, **settings)
    counts = np.array([[len(one.train) for one in task] for task in problem.tasks])
    kinds = np.unique(counts, axis=1, return_inverse=True)[1].ravel()  # (runs,), equal for equal numbers of samples
    for kind in range(kinds.max() + 1):
        train(training, history, together, np.flatnonzero(kinds == kind))
    return history.result(lambda packed: packed)


class _Training(Ensemble):
    """Convolutional networks that are trained epoch by epoch, with the settings of `gradient_descent`."""

    PER_RUN = ("time", "loss", "risk")

    def __init__(
        self, runs: np.ndarray, problem: Problem, schedule: np.ndarray, *, learning_rate: float,
        decay: str = "constant", batch_size: int = 128, tolerance: float = 0.0, renew: bool = False,
        renew_tested: bool = False, **options: Any,
    ) -> None:  # fmt: skip
        columns = slices(len(task[0].classes) for task in problem.tasks)
        states = [problem.state(int(run)) for run in runs]
        self.networks = ConvnetEnsemble(problem.network, states, columns, problem.images.shape, runs=runs, **options)
        self.problem, self.feed = problem, Feed(self.networks, problem, batch_size)
        self.rates = np.full(max(schedule) * self.feed.per_epoch, learning_rate)
        if decay == "cosine":
            self.rates = self.rates * (1 + np.cos(math.pi * np.arange(len(self.rates)) / len(self.rates))) / 2
        self.tolerance, self.schedule, self.renew, self.renew_tested = tolerance, schedule, renew, renew_tested
        self.runs, self.evaluations = runs, 0
        self.time = self.loss = self.risk = torch.full((len(runs),), torch.nan, dtype=torch.float64)

    def advance(self) -> torch.Tensor:
        """Train for one epoch, and test the networks that are recorded after it; the mask (R,) of these."""
        if self.renew and not self.evaluations:  # before the first step
            self.networks.renew_statistics(self.feed.first())
        losses = torch.zeros_like(self.loss)
        for images, labels, masks in self.feed.epoch(self.steps - 1):
            losses += self.networks.step(images, labels, self.rates[self.evaluations], masks).cpu()
            self.evaluations += 1
        self.loss = losses / self.feed.per_epoch
        self.time = torch.full_like(self.loss, self.rates[: self.evaluations].sum())
        self.raise_divergence(~torch.isfinite(self.loss), "the training loss became infinite or not a number")
        recorded = (self.loss <= self.tolerance) | bool(self.steps in self.schedule)  # the schedule has the last epoch
        self.risk = torch.full_like(self.loss, torch.nan)
        if not recorded.any():
            return recorded
        if self.renew_tested:
            self.networks.renew_statistics(self.feed.first())
        # The risk is the share of its test images that each recorded network misclassifies.
        places = np.flatnonzero(recorded.numpy())
        own = [self.problem.tasks[0][run] for run in self.runs[places]]
        counts = np.array([len(task.test) for task in own])
        at_once, wrong = min(_EVALUATED[1], max(1, _EVALUATED[0] // len(own))), np.zeros(len(own))
        for first in range(0, counts.max(), at_once):
            # A forward pass takes `at_once` images of every network. A network with fewer test images than others
            # repeats its last one, which is not counted: `chunk` numbers test images, and `rows` are those that exist.
            chunk = np.arange(first, min(first + at_once, counts.max()))
            rows = np.minimum(chunk, counts[:, None] - 1)
            batches = [self.problem.images.batch("test", task.test[row], device=self.networks.device)
                       for task, row in zip(own, rows, strict=True)]  # fmt: skip
            # (networks, images, classes of the main task)
            outputs = self.networks.outputs(places, torch.stack(batches))[:, :, self.networks.columns[0]]
            expected = np.stack([task.test_labels[row] for task, row in zip(own, rows, strict=True)])
            wrong += ((outputs.argmax(2).cpu().numpy() != expected) & (chunk < counts[:, None])).sum(1)
        self.risk[recorded] = torch.from_numpy(wrong / counts)
        return recorded

    def find_ended(self) -> torch.Tensor:
        return (self.loss <= self.tolerance) | (self.evaluations == len(self.rates))

    def weights(self) -> list[Values]:
        return [self.networks.pack()]

    def keep(self, which: torch.Tensor) -> None:
        super().keep(which)
        self.networks.keep(which)
        self.feed.plain.clear()  # to be taken of the networks that are left


class Feed:
    """Batches of every task, stacked over the networks of an ensemble that may shrink."""

    def __init__(self, ensemble: ConvnetEnsemble, problem: Problem, size: int) -> None:
        """Batches have at most `size` samples, or for 0 all of a task, of which each network has equally many."""
        self._ensemble, self._problem = ensemble, problem
        self._counts = [len(task[ensemble.runs[0]].train) for task in problem.tasks]  # samples of each task
        self._steps = [-(-count // size) if size and count > size else 1 for count in self._counts]  # and its batches
        self.per_epoch = max(self._steps)  # of the largest task: smaller ones begin again
        self.plain: dict[int, Batch] = {}  # of whole tasks, by place, where they are the same in every step

    def epoch(self, epoch: int) -> Iterator[tuple[list[torch.Tensor], list[torch.Tensor], list[torch.Tensor]]]:
        """Yield the data of each step of an epoch, counted from 0: lists by task of images (R, b, C, H, W) and of
        labels (R, b), and `dropout_masks`."""
        rngs = self._generators("order", epoch) if self.per_epoch > 1 else []
        parts = []  # for each task a list of its batches, as indices of samples (R, b)
        for count, steps in zip(self._counts, self._steps, strict=True):
            order = np.stack([rng.permutation(count) for rng in rngs]) if steps > 1 else self._first(count)
            parts.append(np.array_split(order, steps, axis=1))
        for step in range(self.per_epoch):
            number = epoch * self.per_epoch + step  # of the step, counted from the start of training
            augments = self._problem.images.crop or self._problem.images.flip
            rngs = self._generators("augmentation", number) if augments else []
            batches = []
            for place, own in enumerate(parts):  # tasks with fewer batches begin again
                batches.append(self.plain.get(place) or self._take(place, own[step % len(own)], rngs))
                if len(own) == 1 and not rngs:  # this task's batch is the same in every step, so it is kept
                    self.plain[place] = batches[-1]
            images, labels = (list(column) for column in zip(*batches, strict=True))
            yield images, labels, self.dropout_masks(number, sum(batch.shape[1] for batch in images))

    def dropout_masks(self, number: int, images: int) -> list[torch.Tensor]:
        """For each dropout layer a tensor (R, images, units): 2 (unit kept) or 0 (dropped), each with probability 1/2.

        `number` is that of the step, counted from the start of training.
        """
        layers = self._ensemble.units_dropped
        if not layers:
            return []
        count, rngs = images * sum(layers), self._generators("dropout", number)
        drawn = np.stack([np.frombuffer(rng.bytes(-(-count // 8)), np.uint8) for rng in rngs])
        bits = torch.from_numpy(np.unpackbits(drawn, axis=1, count=count)).to(torch.float32).mul_(2)
        parts = bits.split([images * units for units in layers], dim=1)
        return [part.view(len(rngs), images, units) for part, units in zip(parts, layers, strict=True)]

    def first(self) -> list[torch.Tensor]:
        """The first images of every task, without augmentation."""
        counts = [min(count, _RENEWED) for count in self._counts]
        return [self._take(place, self._first(count))[0] for place, count in enumerate(counts)]

    def _generators(self, use: str, number: int) -> list[np.random.Generator]:
        return [self._problem.draws(int(run), use, number) for run in self._ensemble.runs]

    def _first(self, count: int) -> np.ndarray:
        """The first samples of a task for each network, (R, count)."""
        return np.tile(np.arange(count), (len(self._ensemble), 1))

    def _take(self, place: int, samples: np.ndarray, rngs: Sequence[np.random.Generator] = ()) -> Batch:
        """Those `samples` (R, b) of a task, augmented if there are generators."""
        batches, labels = [], []
        for run, some, rng in zip_longest(self._ensemble.runs, samples, rngs):
            task = self._problem.tasks[place][run]
            batches.append(self._problem.images.batch("train", task.train[some], rng, self._ensemble.device))
            labels.append(task.train_labels[some])
        return torch.stack(batches), torch.from_numpy(np.stack(labels))
