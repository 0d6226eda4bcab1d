"""Looks at a group of networks along gradient descent: when each one ends, and what is known of it by then."""

from __future__ import annotations

import numpy as np
import torch

from carryover.networks.relu import Weights
from carryover.training.result import Trained

_BLOWN_UP = 2  # times the loss at the start: what a step too large does to a network that starts from almost nothing


def epochs_of_looks(max_epochs: int, looks: int) -> np.ndarray:
    """Log-spaced epochs, at most `looks` of them, up to `max_epochs`: the last epoch even of one look."""
    return np.unique(np.geomspace(max_epochs, 1, looks).round().astype(int))


def follow(group, batches, schedule, book: Book, progress) -> list[int]:
    """Train a group of networks to its end; the runs that diverged: not finite, or twice the loss at the start.

    The group has `runs` and `rates` (R,), `step(batch)`, `losses()` (R,) in float64, `weights()` and `keep(which)`;
    its batches have `per_epoch`, `epoch()` and `keep(which)`.
    """
    diverged, epoch = [], 0
    limit = (group.losses() * _BLOWN_UP).clamp(min=book.tolerance)
    for column, until in enumerate(schedule):
        for _ in range(epoch, until):
            for batch in batches.epoch():
                group.step(batch)
        epoch = until
        loss = group.losses()
        gone = ~(loss <= limit)  # also catches NaN
        ended = (loss <= book.tolerance) | gone | bool(until == schedule[-1])
        steps = epoch * batches.per_epoch
        book.record(column, steps, group, loss, ended & ~gone)
        if progress is not None:
            progress({"step": steps, "active": len(group), "loss": float(loss.max())})
        if ended.any():
            diverged += group.runs[gone.cpu().numpy()].tolist()
            group.keep(~ended)
            batches.keep(~ended)
            limit = limit[~ended]
            if not len(group):
                break
    return diverged


class Whole:
    """All inputs there are, in one step."""

    per_epoch = 1

    def epoch(self):
        yield None

    def keep(self, which) -> None:
        pass


class Book:
    """What is known of all runs, in the caller's order."""

    def __init__(self, weights: Weights, schedule, looks: int, observed, tolerance: float) -> None:
        runs = len(weights.first)
        self.tolerance, self.observed = tolerance, observed
        self.first, self.second = weights.first.copy(), weights.second.copy()
        self.loss, self.rate, self.risk_final = (np.full(runs, np.nan) for _ in range(3))
        self.steps = np.zeros(runs, dtype=np.int64)
        self.curves = {name: np.full((runs, looks), np.nan) for name in ("time", "loss", *observed)}

    def record(self, column: int, steps: int, group, loss: torch.Tensor, ended: torch.Tensor) -> None:
        runs = group.runs
        first, second = group.weights()
        values = {name: look(first, second, runs) for name, look in self.observed.items()}
        for name, value in {"time": group.rates * steps, "loss": loss, **values}.items():
            self.curves[name][runs, column] = torch.as_tensor(value).cpu().numpy()
        done = ended.cpu().numpy()
        if done.any():
            rows = runs[done]
            self.first[rows], self.second[rows] = first[ended].cpu().numpy(), second[ended].cpu().numpy()
            self.risk_final[rows] = self.curves["risk"][rows, column] if "risk" in self.curves else np.nan
            self.loss[rows], self.rate[rows], self.steps[rows] = loss[ended].cpu().numpy(), group.rates[done], steps

    def forget(self, runs) -> None:
        """Clear the curves of runs that begin, perhaps again: they may end before a look that they had come to."""
        for curve in self.curves.values():
            curve[runs] = np.nan

    def trained(self) -> Trained:
        none = np.full(self.curves["loss"].shape, np.nan)
        curves = {"risk": none, **self.curves}
        return Trained(
            weights=Weights(self.first, self.second),
            loss=self.loss,
            evaluations=self.steps,
            converged=self.loss <= self.tolerance,
            risk_final=self.risk_final,
            risk_best=np.fmin.reduce(curves["risk"], axis=1),
            time=curves.pop("time"),
            curves=curves,
            learning_rate=self.rate,
        )
