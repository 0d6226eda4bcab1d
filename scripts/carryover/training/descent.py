"""Plain full-batch gradient descent on diagonal linear networks, as the papers do it, for a whole ensemble at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import torch

from carryover.networks.diagonal import Weights
from carryover.training.course import Course
from carryover.training.ensemble import Ensemble, as_weights, coefficients
from carryover.training.history import History, log_spaced
from carryover.training.result import Divergence, Trained
from carryover.training.settings import check_not_negative, check_positive

_INSPECT = 50  # steps between inspections of which runs have ended: each waits for the device
_REPORT = 100  # steps between calls of `progress`
_BLOWN_UP = 1e4  # times the loss at the start


def gradient_descent(
    X: Sequence[np.ndarray],
    y: Sequence[np.ndarray],
    start: Weights,
    *,
    learning_rate: float,
    tolerance: float,
    max_steps: int,
    loss: str = "squared",
    normalised: bool = False,
    trainable: Iterable[str] = ("first", "second"),
    teacher: np.ndarray | None = None,
    weights: Sequence[float] | None = None,
    observe: Mapping[str, Callable] | None = None,
    device: str = "auto",
    checkpoints: int = 64,
    progress: Callable[[dict], None] | None = None,
) -> Trained:
    """Train every run by gradient descent on L = Σ_o weight · mean loss of output o, until L ≤ `tolerance`.

    Data, start, teacher, weights, loss and trainable layers are those of `Ensemble`; cross-entropy takes labels y = ±1
    and reaches 0 never, so it ends at the tolerance or at `max_steps`. `normalised` steps are `learning_rate` over
    L max(1, log 1/L): on cross-entropy the margin, nearly log 1/L, then grows by a share of itself in some steps, and
    not like the logarithm of their number. A run ends by itself and then no longer changes nor costs; at `max_steps`
    the others end with `converged` false. Curves of loss, risk and `observe`, {name: function of β (R, O, D) and
    teacher (R, D) of the R runs in training -> (R,)}, are recorded at up to `checkpoints` log-spaced steps.

    Method of "feature reuse in multi-task learning and finetuning" (learning rate .5 in pretraining, .1 in
    finetuning, tolerance 1e-10); multi-task form: eqs 24–25 of its appendix; cross-entropy: its appendix C. Raises
    ValueError for bad input, Divergence for runs whose loss is not finite or 1e4 times its start.
    """
    check_positive(learning_rate=learning_rate, max_steps=max_steps, checkpoints=checkpoints)
    check_not_negative(tolerance=tolerance)
    ensemble, observe = Ensemble(X, y, start, teacher, trainable, device, loss, weights), observe or {}
    schedule, history = set(log_spaced(max_steps, checkpoints)), History(len(ensemble), checkpoints, observe)
    course = Course(history, ensemble.runs.cpu().numpy())
    if course.ended:
        return history.trained(as_weights(*history.stacked()))
    begin, (limit, time, evaluations, risk_best, active) = _begin(ensemble, course)
    for step in range(begin, max_steps + 1):
        if course.due():
            course.save(step=step, ensemble=ensemble.state(), of_runs=[limit, time, evaluations, risk_best, active])
        beta = coefficients(ensemble.first, ensemble.second)
        value, gradient = ensemble.negative_gradient(beta)
        risk = ensemble.risk(beta)
        evaluations, risk_best = evaluations + active, torch.fmin(risk_best, risk)
        if step in schedule:
            observed = {name: function(beta, ensemble.teacher) for name, function in observe.items()}
            history.record(ensemble.runs, {"time": time, "loss": value, "risk": risk, **observed}, active)
        active = ~(value <= tolerance)
        taken = _taken(value, active, learning_rate, normalised)
        if step % _INSPECT == 0 or step == max_steps:
            _raise_if_diverged(ensemble, value, limit, learning_rate)
            if progress is not None and step % _REPORT == 0:
                progress({"step": step, "active": int(active.sum()), "loss": float(value.max())})
            ended = ~active if step < max_steps else torch.ones_like(active)
            if ended.any():
                history.end(
                    ensemble.runs, (ensemble.first, ensemble.second), {"loss": value, "risk": risk}, ended,
                    evaluations=evaluations, converged=~active, risk_best=risk_best,
                )  # fmt: skip
                ensemble.keep(~ended)
                of_runs = limit, gradient, active, taken, time, evaluations, risk_best
                limit, gradient, active, taken, time, evaluations, risk_best = (kept[~ended] for kept in of_runs)
                if not len(ensemble):
                    break
        time = time + taken
        _update(ensemble, gradient * taken[:, None, None])
    course.end()
    return history.trained(as_weights(*history.stacked()))


def _begin(ensemble: Ensemble, course: Course) -> tuple[int, list[torch.Tensor]]:
    """The first step, and of every run its limit of the loss, time, evaluations, smallest risk and whether it is in
    training: at the start, or where training was cut off, to which the ensemble goes."""
    if course.state:
        ensemble.go_on(course.state["ensemble"])
        return course.state["step"], course.state["of_runs"]
    limit = ensemble.negative_gradient(coefficients(ensemble.first, ensemble.second))[0] * _BLOWN_UP
    runs = ensemble.runs
    return 0, [
        limit, torch.zeros_like(limit), torch.zeros_like(runs), torch.full_like(limit, torch.nan),
        torch.ones_like(runs, dtype=torch.bool),
    ]  # fmt: skip


def _taken(loss: torch.Tensor, active: torch.Tensor, learning_rate: float, normalised: bool) -> torch.Tensor:
    """Steps (R,). A run that has ended gets 0, and stays what it is until the next inspection removes it."""
    rate = learning_rate / (loss * (-torch.log(loss)).clamp(min=1)) if normalised else learning_rate
    # `active * rate` may be rounded to float32: torch's default for a product of booleans and a float.
    return active.to(loss.dtype) * rate


def _update(ensemble: Ensemble, move: torch.Tensor) -> None:
    """One step along the negative gradient: both layers move by the other one's old value."""
    move = move[:, None]
    first, second = ensemble.first, ensemble.second
    if "first" in ensemble.trainable:
        ensemble.first = first + (move * second).sum(2, keepdim=True)
    if "second" in ensemble.trainable:
        ensemble.second = second + move * first


def _raise_if_diverged(ensemble: Ensemble, loss: torch.Tensor, limit: torch.Tensor, learning_rate: float) -> None:
    gone = ~(loss <= limit)  # also catches NaN
    if gone.any():
        raise Divergence(
            ensemble.runs[gone].tolist(), f"gradient descent with learning rate {learning_rate:g} diverged"
        )
