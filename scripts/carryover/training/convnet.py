"""Gradient descent of convolutional networks on classes of images."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from carryover.errors import UserError
from carryover.tasks.prepared_images import PreparedImages
from carryover.training.convnet_ensemble import ConvnetEnsemble
from carryover.training.history import History, log_spaced
from carryover.training.result import Divergence, Trained
from carryover.training.saved_states import SavedStates

Draws = Callable[[int, str, int], np.random.Generator]
Generators = Sequence[np.random.Generator | None]
Batch = tuple[torch.Tensor, torch.Tensor]  # images (R, b, C, H, W) and labels (R, b)
Stacks = tuple[list[torch.Tensor], list[torch.Tensor]]  # of every task
Test = tuple[np.ndarray, np.ndarray]  # indices in the set's test images, and labels
_EVALUATED = 512  # test images in one forward pass
_RENEWED = 1024  # most images whose statistics normalisations start with


@dataclass(frozen=True)
class Samples:
    """Training images of one task, of every network; equally many of each."""

    indices: np.ndarray  # (R, n), in the set's training images
    labels: np.ndarray  # (R, n), from 0
    columns: slice  # the outputs that tell the classes of this task apart


def gradient_descent(
    start: Sequence[nn.Module],
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
    saved: SavedStates | None = None,
    name: str = "state",
    progress: Callable[[dict], None] | None = None,
) -> Trained:
    """Train networks of one shape until their loss, the mean over an epoch's batches, is `tolerance`, or to the end.

    Args:
        start: the networks before the first step.
        tasks: the first one is the main task. An epoch goes once through the samples of the largest task, in batches of
            at most `batch_size` that differ by one at most; smaller tasks begin again. Tasks of at most `batch_size`
            samples (0: of any size) are taken whole.
        tests: (indices in the set's test images, labels) of the main task for every network.
        draws: a generator by run, use ("order", "augmentation", "dropout") and number of the epoch or step: all that is
            random, so that training can go on from any step, and a run does not depend on what it is trained with.
        decay: of the learning rate, "constant", or "cosine" to 0 at `max_epochs`.
        checkpoints: loss and risk are recorded after so many log-spaced epochs at most, and where a network ends.
        renew: before training set the running statistics of normalisations to those of the (first 1024) samples.
        saved, name: where to keep the state from time to time, and its name there.

    The weights of the result are (R, P) as `packed` gives them; the risk is the share of test images that are
    misclassified, with running statistics. Raises Divergence where a loss is not finite; ValueError where networks
    that drop units at random are to be trained together; UserError for a batch of one image where a layer that is
    normalised has one place.
    """
    drops = drops_units(start[0])
    if len(start) > 1 and drops:
        raise ValueError("networks that drop units at random must be trained one at a time")
    ensemble = ConvnetEnsemble(
        start, [task.columns for task in tasks], momentum=momentum, weight_decay=weight_decay, precision=precision,
        device=device,
    )  # fmt: skip
    feed = _Feed(ensemble, tasks, images, draws, batch_size)
    schedule = log_spaced(max_epochs, checkpoints)
    history, saved = History(len(start), len(schedule)), saved or SavedStates()
    epoch, done, total = _resumed(saved.load(name), ensemble, history)
    if renew and not (epoch or done):
        ensemble.renew_statistics(feed.first())
    rates = _rates(decay, learning_rate, max_epochs * feed.per_epoch)
    while len(ensemble) and epoch < max_epochs:
        order = feed.order(epoch)
        for step in range(done, feed.per_epoch):
            number = epoch * feed.per_epoch + step
            with _seeded(draws, ensemble.runs, number, drops):
                total += ensemble.step(*feed.batch(order, step, number), rates[number]).cpu().numpy()
            if saved.due():
                saved.save(name, _state(ensemble, history, epoch, step + 1, total))
        epoch, done, loss, total = epoch + 1, 0, total / feed.per_epoch, np.zeros(len(ensemble))
        if not np.isfinite(loss).all():
            raise Divergence(
                ensemble.runs[~np.isfinite(loss)].tolist(), "the training loss became infinite or not a number"
            )
        converged, steps = loss <= tolerance, epoch * feed.per_epoch
        ended = converged | (epoch == max_epochs)
        recorded = ended | (epoch in schedule)
        if recorded.any():
            errors = [
                _test_error(ensemble, place, tests[int(run)], images) if which else np.nan
                for place, (run, which) in enumerate(zip(ensemble.runs, recorded, strict=True))
            ]
            values = {"time": np.full(len(loss), rates[:steps].sum()), "loss": loss, "risk": np.array(errors)}
            history.record(ensemble.runs, values, recorded)
        if progress is not None:
            progress({"step": steps, "active": len(ensemble), "loss": float(loss.max())})
        if ended.any():
            last = {name: value[ended] for name, value in values.items()}
            weights = [ensemble.packed(np.flatnonzero(ended))]
            history.end(ensemble.runs[ended], weights, last, evaluations=steps, converged=converged[ended])
            ensemble.keep(~ended)
            total = np.zeros(len(ensemble))
    saved.save(name, _state(ensemble, history, max_epochs, 0, total))
    return history.trained(*history.stacked())


def drops_units(network: nn.Module) -> bool:
    """Whether a network drops units at random in training."""
    return any(isinstance(module, nn.Dropout) for module in network.modules())


def _rates(decay: str, learning_rate: float, steps: int) -> np.ndarray:
    """Learning rate of every step."""
    if decay == "constant":
        return np.full(steps, learning_rate)
    return learning_rate * (1 + np.cos(math.pi * np.arange(steps) / steps)) / 2


@contextmanager
def _seeded(draws: Draws, runs: np.ndarray, number: int, drops: bool) -> Iterator[None]:
    """Let the units that are dropped depend on run and step alone: PyTorch draws them from its global generator."""
    if not drops:
        yield
        return
    with torch.random.fork_rng():
        torch.manual_seed(int(draws(int(runs[0]), "dropout", number).integers(2**63)))
        yield


class _Feed:
    """Batches of every task, stacked over the networks of an ensemble that may shrink."""

    def __init__(
        self, ensemble: ConvnetEnsemble, tasks: Sequence[Samples], images: PreparedImages, draws: Draws, size: int
    ) -> None:
        self._ensemble, self._tasks, self._images, self._draws = ensemble, tasks, images, draws
        counts = [task.indices.shape[1] for task in tasks]
        self._steps = [-(-count // size) if size and count > size else 1 for count in counts]
        self.per_epoch = max(self._steps)
        self._refuse_lone_images(size)
        self._known: tuple[int, ...] = ()  # runs of the batches in `_plain`
        self._plain: dict[int, Batch] = {}  # of whole tasks that are the same in every step

    def _refuse_lone_images(self, size: int) -> None:
        counts = [task.indices.shape[1] for task in self._tasks]
        if sum(count // steps for count, steps in zip(counts, self._steps, strict=True)) > 1:
            return
        if not self._ensemble.normalises(self._images.batch("train", self._tasks[0].indices[0, :1])):
            raise UserError(
                f"batch_size is {size}, so that one of {counts[0]} samples is a batch of its own, of which layers with "
                "one place cannot be normalised: raise batch_size, or change the number of samples."
            )

    def order(self, epoch: int) -> list[np.ndarray | None]:
        """Of every task that is shuffled, the order of its samples, (R, n)."""
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


def _test_error(ensemble: ConvnetEnsemble, place: int, test: Test, images: PreparedImages) -> float:
    """Share of the test images that one network misclassifies."""
    (indices, labels), wrong = test, 0
    for start in range(0, len(indices), _EVALUATED):
        some = slice(start, start + _EVALUATED)
        batch = images.batch("test", indices[some], device=ensemble.device)
        outputs = ensemble.outputs(place, batch)[:, ensemble.columns[0]]
        wrong += int((outputs.argmax(1).cpu().numpy() != labels[some]).sum())
    return wrong / len(indices)


def _state(ensemble: ConvnetEnsemble, history: History, epoch: int, step: int, total: np.ndarray) -> dict[str, Any]:
    arrays = {"runs": torch.from_numpy(ensemble.runs), "total": torch.from_numpy(total)}
    return {"epoch": epoch, "step": step, **arrays, "history": history.state(), "ensemble": ensemble.state()}


def _resumed(state: dict[str, Any] | None, ensemble: ConvnetEnsemble, history: History) -> tuple[int, int, np.ndarray]:
    """(epoch, step in it, sum of its losses so far) to go on from, with ensemble and history brought there."""
    if state is None:
        return 0, 0, np.zeros(len(ensemble))
    ensemble.runs = state["runs"].numpy()
    ensemble.load(state["ensemble"])
    history.load(state["history"])
    return state["epoch"], state["step"], state["total"].numpy()
