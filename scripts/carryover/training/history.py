"""What is known of the training of an ensemble: values at log-spaced checkpoints, and where each run ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from carryover.training.result import Trained

Values = np.ndarray | torch.Tensor
_IF_KNOWN = ("learning_rate", "at_rest")


def log_spaced(last: int, checkpoints: int) -> np.ndarray:
    """At most `checkpoints` whole numbers from 1 to `last`, log-spaced: the last one even of one checkpoint."""
    return np.unique(np.geomspace(last, 1, checkpoints).round().astype(int))


class History:
    """Records of all runs in the caller's order, in which the `runs` of each method are indices.

    A run's values stand side by side in the order in which they were recorded. There is room for any number of them;
    of more than `checkpoints` the result has those that are about evenly spaced in the logarithm of time. What is
    recorded of a group of runs on a device has their order; `which`, a mask of these runs, picks some.
    """

    def __init__(self, runs: int, checkpoints: int, observed: Iterable[str] = ()) -> None:
        """Of time, loss, risk, and what else is `observed`."""
        self.checkpoints = checkpoints
        names = dict.fromkeys(("time", "loss", "risk", *observed))
        self._curves = {name: np.full((runs, checkpoints), np.nan) for name in names}
        self._recorded = np.zeros(runs, dtype=np.int64)  # checkpoints of each run
        self._ends = {name: np.full(runs, np.nan) for name in ("loss", "risk", "risk_best", *_IF_KNOWN)}
        self._ends |= {"evaluations": np.zeros(runs, dtype=np.int64), "converged": np.zeros(runs, dtype=bool)}
        self._weights: dict[int, tuple[np.ndarray, ...]] = {}

    def record(self, runs: Values, values: Mapping[str, Values], which: Values | None = None) -> None:
        """One more checkpoint of `runs` (R,), with the values (R,) of observables by name."""
        rows = _picked(runs, which)
        columns = self._recorded[rows]
        if columns.max(initial=0) == self._curves["time"].shape[1]:
            self._curves = {name: np.hstack([c, np.full_like(c, np.nan)]) for name, c in self._curves.items()}
        for name, value in values.items():
            self._curves[name][rows, columns] = _picked(value, which)
        self._recorded[rows] += 1

    def end(
        self, runs: Values, weights: Sequence[Values], values: Mapping[str, Values], which: Values | None = None, *,
        evaluations: Values | int, converged: Values, risk_best: Values | None = None,
        learning_rate: Values | None = None, at_rest: Values | None = None,
    ) -> None:  # fmt: skip
        """The end of `runs` (R,): arrays of weights (R, …), loss and risk among values (R,), and how it came about.

        `risk_best` is the smallest risk between checkpoints. Weights are kept without a copy where all are picked.
        """
        rows = _picked(runs, which)
        known = {"loss": values["loss"], "risk": values.get("risk"), "risk_best": risk_best}
        known |= {"learning_rate": learning_rate, "at_rest": at_rest, "converged": converged}
        self._ends["evaluations"][rows] = evaluations if isinstance(evaluations, int) else _picked(evaluations, which)
        for name, value in known.items():
            if value is not None:
                self._ends[name][rows] = _picked(value, which)
        picked = [_picked(layer, which) for layer in weights]
        self._weights |= {int(run): tuple(layer[place] for layer in picked) for place, run in enumerate(rows)}

    def forget(self, runs: np.ndarray) -> None:
        """Clear what was recorded of runs that begin, perhaps again: they may end before checkpoints of the past."""
        self._recorded[runs] = 0
        for curve in self._curves.values():
            curve[runs] = np.nan

    def weights(self) -> list[tuple[np.ndarray, ...]]:
        """The arrays of every run at its end."""
        return [self._weights[run] for run in range(len(self._recorded))]

    def stacked(self) -> list[np.ndarray]:
        """The arrays of weights of all runs, (runs, …)."""
        return [np.stack(layer) for layer in zip(*self.weights(), strict=True)]

    def trained(self, weights: object) -> Trained:
        """The result once all runs have ended; `weights` as their family has them."""
        ends = self._ends
        best = np.fmin(ends["risk_best"], np.fmin.reduce(self._curves["risk"], axis=1))
        curves = self._thinned()
        return Trained(
            weights=weights,
            loss=ends["loss"],
            evaluations=ends["evaluations"],
            converged=ends["converged"],
            risk_final=ends["risk"],
            risk_best=best,
            time=curves.pop("time"),
            curves=curves,
            **{name: ends[name] for name in _IF_KNOWN if not np.isnan(ends[name]).all()},
        )

    def _thinned(self) -> dict[str, np.ndarray]:
        """(runs, checkpoints) of each curve."""
        thinned = {name: curve[:, : self.checkpoints].copy() for name, curve in self._curves.items()}
        for run in np.flatnonzero(self._recorded > self.checkpoints):
            time = self._curves["time"][run, : self._recorded[run]]
            grid = np.geomspace(time[0], time[-1], self.checkpoints)
            nearest = np.unique(np.abs(np.log(time) - np.log(grid)[:, None]).argmin(1))
            for name, curve in thinned.items():
                curve[run] = np.nan
                curve[run, : len(nearest)] = self._curves[name][run, nearest]
        return thinned

    def state(self, runs: np.ndarray) -> dict[str, Any]:
        """All that is known of `runs` (R,), for `load`: arrays in mappings and lists."""
        recorded = self._recorded[runs]
        curves = {name: curve[runs, : recorded.max(initial=0)] for name, curve in self._curves.items()}
        weights = {place: list(self._weights[run]) for place, run in enumerate(runs.tolist()) if run in self._weights}
        ends = {name: values[runs] for name, values in self._ends.items()}
        return {"recorded": recorded, "curves": curves, "ends": ends, "weights": weights}

    def load(self, runs: np.ndarray, state: Mapping[str, Any]) -> None:
        """Know of `runs` (R,) what a `state` of as many runs has."""
        self.forget(runs)
        self._recorded[runs] = state["recorded"]
        for name, values in state["ends"].items():
            self._ends[name][runs] = values
        width = state["recorded"].max(initial=0)
        if (more := width - self._curves["time"].shape[1]) > 0:
            self._curves = {n: np.pad(c, ((0, 0), (0, more)), constant_values=np.nan) for n, c in self._curves.items()}
        for name, curve in state["curves"].items():
            self._curves[name][runs, :width] = curve
        self._weights |= {int(runs[place]): tuple(layers) for place, layers in state["weights"].items()}


def _picked(values: Values, which: Values | None) -> np.ndarray:
    if isinstance(values, torch.Tensor):
        return (values if which is None else values[torch.as_tensor(which, device=values.device)]).cpu().numpy()
    return values if which is None else values[_picked(which, None)]
