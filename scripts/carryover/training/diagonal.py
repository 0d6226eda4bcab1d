"""Diagonal linear networks, whole ensembles at once: data, weights, gradients, and plain full-batch gradient descent.

The weights are first (runs, 2, 1, D) and second (runs, 2, O, D), axis 1 being the paths + and −, with the sign
of the − path inside its second layer. Then β = Σ first·second, both paths obey the same equations, and gradient flow of
L = Σ_o weight_o · mean loss of output o is first' = Σ_o g_o second_o, second_o' = g_o first with the negative gradient
g = −∂L/∂β.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch

from carryover.networks.diagonal import Weights
from carryover.training.devices import tensor, torch_device
from carryover.training.integrate import Ensemble, History, Values, log_checkpoints, train
from carryover.training.losses import LOSSES, RISKS, squared_distance
from carryover.training.result import Samples, Trained

BYTES = 2**29  # of inputs at a time, which memory and cache bear
_INSPECT = 50  # steps between inspections of which runs have ended: each waits for the device
_BLOWN_UP = 1e4  # times the loss at the start


@dataclass(frozen=True)
class Problem:
    """Diagonal linear networks to be trained."""

    tasks: Sequence[Samples]  # one per output
    start: Weights  # first layers (runs, D), readouts (runs, outputs, D)
    teacher: np.ndarray  # (runs, D), of output 0
    trainable: Container[str] = ("first", "second")  # layers
    weights: Sequence[float] | None = None  # of the outputs' mean losses; None: 1 each


class DiagonalEnsemble(Ensemble):
    """Diagonal linear networks in training.

    Parameters
    ----------
    runs : (R,)
        Those of the problem that are trained here.
    tolerance, max_steps : float, int
        A run ends where its loss is at most the tolerance, or with `converged` false where the budget of gradient
        evaluations is spent.
    """

    PER_RUN: ClassVar[tuple[str, ...]] = ("X", "y", "teacher", "first", "second", "time", "loss", "risk", "risk_best")
    risk_best: torch.Tensor  # (R,), the smallest one of output 0 so far
    risk_of = staticmethod(squared_distance)  # of output 0's coefficients and those of its teacher

    def __init__(
        self, runs: np.ndarray, problem: Problem, *, tolerance: float, max_steps: int = 10_000, device: str = "auto"
    ) -> None:
        self.runs, self.tolerance, self.max_steps, self.device = runs, tolerance, max_steps, torch_device(device)
        self.X = [tensor(task.X[task.sets[runs]], self.device) for task in problem.tasks]
        self.y = [tensor(task.y[runs], self.device) for task in problem.tasks]
        # Axis 1 are the paths + and −; the minus sign of the second path goes into its readout.
        own, self.teacher = problem.start[runs], tensor(problem.teacher[runs], self.device)
        self.first = tensor(np.stack([own.first_plus, own.first_minus], axis=1)[:, :, None], self.device)
        self.second = tensor(np.stack([own.second_plus, -own.second_minus], axis=1), self.device)
        self.trainable, self.output_weights = problem.trainable, problem.weights or [1.0] * len(problem.tasks)
        self.time = torch.zeros(len(runs), dtype=torch.float64, device=self.device)
        self.risk_best = torch.full_like(self.time, torch.nan)

    @classmethod
    def train(cls, problem: Problem, observe: Iterable[str] = (), **settings: Any) -> Trained:
        """Train all runs of a problem by this method, with `settings` of its own; `observe` names further curves."""
        history, inputs = History(len(problem.teacher), observe), sum(task.X[0].nbytes for task in problem.tasks)
        train(partial(cls, problem=problem, **settings), history, BYTES // inputs)
        return history.result(
            lambda first, second: Weights(first[:, 0, 0], first[:, 1, 0], second[:, 0], -second[:, 1])
        )

    def predict(self, output: int, beta: torch.Tensor) -> torch.Tensor:
        """X β of one output, (runs, n). Row vector times transpose: the order for which batched products are fast."""
        return torch.bmm(beta[:, None], self.X[output].transpose(1, 2))[:, 0]

    def correlations(self, output: int, samples: torch.Tensor) -> torch.Tensor:
        """Xᵀ r of one output, (runs, D), for values r of its samples, (runs, n)."""
        return torch.bmm(samples[:, None], self.X[output])[:, 0]

    def beta(self) -> torch.Tensor:
        """β (R, O, D)."""
        return (self.first * self.second).sum(1)

    def find_risk(self, beta: torch.Tensor) -> None:
        """Set the risk at β (R, O, D), and the smallest one so far."""
        self.risk = self.risk_of(beta[:, 0], self.teacher)
        self.risk_best = torch.fmin(self.risk_best, self.risk)

    def outcome(self) -> dict[str, Values]:
        return {**super().outcome(), "risk_best": self.risk_best}

    def weights(self) -> list[Values]:
        return [self.first, self.second]


def gradient_descent(problem: Problem, *, observe: Mapping[str, Callable] | None = None, **settings: Any) -> Trained:
    """Train every run by gradient descent on L = Σ_o weight · mean loss of output o, until L ≤ `tolerance`.

    The method of "feature reuse in multi-task learning and finetuning" (learning rate .5 in pretraining, .1 in
    finetuning, tolerance 1e-10), in its multi-task form (eqs 24–25 of the appendix) and on cross-entropy (appendix C),
    whose loss never reaches 0.

    Parameters
    ----------
    tolerance, max_steps, device, learning_rate
        The first two as `DiagonalEnsemble` takes them.
    loss : str
        A name in `LOSSES`; cross-entropy takes labels ±1.
    normalised : bool
        Whether steps are `learning_rate` over L max(1, log 1/L). On cross-entropy the margin, nearly log 1/L, then
        grows exponentially in the number of steps instead of logarithmically.
    observe : {name: function of β (R, O, D) and teacher (R, D) -> (R,)}
        Curves besides loss and risk.

    Raises
    ------
    Divergence
        The loss of some runs is not finite or 1e4 times its start.
    """
    return _Descent.train(problem, observe or {}, observables=observe or {}, **settings)


class _Descent(DiagonalEnsemble):
    """Networks with the loss, the negative gradient (R, O, D) and the risk at their present weights."""

    PER_RUN = (*DiagonalEnsemble.PER_RUN, "limit", "gradient", "active", "evaluations")

    def __init__(
        self, *arguments: Any, observables: Mapping[str, Callable], learning_rate: float, loss: str = "squared",
        normalised: bool = False, **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__(*arguments, **settings)
        self.observables, self.learning_rate, self.normalised = observables, learning_rate, normalised
        self.loss_function, self.risk_of = LOSSES[loss], RISKS[loss]
        self.schedule = frozenset(log_checkpoints(self.max_steps).tolist())
        self.active = torch.ones(len(self), dtype=torch.bool, device=self.device)
        self.evaluations = torch.zeros_like(self.time, dtype=torch.int64)
        self._evaluate()
        self.limit = self.loss * _BLOWN_UP

    def _evaluate(self) -> None:
        """Loss, gradient and risk at the present weights, and which runs continue."""
        beta, gradients = self.beta(), []
        self.loss = torch.zeros_like(self.time)
        for o, (X, y, weight) in enumerate(zip(self.X, self.y, self.output_weights, strict=True)):
            f = self.predict(o, beta[:, o])  # two products of a matrix with a vector per output, with that below
            self.loss = self.loss + weight * self.loss_function.value(f, y).mean(1)
            gradients.append(self.correlations(o, self.loss_function.negative_gradient(f, y)) * (weight / X.shape[1]))
        self.gradient = torch.stack(gradients, 1)
        self.find_risk(beta)
        self.evaluations = self.evaluations + self.active
        self.active = ~(self.loss <= self.tolerance)

    def advance(self) -> torch.Tensor | None:
        """One step along the negative gradient: both layers move by the other one's old value."""
        rate: float | torch.Tensor = self.learning_rate
        if self.normalised:
            rate = rate / (self.loss * (-torch.log(self.loss)).clamp(min=1))
        # A run that has ended stays where it is until the next inspection removes it. (`active * rate` may be rounded
        # to float32: torch's default for a product of booleans and a float.)
        taken, were_active = self.active.to(self.loss.dtype) * rate, self.active
        self.time = self.time + taken
        move = (self.gradient * taken[:, None, None])[:, None]
        first, second = self.first, self.second
        if "first" in self.trainable:
            self.first = first + (move * second).sum(2, keepdim=True)
        if "second" in self.trainable:
            self.second = second + move * first
        self._evaluate()
        return were_active if self.steps in self.schedule else None

    def find_ended(self) -> torch.Tensor | None:
        """The mask (R,) of runs that came to the tolerance, or of all after the last step; None between inspections.

        An inspection raises Divergence for runs whose loss is above their `limit` or NaN.
        """
        if self.steps % _INSPECT and self.steps != self.max_steps:
            return None
        lost = ~(self.loss <= self.limit)  # also catches NaN
        self.raise_divergence(lost, f"gradient descent with learning rate {self.learning_rate:g} diverged")
        return ~self.active if self.steps < self.max_steps else torch.ones_like(self.active)

    def observe_runs(self, which: torch.Tensor) -> dict[str, Values]:
        beta, teacher = self.beta(), self.teacher
        observed = {name: function(beta, teacher)[which] for name, function in self.observables.items()}
        return {**super().observe_runs(which), **observed}
