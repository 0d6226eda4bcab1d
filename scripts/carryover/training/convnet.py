"""Gradient descent of convolutional networks on classes of images."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import nn

from carryover.tasks.prepared_images import PreparedImages
from carryover.training.convnet_batches import Draws, Feed, Samples
from carryover.training.convnet_ensemble import ConvnetEnsemble
from carryover.training.course import Course
from carryover.training.history import History, log_spaced
from carryover.training.result import Divergence, Trained

Test = tuple[np.ndarray, np.ndarray]  # indices in the set's test images, and labels
Progress = Callable[[dict], None]
_EVALUATED = 2048, 512  # most test images in one forward pass: of all networks, and of one


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
    momentum: float = 0.9,
    weight_decay: float = 0.0,
    batch_size: int = 128,
    tolerance: float = 0.0,
    max_epochs: int,
    checkpoints: int = 16,
    renew: bool = False,
    precision: str = "float32",
    device: torch.device | str = "cpu",
    progress: Progress | None = None,
) -> Trained:
    """Train networks of one shape until their loss, the mean over an epoch's batches, is `tolerance`, or to the end.

    Args:
        network: one of their shape, which is left as it is.
        start: parameters and buffers of the networks before the first step, by name.
        tasks: the first one is the main task. An epoch goes once through the samples of the largest task, in batches of
            at most `batch_size` that differ by one at most; smaller tasks begin again. Tasks of at most `batch_size`
            samples (0: of any size) are taken whole.
        tests: (indices in the set's test images, labels) of the main task for every network.
        draws: a generator by run, use ("order", "augmentation", "dropout") and number of the epoch or step: all that is
            random, so that training can go on from any step, and a run does not depend on what it is trained with.
        decay: of the learning rate, "constant", or "cosine" to 0 at `max_epochs`.
        checkpoints: loss and risk are recorded after so many log-spaced epochs at most, and where a network ends.
        renew: before training set the running statistics of normalisations to those of the (first 1024) samples.

    The weights of the result are (R, P) as `packed` gives them; the risk is the share of test images that are
    misclassified, with running statistics. Raises Divergence where a loss is not finite; UserError for a batch of one
    image where a layer that is normalised has one place.
    """
    ensemble = ConvnetEnsemble(
        network, start, [task.columns for task in tasks], images.shape, momentum=momentum, weight_decay=weight_decay,
        precision=precision, device=device,
    )  # fmt: skip
    feed = Feed(ensemble, tasks, images, draws, batch_size)
    training = _Training(
        ensemble, feed, tests, images, _rates(decay, learning_rate, max_epochs * feed.per_epoch), tolerance,
        log_spaced(max_epochs, checkpoints),
    )  # fmt: skip
    if training.course.ended:
        return training.history.trained(*training.history.stacked())
    if renew and not training.course.state:
        ensemble.renew_statistics(feed.first())
    while len(ensemble) and training.epoch < max_epochs:
        loss = training.one_epoch()
        training.close_epoch(loss, last=training.epoch == max_epochs)
        if progress is not None:
            step = training.epoch * feed.per_epoch
            progress({"step": step, "active": len(ensemble), "loss": float(loss.max())})
    training.course.end()
    return training.history.trained(*training.history.stacked())


class _Training:
    """Where the training of an ensemble is, and what it has found; it can stop and go on after any step."""

    def __init__(
        self, ensemble: ConvnetEnsemble, feed: Feed, tests: Sequence[Test], images: PreparedImages, rates: np.ndarray,
        tolerance: float, schedule: np.ndarray,
    ) -> None:  # fmt: skip
        self.ensemble, self.feed, self.tests, self.images, self.rates = ensemble, feed, tests, images, rates
        self.tolerance, self.schedule = tolerance, schedule
        self.history = History(len(ensemble), len(schedule))
        self.epoch = self.done = 0  # whole epochs, and steps of the next one
        self.total = np.zeros(len(ensemble))  # of the losses in these steps
        self.course = Course(self.history, ensemble.runs)
        if (state := self.course.state) and not self.course.ended:
            self.epoch, self.done, self.total = state["epoch"], state["step"], state["total"]
            ensemble.runs = state["runs"]
            ensemble.load(state["ensemble"])

    def one_epoch(self) -> np.ndarray:
        """The steps that are left of an epoch; mean losses (R,) over all of its steps."""
        order = self.feed.order(self.epoch)
        for step in range(self.done, self.feed.per_epoch):
            number = self.epoch * self.feed.per_epoch + step
            images, labels = self.feed.batch(order, step, number)
            kept = self.feed.kept(number, sum(batch.shape[1] for batch in images))
            self.total += self.ensemble.step(images, labels, self.rates[number], kept).cpu().numpy()
            self.done = step + 1
            if self.course.due():
                self.course.save(
                    epoch=self.epoch, step=self.done, total=self.total, runs=self.ensemble.runs,
                    ensemble=self.ensemble.state(),
                )  # fmt: skip
        loss = self.total / self.feed.per_epoch
        self.epoch, self.done, self.total = self.epoch + 1, 0, np.zeros(len(self.ensemble))
        if not np.isfinite(loss).all():
            unfinished = self.ensemble.runs[~np.isfinite(loss)].tolist()
            raise Divergence(unfinished, "the training loss became infinite or not a number")
        return loss

    def close_epoch(self, loss: np.ndarray, last: bool) -> None:
        """Record the networks that are to be looked at, and part with those that end; `loss` (R,) is the epoch's."""
        ensemble, history, steps = self.ensemble, self.history, self.epoch * self.feed.per_epoch
        converged = loss <= self.tolerance
        ended = converged | last
        recorded = ended | (self.epoch in self.schedule)
        if not recorded.any():
            return
        risk = np.full(len(loss), np.nan)
        risk[recorded] = self._test_errors(np.flatnonzero(recorded))
        values = {"time": np.full(len(loss), self.rates[:steps].sum()), "loss": loss, "risk": risk}
        history.record(ensemble.runs, values, recorded)
        if ended.any():
            own = {name: value[ended] for name, value in values.items()}
            weights = [ensemble.packed(np.flatnonzero(ended))]
            history.end(ensemble.runs[ended], weights, own, evaluations=steps, converged=converged[ended])
            ensemble.keep(~ended)
            self.total = np.zeros(len(ensemble))

    def _test_errors(self, places: np.ndarray) -> np.ndarray:
        """Share of its test images that each of the networks at `places` misclassifies."""
        own = [self.tests[int(run)] for run in self.ensemble.runs[places]]
        counts = np.array([len(indices) for indices, _ in own])
        at_once, wrong = min(_EVALUATED[1], max(1, _EVALUATED[0] // len(own))), np.zeros(len(own))
        for first in range(0, counts.max(), at_once):
            # Where there are fewer images than of others, the last one stands in, and does not count.
            rows = [np.minimum(np.arange(first, first + at_once), count - 1) for count in counts]
            rows = [row[: max(counts) - first] for row in rows]
            batches = [self.images.batch("test", indices[row], device=self.ensemble.device)
                       for (indices, _), row in zip(own, rows, strict=True)]  # fmt: skip
            outputs = self.ensemble.outputs(places, torch.stack(batches))[:, :, self.ensemble.columns[0]]
            found = outputs.argmax(2).cpu().numpy()
            expected = np.stack([labels[row] for (_, labels), row in zip(own, rows, strict=True)])
            counted = np.arange(first, first + found.shape[1]) < counts[:, None]
            wrong += ((found != expected) & counted).sum(1)
        return wrong / counts


def _rates(decay: str, learning_rate: float, steps: int) -> np.ndarray:
    """Learning rate of every step."""
    if decay == "constant":
        return np.full(steps, learning_rate)
    return learning_rate * (1 + np.cos(math.pi * np.arange(steps) / steps)) / 2
