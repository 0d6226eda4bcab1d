"""Descent as the released code of "feature reuse in multi-task learning and finetuning" runs it, for whole ensembles.

An epoch's loss is the mean of its batches' losses, each before its step. Training ends after the epoch whose loss is
below the tolerance, or with the last epoch. The test risk is seen after every fiftieth epoch, from the first one on,
and at the end. Numbers are in single precision, as there: small risks depend on it.

Sums run in another order here than there, which changes the last digit of a step. Where training enlarges it, a run
does not give the published digits, and neither does the released code on another processor.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch

from carryover.training.devices import tensor, torch_device
from carryover.training.integrate import Ensemble, History, Values, train
from carryover.training.result import Divergence, Task, Trained

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


@dataclass(frozen=True)
class Problem:
    """Networks to train: one task for each readout, the main one last, and the inputs on which its risk is seen."""

    tasks: Sequence[Task]
    start: Any  # Weights of ReLU or diagonal networks
    test: Task  # of the main task
    rules: Rules
    last: np.ndarray  # (runs,) epochs at most
    tolerance: np.ndarray  # (runs,) of the loss
    generators: Sequence[torch.Generator]  # (runs,) from which batches are drawn
    teacher: np.ndarray  # (runs, D) coefficients of the main task of diagonal networks, (runs, 0) of ReLU networks


def descend(kind: type[PublishedDescent], problem: Problem, device: str = "auto") -> Trained:
    """Train every run by its rules; Divergence where the loss explodes at every rate."""
    place, history, rate = torch_device(device), History(len(problem.last)), problem.rules.rate
    runs, together = np.arange(len(problem.last)), kind.together(problem, place)
    while lost := train(partial(kind, problem=problem, rate=rate, device=place), history, together, runs):
        if rate < problem.rules.rate / _CUT ** (_FALLBACKS - 0.5):
            raise Divergence(lost, f"descent diverged with rates down to {rate:g}")
        rate, runs = rate / _CUT, np.array(lost)
    return history.trained(kind.networks)


class PublishedDescent(Ensemble):
    """Networks in training; a subclass says what an epoch and the test risk are."""

    PER_RUN: ClassVar[tuple[str, ...]] = ("last", "tolerance", "loss", "risk", "finished", "lost", "first", "second")
    networks: Callable[..., Any]
    first: torch.Tensor
    second: torch.Tensor

    def __init__(self, runs: np.ndarray, problem: Problem, rate: float, device: torch.device) -> None:
        self.runs, self.rules, self.rate, self.device = runs, problem.rules, rate, device
        self.tolerance, self.last = (tensor(values[runs], device, kind) for values, kind in
                                     ((problem.tolerance, torch.float32), (problem.last, torch.int64)))  # fmt: skip
        self.loss, self.risk = (torch.full((len(runs),), torch.inf, device=device) for _ in range(2))
        self.finished = self.lost = torch.zeros(len(runs), dtype=torch.bool, device=device)
        self.eventful = False

    @staticmethod
    @abstractmethod
    def together(problem: Problem, device: torch.device) -> int:
        """Networks of one ensemble."""

    @abstractmethod
    def epoch(self) -> torch.Tensor:
        """Take an epoch's steps; the losses (steps, R) of its batches before them."""

    @abstractmethod
    def test_risk(self, which: torch.Tensor) -> torch.Tensor:
        """Mean squared error (r,) of the main task on the test inputs, of the networks in the mask."""

    def advance(self) -> torch.Tensor | None:
        losses, first = self.epoch(), self.steps % SEEN_EVERY == 1
        least, largest = (value.item() for value in losses.aminmax())
        self.evaluations = self.steps * len(losses)
        # Most epochs end here: with no run that ends (a mean is above the least), explodes (NaN fails the comparison),
        # or is seen.
        self.eventful = (
            first or least < self.largest_tolerance or not largest <= self.rules.limit or self.steps >= self.next_last
        )
        if not self.eventful:
            return None
        self.loss, self.lost = losses.mean(0), ~(losses <= self.rules.limit).all(0)
        self.finished = (self.loss < self.tolerance) | (self.last <= self.steps)
        seen = ~self.lost if first else self.finished & ~self.lost
        if seen.any():
            self.risk[seen] = self.test_risk(seen)
        return seen

    def ended(self) -> torch.Tensor | None:
        if not self.eventful:
            return None
        if self.lost.any():
            self.diverged = [*self.diverged, *self.runs[self.lost.cpu().numpy()].tolist()]
            self.keep(~self.lost)
        return self.finished

    def prepare(self) -> None:
        self.next_last, self.largest_tolerance = int(self.last.min()), float(self.tolerance.max())

    def observed(self, which: torch.Tensor) -> dict[str, Values]:
        return {"time": self.rate * self.evaluations, "loss": self.loss[which], "risk": self.risk[which]}

    def outcome(self) -> dict[str, Values]:
        return {"evaluations": self.evaluations, "converged": self.loss < self.tolerance, "learning_rate": self.rate}

    def weights(self) -> list[Values]:
        return [self.first, self.second]


class ReluDescent(PublishedDescent):
    """ReLU networks first (R, D, H), second (R, O, H); the samples of all tasks are shuffled together.

    As in `training.relu`, both gradients follow from the sums S_{o,h} = Σ_i g_{o,i} 1[w_h · x_i > 0] x_i.
    """

    PER_RUN = (*PublishedDescent.PER_RUN, "x", "y", "test_x", "test_y", "generators")

    def __init__(self, runs: np.ndarray, problem: Problem, rate: float, device: torch.device) -> None:
        super().__init__(runs, problem, rate, device)
        own, single = problem.start[runs], partial(tensor, device=device, dtype=torch.float32)
        self.first, self.second = single(np.swapaxes(own.first, 1, 2)), single(own.second)
        inputs = [np.swapaxes(task.X[task.sets[runs]], 1, 2) for task in problem.tasks]
        self.x = single(np.concatenate(inputs, 2))
        self.test_x = single(problem.test.X[problem.test.sets[runs]])
        self.y = single(np.concatenate([task.y[runs] for task in problem.tasks], 1))
        self.test_y = single(problem.test.y[runs])
        self.sizes = torch.tensor([task.y.shape[1] for task in problem.tasks], device=device)
        self.task_of = torch.repeat_interleave(torch.arange(len(self.sizes), device=device), self.sizes)
        self.generators = np.array([problem.generators[run] for run in runs], dtype=object)
        self.prepare()

    @staticmethod
    def together(problem: Problem, device: torch.device) -> int:
        _, H, D = problem.start.first.shape
        widest = min(_COLUMNS[device.type], sum(task.y.shape[1] for task in problem.tasks))
        return _BYTES[device.type] // (4 * H * (widest + 3 * D))

    @staticmethod
    def networks(first: np.ndarray, second: np.ndarray) -> Any:
        from carryover.networks.relu import Weights

        return Weights(np.swapaxes(first, 1, 2), second)

    def prepare(self) -> None:
        super().prepare()
        self._sums, self._product = [torch.empty_like(self.first) for _ in self.sizes], torch.empty_like(self.first)
        self._weight = self.weight(self.task_of[None])

    def epoch(self) -> torch.Tensor:
        size = self.rules.batch
        if not 0 < size < self.y.shape[1]:  # a batch of all samples is shuffled there, too, which changes its rounding
            return self.step(self.x, self.y, self._weight)[None]
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
        if len(self.sizes) == 1:
            return self.y.new_full((1, 1, task.shape[1]), 1 / task.shape[1])
        chosen = torch.stack([task == o for o in range(len(self.sizes))], 1).to(self.y.dtype)
        return chosen * (self.sizes / self.sizes.sum() / chosen.sum(2).clamp(min=1))[..., None]

    def step(self, x: torch.Tensor, y: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """One step on samples x (R, D, b), y (R, b) of these weights; the loss (R,) before it."""
        loss, width = torch.zeros_like(self.loss), _COLUMNS[self.device.type]
        parts = zip(x.split(width, 2), y.split(width, 1), weight.split(width, 2), strict=True)
        for block, (x_, y_, w_) in enumerate(parts):
            responses = torch.bmm(x_.transpose(1, 2), self.first).relu_()  # (R, b, H): units run along memory
            residual = y_[:, None] - torch.bmm(self.second, responses.transpose(1, 2))  # (R, O, b)
            loss += (w_ * residual**2).sum((1, 2))
            g, active = (2 * self.rate) * w_ * residual, torch.gt(responses, 0, out=responses)
            for o, total in enumerate(self._sums):
                weighted = x_ * g[:, o, None]
                torch.bmm(weighted, active, out=total) if block == 0 else total.baddbmm_(weighted, active)
        moves = [torch.mul(self.first, total, out=self._product).sum(1, keepdim=True) for total in self._sums]
        for readout, total in zip(self.second.split(1, 1), self._sums, strict=True):
            self.first.addcmul_(readout, total)
        self.second += torch.cat(moves, 1)
        return loss

    def test_risk(self, which: torch.Tensor) -> torch.Tensor:
        width, risks = _COLUMNS[self.device.type], []
        room = self.first.new_empty(min(width, self.test_y.shape[1]), self.first.shape[2])
        for run in which.nonzero()[:, 0].tolist():
            first, readout, errors = self.first[run], self.second[run, -1], []
            for x, y in zip(self.test_x[run].split(width), self.test_y[run].split(width), strict=True):
                errors.append(torch.mm(x, first, out=room[: len(y)]).relu_() @ readout - y)
            risks.append(torch.cat(errors).square().mean())
        return torch.stack(risks)


class DiagonalDescent(PublishedDescent):
    """Diagonal networks as in `training.diagonal`: first (R, 2, 1, D), second (R, 2, O, D).

    All runs share the inputs of each task, so a step is two matrix products for all of them. The loss is the mean over
    the samples of all tasks.
    """

    PER_RUN = (*PublishedDescent.PER_RUN, "y", "teacher")

    def __init__(self, runs: np.ndarray, problem: Problem, rate: float, device: torch.device) -> None:
        super().__init__(runs, problem, rate, device)
        own, single = problem.start[runs], partial(tensor, device=device, dtype=torch.float32)
        self.first = single(np.stack([own.first_plus, own.first_minus], 1)[:, :, None])
        self.second = single(np.stack([own.second_plus, -own.second_minus], 1))
        self.X, self.y = ([single(values) for values in arrays] for arrays in zip(
            *((task.X[0], task.y[runs]) for task in problem.tasks), strict=True))  # fmt: skip
        # E (x · (β − β*))² over the test inputs is a quadratic form, whose matrix serves all runs.
        test = problem.test.X[0].astype(float)
        self.moments = single(test.T @ test / len(test))
        self.teacher = single(problem.teacher[runs])
        self.prepare()

    @staticmethod
    def together(problem: Problem, device: torch.device) -> int:
        return len(problem.last)

    @staticmethod
    def networks(first: np.ndarray, second: np.ndarray) -> Any:
        from carryover.networks.diagonal import Weights

        return Weights(first[:, 0, 0], first[:, 1, 0], second[:, 0], -second[:, 1])

    def epoch(self) -> torch.Tensor:
        beta, samples = (self.first * self.second).sum(1), sum(len(X) for X in self.X)
        gradients, loss = [], torch.zeros_like(self.loss)
        for o, (X, y) in enumerate(zip(self.X, self.y, strict=True)):
            residual = y - beta[:, o] @ X.T
            loss = loss + residual.square().sum(1) / samples
            gradients.append((residual * (2 * self.rate / samples)) @ X)
        move = torch.stack(gradients, 1)[:, None]
        first, second = self.first, self.second
        self.first, self.second = first + (move * second).sum(2, keepdim=True), second + move * first
        return loss[None]

    def test_risk(self, which: torch.Tensor) -> torch.Tensor:
        error = (self.first * self.second).sum(1)[which, -1] - self.teacher[which]
        return ((error @ self.moments) * error).sum(1)
