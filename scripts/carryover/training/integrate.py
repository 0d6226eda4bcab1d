"""The loop that trains every ensemble, and the history of its runs: values at log-spaced checkpoints, and their ends.

A trainer is a subclass of `Ensemble` that says what one step is: of `Descent`, which observes losses after the epochs
of a schedule alone, or of `steppers.Flow`. `train` makes ensembles that memory bears, and `integrate` ends them.
"""

from __future__ import annotations

import logging
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from time import monotonic
from typing import Any, ClassVar

import numpy as np
import torch

from carryover.errors import UserError
from carryover.training.result import Divergence, Trained

Values = np.ndarray | torch.Tensor | float
CHECKPOINTS = 64
"""Of a run at most: curves hold so many values, about evenly spaced in the logarithm of time, besides its end."""
_OPTIONAL = ("learning_rate", "at_rest")
_PAUSE = 10.0  # seconds between two lines of the log
_BLOWN_UP = 2  # times the loss at the start: what a step too large does to a network that starts from almost nothing

_LOG, _reported = logging.getLogger(__name__), monotonic()


def take_runs(values: Any, which: torch.Tensor) -> Any:
    """The runs in the boolean mask `which` of tensors and arrays by run, also in lists and mappings."""
    if isinstance(values, list):
        return [take_runs(value, which) for value in values]
    if isinstance(values, dict):
        return {name: take_runs(value, which) for name, value in values.items()}
    if values is None or isinstance(values, int | float):
        return values
    return values[which.cpu().numpy()] if isinstance(values, np.ndarray) else values[which]


def replace_runs(which: torch.Tensor, new: Any, old: Any) -> Any:
    """The new values of runs in the boolean mask `which` and the old ones of others; tensors by run, also in lists."""
    if isinstance(new, list):
        return [replace_runs(which, *pair) for pair in zip(new, old, strict=True)]
    return torch.where(which.view(-1, *[1] * (new.dim() - 1)), new, old)


def slices(sizes: Iterable[int]) -> list[slice]:
    """Consecutive ones of these sizes."""
    return [slice(*ends) for ends in pairwise(np.cumsum([0, *sizes]).tolist())]


class Ensemble(ABC):
    """Networks that are trained together, each with a step size of its own if its method has one."""

    PER_RUN: ClassVar[tuple[str, ...]] = ()  # attributes with the run as first axis
    runs: np.ndarray  # (R,), their indices in the caller's arrays
    time: Any  # (R,)
    loss: Any  # (R,), in float64
    risk: Any  # (R,)
    evaluations: Any  # of the gradient, (R,) or a number for all
    tolerance: Any  # of the loss, (R,) or a number for all
    diverged: Sequence[int] = ()  # runs that were dropped
    steps = 0

    def __len__(self) -> int:
        return len(self.runs)

    @abstractmethod
    def advance(self) -> torch.Tensor | None:
        """Try one step of every network; the mask (R,) of those to be recorded after it, None for none."""

    @abstractmethod
    def find_ended(self) -> torch.Tensor | None:
        """The mask (R,) of networks whose training is over, None for none. Raises Divergence."""

    def observe_runs(self, which: torch.Tensor) -> Mapping[str, Values]:
        """Time, loss, risk and other observables (r,) of the networks in the mask."""
        return {"time": self.time[which], "loss": self.loss[which], "risk": self.risk[which]}

    def outcome(self) -> dict[str, Values]:
        """What else is known at an end, (R,) or a number: see `History.end`."""
        return {"evaluations": self.evaluations, "converged": self.loss <= self.tolerance}

    def raise_divergence(self, lost: torch.Tensor, what: str) -> None:
        """Raise Divergence where networks are lost, a mask (R,)."""
        if lost.any():
            raise Divergence(take_runs(self.runs, lost).tolist(), what)

    @abstractmethod
    def weights(self) -> Sequence[Values]:
        """Arrays (R, …) from which the networks can be made."""

    def find_unrecorded(self) -> torch.Tensor | None:  # noqa: B027
        """The mask (R,) of networks that are recorded if they end here, None for none."""

    def go_on(self, ended: torch.Tensor, history: History) -> torch.Tensor:
        """Let networks in the mask go on as other runs, from where they ended; the mask (R,) of those that do."""
        return torch.zeros_like(ended)

    def prepare(self) -> None:  # noqa: B027
        """Allocate what the steps of these networks need besides."""

    def keep(self, which: torch.Tensor) -> None:
        """Drop the networks that are not in the boolean mask."""
        for name in ("runs", *self.PER_RUN):
            setattr(self, name, take_runs(getattr(self, name), which))
        if len(self):
            self.prepare()


def train(
    ensemble: Callable[[np.ndarray], Ensemble], history: History, most: int, runs: np.ndarray | None = None
) -> list[int]:
    """Train runs (all of the history if None) in as few ensembles of at most `most` (at least one) as possible, which
    `ensemble` makes of their indices; the runs that were dropped.

    The sizes of ensembles differ by one at most. After PyTorch reported that a GPU's memory is too small for one, half
    of its runs are tried, which is reported on stderr; UserError where it is too small for one run.
    """
    runs = np.arange(len(history)) if runs is None else runs
    dropped: list[int] = []
    # Equal sizes: networks of one ensemble wait for the slowest, and a small rest would use the device badly.
    waiting = np.array_split(runs, -(-len(runs) // max(1, most))) if len(runs) else []
    while waiting:
        chunk = waiting.pop(0)
        try:
            dropped += integrate(ensemble(chunk), history)
            continue
        except torch.OutOfMemoryError:
            pass  # as long as the error is handled, its frames hold the tensors that should be freed
        if len(chunk) == 1:
            raise UserError("a GPU's memory is too small for one network: choose the device cpu, or smaller sizes.")
        fewer = len(chunk) // 2
        torch.cuda.empty_cache()
        print(f"the GPU's memory is too small for {len(chunk)} networks: continuing with {fewer}", file=sys.stderr)
        rest = np.concatenate([chunk, *waiting])
        waiting = np.split(rest, range(fewer, len(rest), fewer))
    return sorted(dropped)


def report(**state: Values) -> None:
    """Log the largest of each value, at most every ten seconds; other calls are cheap, and read no device."""
    global _reported
    if (now := monotonic()) - _reported >= _PAUSE:
        _reported = now
        _LOG.info(", ".join(f"{name} {_as_array(values).max():g}" for name, values in state.items()))


def integrate(ensemble: Ensemble, history: History) -> Sequence[int]:
    """Train an ensemble until every network has ended; the runs that were dropped.

    What the history knows of their runs is forgotten.
    """
    history.forget(ensemble.runs)
    while len(ensemble):
        # The end is looked for before a step: a network may start below its tolerance, and then takes none.
        ended = ensemble.find_ended()
        if ended is not None and ended.any():
            runs, observed = take_runs(ensemble.runs, ended), ensemble.observe_runs(ended)
            if (late := ensemble.find_unrecorded()) is not None:
                late = late[ended]
                history.record(take_runs(runs, late), take_runs(dict(observed), late))
            weights = [take_runs(layer, ended) for layer in ensemble.weights()]
            history.end(runs, weights, {**observed, **take_runs(ensemble.outcome(), ended)})
            # Times of training differ by decades; networks that have ended would go on costing as much as the others.
            ensemble.keep(~ended | ensemble.go_on(ended, history))
        if not len(ensemble):
            break
        report(step=ensemble.steps, active=len(ensemble), loss=ensemble.loss)
        ensemble.steps += 1
        recorded = ensemble.advance()
        if recorded is not None and recorded.any():
            history.record(take_runs(ensemble.runs, recorded), ensemble.observe_runs(recorded))
    return ensemble.diverged


class Descent(Ensemble):
    """Gradient descent; networks whose loss is not finite or twice its start are dropped, their runs in `diverged`."""

    PER_RUN: ClassVar[tuple[str, ...]] = ("limit", "tolerance", "loss", "values")

    rate: float  # of learning
    limit: torch.Tensor  # (R,), of the loss
    values: Mapping[str, Values] = {}  # (R,), observed last
    steps_per_epoch = 1

    def begin(self, schedule: np.ndarray, tolerance: float | np.ndarray) -> None:
        """Set the epochs (·,) after which networks are observed, and the tolerance of the loss, a number or (R,).
        Training ends after the last of these epochs. The initial loss sets the limit beyond which a run diverged."""
        self.schedule = frozenset(schedule.tolist())
        self.loss, self.values = self.losses(), {}
        self.tolerance = torch.as_tensor(tolerance, dtype=self.loss.dtype, device=self.loss.device).expand_as(self.loss)
        # With a rate below 2/λ, λ the largest curvature, descent never increases a quadratic loss. Near this edge of
        # stability a loss may rise for a time, but if it doubles, the rate is too large for the initial curvature.
        self.limit = (self.loss * _BLOWN_UP).maximum(self.tolerance)

    @abstractmethod
    def epoch(self) -> None:
        """Take the steps of one epoch."""

    @abstractmethod
    def losses(self) -> torch.Tensor:
        """The loss (R,) in float64."""

    @abstractmethod
    def observe(self) -> Mapping[str, Values]:
        """Risk and other observables (R,)."""

    def advance(self) -> torch.Tensor | None:
        self.epoch()
        self.evaluations = self.steps * self.steps_per_epoch
        if self.steps not in self.schedule:
            return None
        self.loss = self.losses()
        self.values = {"time": self.rate * self.evaluations, "loss": self.loss, **self.observe()}
        return torch.ones_like(self.loss, dtype=torch.bool)  # all are recorded

    def find_ended(self) -> torch.Tensor | None:
        if self.steps not in self.schedule:
            return None
        lost = ~(self.loss <= self.limit)  # also catches NaN
        if lost.any():
            self.diverged = [*self.diverged, *take_runs(self.runs, lost).tolist()]
            self.keep(~lost)
        return (self.loss <= self.tolerance) | (self.steps == max(self.schedule))

    def observe_runs(self, which: torch.Tensor) -> Mapping[str, Values]:
        return take_runs(self.values, which)

    def outcome(self) -> dict[str, Values]:
        return {**super().outcome(), "learning_rate": self.rate}


def log_checkpoints(last: int, checkpoints: int = CHECKPOINTS) -> np.ndarray:
    """At most `checkpoints` log-spaced integers from 1 to `last`, always with `last`."""
    return np.unique(np.geomspace(last, 1, checkpoints).round().astype(int))


class History:
    """Checkpoints and ends of all runs; the `runs` (R,) of each method are indices in the caller's order.

    Any number of checkpoints may be recorded of a run. The result holds those that are nearest to `checkpoints`
    log-spaced times, where there are more.
    """

    def __init__(self, runs: int, observed: Iterable[str] = (), checkpoints: int = CHECKPOINTS) -> None:
        """An empty history of `runs` runs, for checkpoints of time, loss, risk, and the observables in `observed`."""
        self.checkpoints, self._names = checkpoints, list(dict.fromkeys(("time", "loss", "risk", *observed)))
        self._recorded: list[list[np.ndarray]] = [[] for _ in range(runs)]  # values (names,) at each run's checkpoints
        self._ends = {name: np.full(runs, np.nan) for name in ("loss", "risk", "risk_best", *_OPTIONAL)}
        self._ends |= {"evaluations": np.zeros(runs, dtype=np.int64), "converged": np.zeros(runs, dtype=bool)}
        self._weights: list[np.ndarray] = []  # (runs, …), filled where runs have ended

    def __len__(self) -> int:
        return len(self._recorded)

    def forget(self, runs: np.ndarray) -> None:
        """Drop the checkpoints of `runs` (R,), whose training begins, perhaps again."""
        for run in runs:
            self._recorded[run] = []

    def branch(self, old: np.ndarray, new: np.ndarray) -> None:
        """Give runs `new` (R,) the checkpoints of the runs `old` (R,), from whose ends they go on."""
        for before, after in zip(old, new, strict=True):
            self._recorded[after] = self._recorded[before].copy()

    def record(self, runs: np.ndarray, values: Mapping[str, Values]) -> None:
        """Add a checkpoint of `runs` (R,): observables (R,) by name."""
        rows = np.full((len(runs), len(self._names)), np.nan)
        for name, value in values.items():
            rows[:, self._names.index(name)] = _as_array(value)
        for run, row in zip(runs, rows, strict=True):
            self._recorded[run].append(row)

    def end(self, runs: np.ndarray, weights: Sequence[Values], values: Mapping[str, Values]) -> None:
        """Store the final `weights`, arrays (R, …), and `values` by name, (R,) or one number, of the `runs` (R,).

        Values that are stored: loss, risk, evaluations and converged; and, if they are given, risk_best (the smallest
        risk at any step, not only at checkpoints), learning_rate and at_rest."""
        for name in self._ends.keys() & values.keys():
            self._ends[name][runs] = _as_array(values[name])
        layers = [_as_array(layer) for layer in weights]
        if not self._weights:
            self._weights = [np.empty((len(self), *layer.shape[1:]), layer.dtype) for layer in layers]
        for ends, layer in zip(self._weights, layers, strict=True):
            ends[runs] = layer

    def result(self, networks: Callable[..., object]) -> Trained:
        """The `Trained` of all runs, once they have ended. `networks` is a function of their arrays of weights (runs,
        …), in the order of `Ensemble.weights`, that returns the weights in the type of their family."""
        ends, curves = self._ends, np.full((len(self._names), len(self), self.checkpoints), np.nan)
        for run, rows in enumerate(self._recorded):
            values = np.reshape(rows, (-1, len(self._names)))
            time, risk = values[:, 0], values[:, 2]
            ends["risk_best"][run] = np.fmin.reduce(risk, initial=ends["risk_best"][run])
            if len(rows) > self.checkpoints:
                # Log-spaced, for learning takes decades of time; a checkpoint may be nearest to several grid points.
                grid = np.geomspace(time[0], time[-1], self.checkpoints)
                values = values[np.unique(np.abs(np.log(time) - np.log(grid)[:, None]).argmin(1))]
            curves[:, run, : len(values)] = values.T
        return Trained(
            weights=networks(*self._weights),
            loss=ends["loss"],
            evaluations=ends["evaluations"],
            converged=ends["converged"],
            risk_final=ends["risk"],
            risk_best=ends["risk_best"],
            time=curves[0],
            curves=dict(zip(self._names[1:], curves[1:], strict=True)),
            measured={name: ends[name] for name in _OPTIONAL if not np.isnan(ends[name]).all()},
        )


def _as_array(values: Values) -> np.ndarray:
    return values.cpu().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)
