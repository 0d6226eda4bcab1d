"""Plain full-batch gradient descent on diagonal linear networks, as the papers do it, for a whole ensemble at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import torch

from carryover.networks.diagonal import Weights
from carryover.training.ensemble import Ensemble, Ledger, coefficients
from carryover.training.result import Divergence, Trained

_INSPECT = 50  # steps between looks at which runs have ended: each look waits for the device
_REPORT = 100  # steps between calls of `progress`
_BLOWN_UP = 1e4  # times the loss at the start


def gradient_descent(
    X,
    y,
    weights: Weights,
    *,
    learning_rate: float,
    tolerance: float,
    max_steps: int,
    loss: str = "squared",
    normalised: bool = False,
    trainable: Iterable[str] = ("first", "second"),
    teacher=None,
    observe: Mapping[str, Callable] | None = None,
    device: str = "auto",
    checkpoints: int = 64,
    progress: Callable[[dict], None] | None = None,
) -> Trained:
    """Train every run by gradient descent on L = Σ_o mean loss of output o, until L ≤ `tolerance`.

    X, y: lists with one array per output, X[o] (runs, n_o, D) and y[o] (runs, n_o); weights: first (runs, D), second
    (runs, O, D); teacher: (runs, D) coefficients of output 0. `loss` is a name in `training.losses`; cross-entropy
    takes labels y = ±1 and reaches 0 never, so it ends at the tolerance or at `max_steps`. `normalised` steps are
    `learning_rate` over L max(1, log 1/L): on cross-entropy the margin, nearly log 1/L, then grows by a share of itself
    in some steps, and not like the logarithm of their number. `trainable` names the layers that move. A run ends by
    itself and then no longer changes nor costs; at `max_steps` the others end with `converged` false. Curves of loss,
    risk and `observe`, {name: function of β (R, O, D) and teacher (R, D) of the R runs in training -> (R,)}, are
    recorded at up to `checkpoints` log-spaced steps. `progress` receives {"step", "active", "loss"} now and then.

    Method of "feature reuse in multi-task learning and finetuning" (learning rate .5 in pretraining, .1 in
    finetuning, tolerance 1e-10); multi-task form: eqs 24–25 of its appendix; cross-entropy: its appendix C. Raises
    ValueError for bad input, Divergence for runs whose loss is not finite or 1e4 times its start.
    """
    if not learning_rate > 0 or not tolerance >= 0 or max_steps < 1 or checkpoints < 1:
        raise ValueError("learning_rate, max_steps and checkpoints must be positive and tolerance not negative")
    ensemble = Ensemble(X, y, weights, teacher, trainable, device, loss)
    steps = np.unique(np.geomspace(1, max_steps, checkpoints).round().astype(int))
    book = _Book(ensemble, steps, checkpoints, observe or {})
    ledger, limit = Ledger(ensemble, tolerance), None
    time = torch.zeros(len(ensemble), dtype=torch.float64, device=ensemble.device)
    for step in range(max_steps + 1):
        beta = coefficients(ensemble.first, ensemble.second)
        value, force = ensemble.force(beta)
        limit = value * _BLOWN_UP if limit is None else limit
        # A run that has ended gets the step 0, and stays what it is until the next look removes it.
        active = ~(value <= tolerance)
        rate = learning_rate / (value * (-torch.log(value)).clamp(min=1)) if normalised else learning_rate
        book.record(step, time, beta, value, active)
        if step % _INSPECT == 0 or step == max_steps:
            _raise_if_diverged(ensemble, value, limit, learning_rate)
            if progress is not None and step % _REPORT == 0:
                progress({"step": step, "active": int(active.sum()), "loss": float(value.max())})
            ended = ~active if step < max_steps else torch.ones_like(active)
            if ended.any():
                ledger.close(ended, value)
                limit, force, active, time = (kept[~ended] for kept in (limit, force, active, time))
                rate = rate[~ended] if normalised else rate
                book.ended = book.ended[~ended]
                if not len(ensemble):
                    break
        # `active * rate` may be rounded to float32: torch's default for a product of booleans and a float.
        taken = active.to(force.dtype) * rate
        time = time + taken
        _update(ensemble, force * taken[:, None, None])
    return ledger.trained(*book.results())


def _update(ensemble: Ensemble, push: torch.Tensor) -> None:
    """One step along the gradient: both layers move by the other one's old value."""
    push = push[:, None]
    first, second = ensemble.first, ensemble.second
    if "first" in ensemble.trainable:
        ensemble.first = first + (push * second).sum(2, keepdim=True)
    if "second" in ensemble.trainable:
        ensemble.second = second + push * first


def _raise_if_diverged(ensemble: Ensemble, loss: torch.Tensor, limit: torch.Tensor, learning_rate: float) -> None:
    gone = ~(loss <= limit)  # also catches NaN
    if gone.any():
        raise Divergence(
            ensemble.runs[gone].tolist(), f"gradient descent with learning rate {learning_rate:g} diverged"
        )


class _Book:
    """What is counted and recorded at every step, without waiting for the device."""

    def __init__(
        self, ensemble: Ensemble, steps: np.ndarray, checkpoints: int, observe: Mapping[str, Callable]
    ) -> None:
        runs, device = len(ensemble), ensemble.device
        self.ensemble, self.observe = ensemble, observe
        self.column = {int(step): column for column, step in enumerate(steps)}
        self.evaluations = torch.zeros(runs, dtype=torch.int64, device=device)
        self.risk_best = torch.full((runs,), torch.inf, dtype=torch.float64, device=device)
        names = ("time", "loss", "risk", *observe)
        self.curves = {
            name: torch.full((runs, checkpoints), torch.nan, dtype=torch.float64, device=device) for name in names
        }
        self.ended = torch.zeros(runs, dtype=torch.bool, device=device)  # among the runs still in the ensemble

    def record(
        self, step: int, time: torch.Tensor, beta: torch.Tensor, loss: torch.Tensor, active: torch.Tensor
    ) -> None:
        runs, risk = self.ensemble.runs, self.ensemble.risk(beta)
        self.evaluations[runs] += ~self.ended
        self.risk_best[runs] = torch.fmin(self.risk_best[runs], risk)
        if step in self.column:
            observed = {name: function(beta, self.ensemble.teacher) for name, function in self.observe.items()}
            for name, values in {"time": time, "loss": loss, "risk": risk, **observed}.items():
                self.curves[name][runs, self.column[step]] = torch.where(self.ended, torch.nan, values)
        self.ended = ~active

    def results(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        """Evaluations, risk_best, time, and the other curves by name."""
        curves = {name: values.cpu().numpy() for name, values in self.curves.items()}
        return self.evaluations.cpu().numpy(), self.risk_best.cpu().numpy(), curves.pop("time"), curves
