"""Gradient descent of convolutional networks on classes of images."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from carryover.errors import UserError
from carryover.tasks.prepared_images import PreparedImages
from carryover.training.convnet_ensemble import ConvnetEnsemble
from carryover.training.looks import epochs_of_looks
from carryover.training.result import Divergence, Trained
from carryover.training.saved_states import SavedStates

_EVALUATED = 512  # test images in one forward pass
_RENEWED = 1024  # most images whose statistics normalisations start with


@dataclass(frozen=True)
class Samples:
    """Training images of one task, of every network; equally many of each."""

    indices: np.ndarray  # (R, n), in the set's training images
    labels: np.ndarray  # (R, n), from 0
    columns: slice  # the outputs that tell the classes of this task apart


def descend(
    networks: Sequence[nn.Module],
    tasks: Sequence[Samples],
    tests: Sequence[tuple[np.ndarray, np.ndarray]],
    images: PreparedImages,
    draws: Callable[[int, str, int], np.random.Generator],
    *,
    learning_rate: float,
    decay: str = "constant",
    momentum: float = 0.9,
    weight_decay: float = 0.0,
    batch_size: int = 128,
    tolerance: float = 0.0,
    max_epochs: int,
    looks: int = 16,
    renew: bool = False,
    precision: str = "float32",
    device: torch.device | str = "cpu",
    saved: SavedStates | None = None,
    name: str = "state",
    progress=None,
) -> Trained:
    """Train networks of one shape until their loss, the mean over an epoch's batches, is `tolerance`, or to the end.

    Args:
        tasks: the first one is the main task. An epoch goes once through the samples of the largest task, in batches of
            at most `batch_size` that differ by one at most; smaller tasks begin again. Tasks of at most `batch_size`
            samples (0: of any size) are taken whole.
        tests: (indices in the set's test images, labels) of the main task for every network.
        draws: a generator by run, use ("order", "augmentation", "dropout") and number of the epoch or step: all that is
            random, so that training can go on from any step, and a run does not depend on what it is trained with.
        decay: of the learning rate, "constant", or "cosine" to 0 at `max_epochs`.
        renew: before training set the running statistics of normalisations to those of the (first 1024) samples.
        saved, name: where to keep the state from time to time, and its name there.

    The weights of the result are (R, P) as `packed` gives them; the risk is the share of test images that are
    misclassified, with running statistics. Raises Divergence where a loss is not finite; ValueError where networks
    that drop units at random are to be trained together; UserError for a batch of one image where a layer that is
    normalised has one place.
    """
    if len(networks) > 1 and drops_units(networks[0]):
        raise ValueError("networks that drop units at random must be trained one at a time")
    options = {"momentum": momentum, "weight_decay": weight_decay, "precision": precision, "device": device}
    ensemble = ConvnetEnsemble(networks, [task.columns for task in tasks], **options)
    feed = _Feed(ensemble, tasks, images, draws, batch_size)
    book = _Book(networks, tests, images, epochs_of_looks(max_epochs, looks), tolerance)
    saved = saved or SavedStates()
    epoch, done, total = _resumed(saved.load(name), ensemble, book)
    if renew and not (epoch or done):
        ensemble.renew_statistics(feed.first())
    rates = _rates(decay, learning_rate, max_epochs * feed.per_epoch)
    while len(ensemble) and epoch < max_epochs:
        order = feed.order(epoch)
        for step in range(done, feed.per_epoch):
            number = epoch * feed.per_epoch + step
            with _seeded(draws, ensemble.runs, number, drops_units(networks[0])):
                total += ensemble.step(*feed.batch(order, step, number), rates[number]).cpu().numpy()
            if saved.due():
                saved.save(name, _state(ensemble, book, epoch, step + 1, total))
        epoch, done, loss, total = epoch + 1, 0, total / feed.per_epoch, np.zeros(len(ensemble))
        _raise_if_diverged(ensemble, loss)
        ended = (loss <= tolerance) | (epoch == max_epochs)
        book.look(ensemble, epoch, epoch * feed.per_epoch, rates, loss, ended)
        if progress is not None:
            progress({"step": epoch * feed.per_epoch, "active": len(ensemble), "loss": float(loss.max())})
        if ended.any():
            ensemble.keep(~ended)
            total = np.zeros(len(ensemble))
    saved.save(name, _state(ensemble, book, max_epochs, 0, total))
    return book.trained()


def _raise_if_diverged(ensemble: ConvnetEnsemble, loss: np.ndarray) -> None:
    gone = ensemble.runs[~np.isfinite(loss)]
    if gone.size:
        raise Divergence(gone, "the training loss became infinite or not a number")


def drops_units(network: nn.Module) -> bool:
    """Whether a network drops units at random in training."""
    return any(isinstance(module, nn.Dropout) for module in network.modules())


def _rates(decay: str, learning_rate: float, steps: int) -> np.ndarray:
    """Learning rate of every step."""
    if decay == "constant":
        return np.full(steps, learning_rate)
    return learning_rate * (1 + np.cos(math.pi * np.arange(steps) / steps)) / 2


@contextmanager
def _seeded(draws, runs, number: int, drops: bool):
    """Let the units that are dropped depend on run and step alone: PyTorch draws them from its global generator."""
    if not drops:
        yield
        return
    with torch.random.fork_rng():
        torch.manual_seed(int(draws(int(runs[0]), "dropout", number).integers(2**63)))
        yield


class _Feed:
    """Batches of every task, stacked over the networks of an ensemble that may shrink."""

    def __init__(self, ensemble, tasks, images, draws, size) -> None:
        self._ensemble, self._tasks, self._images, self._draws = ensemble, tasks, images, draws
        counts = [task.indices.shape[1] for task in tasks]
        self._steps = [-(-count // size) if size and count > size else 1 for count in counts]
        self.per_epoch = max(self._steps)
        self._refuse_lone_images(size)
        self._known = ()  # runs of the batches in `_plain`, whole tasks that are the same in every step
        self._plain = {}

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

    def batch(self, order, step: int, number: int) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """Images and labels of every task in one step; `number` counts steps from the first epoch on."""
        rngs = [None] * len(self._ensemble)
        if self._images.augments:
            rngs = [self._draws(int(run), "augmentation", number) for run in self._ensemble.runs]
        found = []
        for place, (task, steps) in enumerate(zip(self._tasks, self._steps, strict=True)):
            if order[place] is None:
                found.append(self._whole(place, rngs))
            else:
                found.append(self._taken(task, np.array_split(order[place], steps, axis=1)[step % steps], rngs))
        return [images for images, _ in found], [labels for _, labels in found]

    def first(self) -> list[torch.Tensor]:
        """The first images of every task, without augmentation."""
        places = [np.arange(min(task.indices.shape[1], _RENEWED)) for task in self._tasks]
        every = [np.tile(some, (len(self._ensemble), 1)) for some in places]
        nothing = [None] * len(self._ensemble)
        return [self._taken(task, some, nothing)[0] for task, some in zip(self._tasks, every, strict=True)]

    def _whole(self, place, rngs):
        if self._known != (runs := tuple(self._ensemble.runs)):
            self._known, self._plain = runs, {}
        if place in self._plain:
            return self._plain[place]
        task = self._tasks[place]
        found = self._taken(task, np.tile(np.arange(task.indices.shape[1]), (len(runs), 1)), rngs)
        if not self._images.augments:
            self._plain[place] = found
        return found

    def _taken(self, task, places, rngs):
        """(images (R, b, C, H, W), labels (R, b)) at `places` (R, b) of a task's samples."""
        rows = self._ensemble.runs[:, None]
        indices, labels = task.indices[rows, places], task.labels[rows, places]
        device = self._ensemble.device
        batches = [self._images.batch("train", some, rng, device) for some, rng in zip(indices, rngs, strict=True)]
        return torch.stack(batches), torch.from_numpy(labels)


class _Book:
    """What is known of all runs, in the caller's order; `arrays` is all of it, for a saved state."""

    def __init__(self, networks, tests, images, schedule, tolerance) -> None:
        self._tests, self._images, self._schedule, self._tolerance = tests, images, schedule, tolerance
        runs, looks = len(networks), len(schedule)
        values = sum(tensor.numel() for tensor in networks[0].state_dict().values())
        self.arrays = {
            "weights": np.full((runs, values), np.nan, dtype=np.float32),
            "loss": np.full(runs, np.nan),
            "risk": np.full(runs, np.nan),
            "steps": np.zeros(runs, dtype=np.int64),
            **{f"{name}_curve": np.full((runs, looks), np.nan) for name in ("time", "loss", "risk")},
        }

    def look(self, ensemble, epoch: int, steps: int, rates, loss, ended) -> None:
        """At the epochs of the schedule all networks are looked at, at others those that end."""
        column = int(np.searchsorted(self._schedule, epoch))
        looked = np.flatnonzero(ended | (self._schedule[column] == epoch))
        if not looked.size:
            return
        rows = ensemble.runs[looked]
        risk = np.array([self._error(ensemble, place) for place in looked])
        curves = {"time": np.full(len(rows), rates[:steps].sum()), "loss": loss[looked], "risk": risk}
        for name, values in curves.items():
            self.arrays[f"{name}_curve"][rows, column] = values
        if ended.any():
            rows, over = ensemble.runs[ended], ended[looked]
            self.arrays["weights"][rows] = ensemble.packed(np.flatnonzero(ended))
            self.arrays["loss"][rows], self.arrays["risk"][rows] = loss[ended], risk[over]
            self.arrays["steps"][rows] = steps

    def trained(self) -> Trained:
        known = self.arrays
        return Trained(
            weights=known["weights"],
            loss=known["loss"],
            evaluations=known["steps"],
            converged=known["loss"] <= self._tolerance,
            risk_final=known["risk"],
            risk_best=np.fmin.reduce(known["risk_curve"], axis=1),
            time=known["time_curve"],
            curves={"loss": known["loss_curve"], "risk": known["risk_curve"]},
        )

    def _error(self, ensemble, place: int) -> float:
        """Share of the test images that one network misclassifies."""
        indices, labels = self._tests[ensemble.runs[place]]
        wrong = 0
        for start in range(0, len(indices), _EVALUATED):
            some = slice(start, start + _EVALUATED)
            batch = self._images.batch("test", indices[some], device=ensemble.device)
            outputs = ensemble.outputs(place, batch)[:, ensemble.columns[0]]
            wrong += int((outputs.argmax(1).cpu().numpy() != labels[some]).sum())
        return wrong / len(indices)


def _state(ensemble, book, epoch: int, step: int, total: np.ndarray) -> dict:
    arrays = {"runs": ensemble.runs, "total": total, **book.arrays}
    tensors = {name: torch.from_numpy(np.ascontiguousarray(values)) for name, values in arrays.items()}
    return {"epoch": epoch, "step": step, "arrays": tensors, "ensemble": ensemble.state()}


def _resumed(state: dict | None, ensemble, book) -> tuple[int, int, np.ndarray]:
    """(epoch, step in it, sum of its losses so far) to go on from, with ensemble and book brought there."""
    if state is None:
        return 0, 0, np.zeros(len(ensemble))
    arrays = {name: tensor.numpy() for name, tensor in state["arrays"].items()}
    ensemble.runs, total = arrays.pop("runs"), arrays.pop("total")
    ensemble.load(state["ensemble"])
    book.arrays = arrays
    return state["epoch"], state["step"], total
