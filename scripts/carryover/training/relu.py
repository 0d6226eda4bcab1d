"""Gradient descent on shallow ReLU networks, whole ensembles at once.

Without bias a unit is homogeneous, so both layers' gradients follow from one sum per output o and unit h,

    S_{o,h} = Σ_i g_{o,i} 1[w_h · x_i > 0] x_i,  g = −∂L/∂f,
    −∂L/∂w_h = Σ_o a_{o,h} S_{o,h},  −∂L/∂a_{o,h} = w_h · S_{o,h}.

So a step is two matrix products and a few passes over the hidden responses, in blocks that stay in the cache. No graph
is recorded and nothing is compiled. Networks are trained in groups of the size that the cache or the device bears.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from carryover.networks.relu import Weights
from carryover.training.devices import tensor, torch_device
from carryover.training.integrate import Descent, History, log_checkpoints, train
from carryover.training.losses import LOSSES
from carryover.training.result import Divergence, Samples, Trained

BYTES = {"cpu": 2**20, "cuda": 2**31}  # of a group at a time: what stays in the cache, what fills the device
_COLUMNS = {"cpu": 256, "cuda": 2**20}  # samples at a time
_CUT = 4  # by this factor
_FALLBACKS = 10  # times the learning rate is cut
_AHEAD = 32  # epochs whose order is drawn at once; a run's orders depend on nothing but its own generator


class Group(Descent):
    """The `runs` (R,) of `gradient_descent` and their samples, at one learning rate; schedule as in `Descent.begin`."""

    PER_RUN = (*Descent.PER_RUN, "x", "y", "first", "second", "generators", "orders")

    def __init__(
        self, runs: np.ndarray, *, start: Weights, tasks: Sequence[Samples], rate: float, tolerance: float | np.ndarray,
        schedule: np.ndarray, batch_size: int, dtype: torch.dtype, device: torch.device,
        observables: Mapping[str, Callable], shuffles: Callable[[int], np.random.Generator] | None = None,
        loss: str = "squared",
    ) -> None:  # fmt: skip
        self.runs, self.loss_function, self.observables = np.asarray(runs), LOSSES[loss], observables
        self.first = tensor(np.swapaxes(start.first[runs], 1, 2), device, dtype)  # (R, D, H)
        self.second = tensor(start.second[runs], device, dtype)  # (R, O, H)
        self.x = [tensor(np.swapaxes(task.X[task.sets[runs]], 1, 2), device, dtype) for task in tasks]  # (R, D, n)
        self.y = [tensor(task.y[runs], device, dtype)[:, None] for task in tasks]  # (R, 1, n)
        self.rate, self._step_size = rate, tensor([rate], device, dtype)
        self._columns = _COLUMNS[self.first.device.type]
        self.prepare()
        self.batch_size = batch_size
        self.shuffled = [o for o, y in enumerate(self.y) if 0 < batch_size < y.shape[2]]  # tasks larger than a batch
        self.steps_per_epoch = max([-(-self.y[o].shape[2] // batch_size) for o in self.shuffled], default=1)
        if self.shuffled and shuffles is None:
            raise ValueError("batches smaller than a task need generators to shuffle with")
        self.generators = np.array([shuffles(int(run)) if shuffles else None for run in self.runs], dtype=object)
        self.orders: dict[int, torch.Tensor] = {}  # of shuffled samples, (R, epochs, n)
        self.begin(schedule, np.broadcast_to(tolerance, len(start.first))[runs])

    def prepare(self) -> None:
        """Allocate work arrays for the present number R of networks, which steps fill again and again."""
        R, D, H = self.first.shape
        widest = min(self._columns, max(y.shape[2] for y in self.y))
        self._responses = self.first.new_empty(R * H * widest)  # hidden responses to a block of samples
        self._sums = [self.first.new_empty(R, D, H) for _ in self.y]  # S_o, times the learning rate
        self._product = self.first.new_empty(R, D, H)  # elementwise products of weights
        self._readouts = self.second.split(1, 1)

    def _blocks(self, x: torch.Tensor, y: torch.Tensor) -> Iterator[tuple]:
        """Pieces of a batch with room for their hidden responses: (first column, x, y, responses)."""
        R, _, H = self.first.shape
        pieces = [(x, y)]
        if y.shape[2] > self._columns:  # to split what is one piece takes a twentieth of a step
            pieces = list(zip(x.split(self._columns, 2), y.split(self._columns, 2), strict=True))
        for block, (x_part, y_part) in enumerate(pieces):
            room = self._responses[: R * H * y_part.shape[2]].view(R, -1, H)
            yield block * self._columns, x_part, y_part, room

    def _forward(self, output: int, x: torch.Tensor, room: torch.Tensor) -> torch.Tensor:
        """f (R, 1, b) of one output, with the hidden responses left in `room` (R, b, H): units run along memory."""
        readout = self._readouts[output]
        if x.shape[2] > 1:
            torch.bmm(x.transpose(1, 2), self.first, out=room)
            return torch.bmm(readout, room.relu_().transpose(1, 2))
        # Of one column the library sums one network's products in another order than several networks'.
        torch.sum(torch.mul(self.first, x, out=self._product), 1, out=room[:, 0])
        return torch.mul(readout, room.relu_()).sum(2, keepdim=True)

    def epoch(self) -> None:
        """Each run shuffles the samples of tasks that are larger than a batch, with its own generator; steps take the
        others as a whole. Tasks with fewer batches than others begin again."""
        tasks = [[pair] for pair in zip(self.x, self.y, strict=True)]
        epoch = (self.steps - 1) % _AHEAD  # of those whose orders are drawn at once
        for o in self.shuffled:
            x, y = tasks[o][0]
            if epoch == 0:
                samples = np.tile(np.arange(y.shape[2]), (_AHEAD, 1))
                orders = np.stack([rng.permuted(samples, axis=1) for rng in self.generators])
                self.orders[o] = torch.as_tensor(orders, device=y.device)
            order = self.orders[o][:, None, epoch]  # (R, 1, n)
            parts = x.gather(2, order.expand_as(x)), y.gather(2, order)
            tasks[o] = list(zip(*(part.split(self.batch_size, 2) for part in parts), strict=True))
        for step in range(self.steps_per_epoch):
            self.step([batches[step % len(batches)] for batches in tasks])

    def step(self, batches: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> None:
        """One step along −∂L, L = Σ_o mean loss over the batch of output o; batches: (x (R, D, b), y (R, 1, b))."""
        for output, ((x, y), total) in enumerate(zip(batches, self._sums, strict=True)):
            for column, x_part, y_part, room in self._blocks(x, y):
                f = self._forward(output, x_part, room)
                weighted = x_part * self.loss_function.negative_gradient(f, y_part).mul_(self._step_size / y.shape[2])
                active = torch.gt(room, 0, out=room)
                torch.bmm(weighted, active, out=total) if column == 0 else total.baddbmm_(weighted, active)
        # Each layer moves by the old weights of the other, so the readouts' moves are found before the first layer's.
        moves = [torch.mul(self.first, total, out=self._product).sum(1, keepdim=True) for total in self._sums]
        for readout, total in zip(self._readouts, self._sums, strict=True):
            self.first.addcmul_(readout, total)
        for readout, move in zip(self._readouts, moves, strict=True):
            readout.add_(move)

    def losses(self) -> torch.Tensor:
        """L over all samples, (R,), in float64."""
        loss = torch.zeros(len(self), dtype=torch.float64, device=self.first.device)
        for output, (x, y) in enumerate(zip(self.x, self.y, strict=True)):
            for _, x_part, y_part, room in self._blocks(x, y):
                value = self.loss_function.value(self._forward(output, x_part, room), y_part)
                loss += value.sum((1, 2), dtype=torch.float64) / y.shape[2]
        return loss

    def observe(self) -> dict[str, torch.Tensor]:
        return {name: function(*self.weights(), self.runs) for name, function in self.observables.items()}

    def weights(self) -> list[torch.Tensor]:
        """Input weights (R, H, D) and readouts (R, O, H) as they are now."""
        return [self.first.transpose(1, 2), self.second]


def gradient_descent(
    tasks: Sequence[Samples], start: Weights, *, learning_rate: float, max_epochs: int, batch_size: int = 0,
    precision: str = "float32", device: str = "auto", observe: Mapping[str, Callable] | None = None, **settings: Any,
) -> Trained:  # fmt: skip
    """Train every run by gradient descent on L = Σ_o mean loss of output o, until L ≤ `tolerance` or `max_epochs`.

    A run whose loss is not finite or twice its start begins again with a quarter of the learning rate, up to 10 times.

    Parameters
    ----------
    tasks : sequence of Samples
        One per output.
    start : Weights
        first (runs, H, D), second (runs, O, H).
    tolerance : float or (runs,)
        A run ends at its first checkpoint with a loss below this, and is then removed from the ensemble.
    batch_size, shuffles : int, function of the run
        An epoch goes through the samples of the largest task in batches of this size (0: all samples in one step), in
        an order drawn anew each epoch from `shuffles(run)`. Smaller tasks begin again.
    loss : str
        A name in `LOSSES`; cross-entropy takes labels ±1.
    observe : {name: function of first (R, H, D), second (R, O, H), runs (R,) -> (R,)}
        Curves besides the loss; of "risk" the smallest value is kept too.

    Raises
    ------
    Divergence
        Runs diverge with every learning rate.
    """
    place, dtype = torch_device(device), getattr(torch, precision)
    history = History(len(start.first), observe or ())
    group = partial(
        Group, start=start, tasks=tasks, schedule=log_checkpoints(max_epochs), batch_size=batch_size, dtype=dtype,
        device=place, observables=observe or {}, **settings,
    )  # fmt: skip
    # The networks of a group fill the cache or the device, with weights, steps, and hidden responses to one block.
    _, H, D = start.first.shape
    largest = max(task.y.shape[1] for task in tasks)
    columns = min(_COLUMNS[place.type], largest, batch_size or largest)
    together = BYTES[place.type] // (4 * H * (columns + (2 + len(tasks)) * D))
    rate, runs = learning_rate, np.arange(len(start.first))
    while diverged := train(partial(group, rate=rate), history, together, runs):
        if rate < learning_rate / _CUT ** (_FALLBACKS - 0.5):  # after all cuts; half a cut is room for rounding
            raise Divergence(diverged, f"gradient descent diverged with learning rates down to {rate:g}")
        rate, runs = rate / _CUT, np.array(diverged)
    return history.result(start.like)
