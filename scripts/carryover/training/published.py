"""Descent as the released code of "feature reuse in multi-task learning and finetuning" runs it, for whole ensembles.

An epoch's loss is the mean of its batches' losses, each before its step. Training ends after the epoch whose loss is
below the tolerance, or with the last epoch. The test risk is seen after every fiftieth epoch, from the first one on,
and at the end. Numbers are in single precision, as there: small risks depend on it.

Sums run in another order here than there, which changes the last digit of a step. Where training enlarges it, a run
does not give the published digits, and neither does the released code on another processor.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch

from carryover.networks import relu
from carryover.training.devices import tensor, torch_device
from carryover.training.integrate import Ensemble, History, Values, take_runs, train
from carryover.training.result import Divergence, Samples, Trained

SEEN_EVERY = 50  # epochs
_CUT, _FALLBACKS = 10, 5  # the rate falls so much where the loss explodes, so many times at most
_COLUMNS = {"cpu": 128, "cuda": 2**20}  # samples at a time, whose hidden responses stay in the cache
_BYTES = {"cpu": 2**20, "cuda": 2**32}  # of the networks and responses of an ensemble


@dataclass(frozen=True)
class Rules:
    """How a released script trains."""

    rate: float
    tolerance: float  # of the loss
    epochs: int
    limit: float = 100.0  # of the loss, above which training starts again with a tenth of the rate
    batch: int = 0  # samples of a step; 0 for all
    probe: bool = False  # whether readouts of diagonal networks alone are trained


@dataclass(frozen=True)
class Problem:
    """Networks to train: one task for each readout, the main one last, and the inputs on which its risk is seen."""

    tasks: Sequence[Samples]
    start: Any  # Weights of ReLU or diagonal networks
    test: Samples  # of the main task
    rules: Rules
    last: np.ndarray  # (runs,) epochs at most
    tolerance: np.ndarray  # (runs,) of the loss
    generators: Sequence[torch.Generator]  # (runs,) from which batches are drawn
    teacher: np.ndarray  # (runs, D) coefficients of the main task of diagonal networks, (runs, 0) of ReLU networks


def descend(problem: Problem, device: str = "auto") -> Trained:
    """Train every run by `problem.rules`. Runs whose loss explodes start again at a tenth of the learning rate, up to
    `_FALLBACKS` times; Divergence if it still explodes then."""
    place, history, rate = torch_device(device), History(len(problem.last)), problem.rules.rate
    kind: type[PublishedDescent] = DiagonalDescent
    runs, together = np.arange(len(history)), len(history)
    if isinstance(problem.start, relu.Weights):
        _, H, D = problem.start.first.shape
        widest = min(_COLUMNS[place.type], sum(task.y.shape[1] for task in problem.tasks))
        # of float32: a block's hidden responses, and about three arrays of a first layer's size
        together, kind = _BYTES[place.type] // (4 * H * (widest + 3 * D)), ReluDescent
    while lost := train(partial(kind, problem=problem, rate=rate, device=place), history, together, runs):
        if rate < problem.rules.rate / _CUT ** (_FALLBACKS - 0.5):  # after all cuts; half a cut is room for rounding
            raise Divergence(lost, f"descent diverged with rates down to {rate:g}")
        rate, runs = rate / _CUT, np.array(lost)
    return history.result(type(problem.start))


class PublishedDescent(Ensemble):
    """Networks in training; a subclass says what an epoch and the test risk are."""

    PER_RUN: ClassVar[tuple[str, ...]] = ("last", "tolerance", "loss", "risk", "lost", "first", "second")
    lost: np.ndarray  # (R,) whether the loss has exploded
    first: torch.Tensor
    second: torch.Tensor
    eventful = False

    def __init__(self, runs: np.ndarray, problem: Problem, rate: float, device: torch.device) -> None:
        self.runs, self.rules, self.rate, self.device = runs, problem.rules, rate, device
        self.tolerance, self.last = problem.tolerance[runs].astype(np.float32), problem.last[runs]
        self.loss, self.risk = np.full((2, len(runs)), np.inf, np.float32)
        self.lost = np.zeros(len(runs), bool)

    @abstractmethod
    def epoch(self) -> torch.Tensor:
        """Take an epoch's steps; the losses (steps, R) of its batches before them."""

    @abstractmethod
    def test_risk(self, which: torch.Tensor) -> torch.Tensor:
        """Mean squared error (r,) of the main task on the test inputs, of the networks in the mask."""

    def find_finished(self) -> np.ndarray:
        return (self.loss < self.tolerance) | (self.last <= self.steps)

    def advance(self) -> torch.Tensor | None:
        """Train for one epoch; the mask (R,) of runs whose test risk was evaluated after it, None for none.

        `first` says that the epoch is one of those, each fiftieth, after which all runs are evaluated.
        """
        losses, first = self.epoch(), self.steps % SEEN_EVERY == 1
        least, largest = (value.item() for value in losses.aminmax())
        self.evaluations = self.steps * len(losses)
        # To save time, most epochs end here: no run is evaluated, has come to the tolerance (its mean loss is at least
        # the least loss of a batch), has exploded (NaN fails the comparison), or is in its last epoch.
        self.eventful = bool(first or least < self.tolerance.max() or not largest <= self.rules.limit
                             or self.steps >= self.last.min())  # fmt: skip
        if not self.eventful:
            return None
        by_batch = losses.cpu().numpy()
        self.loss, self.lost = by_batch.mean(0), np.any(~(by_batch <= self.rules.limit), axis=0)
        seen = ~self.lost & (self.find_finished() | first)
        if seen.any():
            self.risk[seen] = self.test_risk(torch.from_numpy(seen)).cpu()
        return torch.from_numpy(seen)

    def find_ended(self) -> torch.Tensor | None:
        """The mask (R,) of runs whose training is over, after runs whose loss exploded were dropped: `descend` trains
        these again at a lower rate. None after epochs in which nothing happened."""
        if not self.eventful:
            return None
        if self.lost.any():
            self.diverged = [*self.diverged, *self.runs[self.lost].tolist()]
            self.keep(torch.from_numpy(~self.lost))
        return torch.from_numpy(self.find_finished())

    def observe_runs(self, which: torch.Tensor) -> dict[str, Values]:
        return {
            "time": self.rate * self.evaluations,
            "loss": take_runs(self.loss, which),
            "risk": take_runs(self.risk, which),
        }

    def outcome(self) -> dict[str, Values]:
        return {"evaluations": self.evaluations, "converged": self.loss < self.tolerance, "learning_rate": self.rate}


class ReluDescent(PublishedDescent):
    """ReLU networks first (R, D, H), second (R, O, H); the samples of all tasks are shuffled together.

    As in `training.relu`, both gradients follow from the sums S_{o,h} = Σ_i g_{o,i} 1[w_h · x_i > 0] x_i.
    """

    PER_RUN = (*PublishedDescent.PER_RUN, "x", "y", "test_x", "test_y", "generators")

    def __init__(self, runs: np.ndarray, problem: Problem, rate: float, device: torch.device) -> None:
        super().__init__(runs, problem, rate, device)
        own, single = problem.start[runs], partial(tensor, device=device, dtype=torch.float32)
        self.first, self.second = single(np.swapaxes(own.first, 1, 2)), single(own.second)
        self.x = single(np.concatenate([np.swapaxes(task.X[task.sets[runs]], 1, 2) for task in problem.tasks], 2))
        self.y = single(np.concatenate([task.y[runs] for task in problem.tasks], 1))
        self.test_x, self.test_y = single(problem.test.X[problem.test.sets[runs]]), single(problem.test.y[runs])
        # Samples of all tasks are side by side, n in all: x is (R, D, n), y (R, n). `sizes` (O,) are the tasks'.
        self.sizes = torch.tensor([task.y.shape[1] for task in problem.tasks], device=device)
        self.task_of = torch.repeat_interleave(torch.arange(len(self.sizes), device=device), self.sizes)  # of a sample
        self.whole = self.weight(self.task_of[None])  # weights (1, O, n) of samples in a batch of all of them
        self.generators = np.array([problem.generators[run] for run in runs], dtype=object)

    def epoch(self) -> torch.Tensor:
        size = self.rules.batch
        # The released code shuffles a batch of all samples, too, but this changes its rounding alone.
        if not 0 < size < self.y.shape[1]:
            return self.step(self.x, self.y, self.whole)[None]
        order = torch.stack([self._order(generator) for generator in self.generators])
        x, y = self.x.gather(2, order[:, None].expand_as(self.x)), self.y.gather(1, order)
        batches = zip(x.split(size, 2), y.split(size, 1), self.task_of[order].split(size, 1), strict=True)
        return torch.stack([self.step(x, y, self.weight(task)) for x, y, task in batches])

    def _order(self, generator: torch.Generator) -> torch.Tensor:
        """An epoch's order of samples: of the two seeds that a DataLoader draws, the second is the sampler's."""
        seeds = [torch.empty((), dtype=torch.int64).random_(generator=generator).item() for _ in range(2)]
        own = torch.Generator().manual_seed(int(seeds[1]))
        return torch.randperm(self.y.shape[1], generator=own).to(self.device)

    def weight(self, task: torch.Tensor) -> torch.Tensor:
        """Weights (R, O, b) of the squared errors of samples of the tasks (R, b) in the loss of a batch.

        The loss is the mean over each task's samples in the batch, weighted by the tasks' shares of all samples; a task
        without a sample in the batch adds nothing.
        """
        chosen = torch.stack([task == o for o in range(len(self.sizes))], 1).to(self.y.dtype)
        return chosen * (self.sizes / self.sizes.sum() / chosen.sum(2).clamp(min=1))[..., None]

    def step(self, x: torch.Tensor, y: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """One step on samples x (R, D, b), y (R, b) of these weights; the loss (R,) before it."""
        (R, D, _), outputs, width = x.shape, len(self.sizes), _COLUMNS[self.device.type]
        loss, sums = x.new_zeros(R), x.new_empty(R, outputs * D, self.first.shape[2])
        parts = zip(x.split(width, 2), y[:, None].split(width, 2), weight.split(width, 2), strict=True)
        for block, (x_, y_, w_) in enumerate(parts):
            responses = torch.bmm(x_.transpose(1, 2), self.first).relu_()  # (R, b, H): units run along memory
            residual = y_ - torch.bmm(self.second, responses.transpose(1, 2))  # (R, O, b)
            loss += (w_ * residual**2).sum((1, 2))
            g, active = (2 * self.rate) * w_ * residual, torch.gt(responses, 0, out=responses)
            sums.baddbmm_((g[:, :, None] * x_[:, None]).flatten(1, 2), active, beta=min(block, 1))
        totals = sums.unflatten(1, (outputs, D)).unbind(1)  # S_o times the rate, (R, D, H)
        # Each layer moves by the old weights of the other.
        moves = [(self.first * total).sum(1, keepdim=True) for total in totals]
        for readout, total in zip(self.second.split(1, 1), totals, strict=True):
            self.first.addcmul_(readout, total)
        self.second += torch.cat(moves, 1)
        return loss

    def test_risk(self, which: torch.Tensor) -> torch.Tensor:
        width, risks = _COLUMNS[self.device.type], []
        for run in which.nonzero()[:, 0].tolist():
            blocks = zip(self.test_x[run].split(width), self.test_y[run].split(width), strict=True)
            errors = [(x @ self.first[run]).relu_() @ self.second[run, -1] - y for x, y in blocks]
            risks.append(torch.cat(errors).square().mean())
        return torch.stack(risks)

    def weights(self) -> list[Values]:
        return [self.first.transpose(1, 2), self.second]


class DiagonalDescent(PublishedDescent):
    """Diagonal networks as in `training.diagonal`: first (R, 2, 1, D), second (R, 2, O, D).

    All runs share the inputs of each task, so a step is two matrix products for all of them. The loss is the mean over
    the samples of all tasks.
    """

    PER_RUN = (*PublishedDescent.PER_RUN, "y", "teacher")

    def __init__(self, runs: np.ndarray, problem: Problem, rate: float, device: torch.device) -> None:
        super().__init__(runs, problem, rate, device)
        own, single = problem.start[runs], partial(tensor, device=device, dtype=torch.float32)
        self.first = single(np.stack([own.first_plus, own.first_minus], 1)[:, :, None])  # axis 1: paths + and −
        self.second = single(np.stack([own.second_plus, -own.second_minus], 1))
        self.X, self.y = [single(task.X[0]) for task in problem.tasks], [single(task.y[runs]) for task in problem.tasks]
        # E (x · (β − β*))² over the test inputs is a quadratic form, whose matrix serves all runs.
        test = problem.test.X[0].astype(float)
        self.moments, self.teacher = single(test.T @ test / len(test)), single(problem.teacher[runs])

    def epoch(self) -> torch.Tensor:
        beta, samples = (self.first * self.second).sum(1), sum(len(X) for X in self.X)
        gradients, loss = [], beta.new_zeros(len(beta))
        for o, (X, y) in enumerate(zip(self.X, self.y, strict=True)):
            residual = y - beta[:, o] @ X.T
            loss = loss + residual.square().sum(1) / samples
            gradients.append((residual * (2 * self.rate / samples)) @ X)
        move = torch.stack(gradients, 1)[:, None]  # −rate · ∂loss/∂β, (R, 1, O, D)
        first, second = self.first, self.second
        self.second = second + move * first
        if not self.rules.probe:
            self.first = first + (move * second).sum(2, keepdim=True)
        return loss[None]

    def test_risk(self, which: torch.Tensor) -> torch.Tensor:
        error = (self.first * self.second).sum(1)[which, -1] - self.teacher[which]
        return ((error @ self.moments) * error).sum(1)

    def weights(self) -> list[Values]:
        return [self.first[:, 0, 0], self.first[:, 1, 0], self.second[:, 0], -self.second[:, 1]]
