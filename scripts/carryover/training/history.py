"""What is known of the training of an ensemble: values at log-spaced checkpoints, and the end of each run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import torch

from carryover.training.result import Trained

Values = np.ndarray | torch.Tensor
_OPTIONAL = ("learning_rate", "at_rest")


def log_spaced(last: int, checkpoints: int) -> np.ndarray:
    """At most `checkpoints` log-spaced integers from 1 to `last`, always with `last`."""
    return np.unique(np.geomspace(last, 1, checkpoints).round().astype(int))


class History:
    """Checkpoints and ends of all runs; the `runs` (R,) of each method are indices in the caller's order.

    Any number of checkpoints may be recorded of a run. The result holds those that are nearest to `checkpoints`
    log-spaced times, where there are more.
    """

    def __init__(self, runs: int, checkpoints: int, observed: Iterable[str] = ()) -> None:
        """Of time, loss, risk, and the names in `observed`."""
        self.checkpoints = checkpoints
        names = dict.fromkeys(("time", "loss", "risk", *observed))
        self._curves = {name: np.full((runs, checkpoints), np.nan) for name in names}
        self._recorded = np.zeros(runs, dtype=np.int64)  # checkpoints of each run
        self._ends = {name: np.full(runs, np.nan) for name in ("loss", "risk", "risk_best", *_OPTIONAL)}
        self._ends |= {"evaluations": np.zeros(runs, dtype=np.int64), "converged": np.zeros(runs, dtype=bool)}
        self._weights: dict[int, tuple[np.ndarray, ...]] = {}

    def record(self, runs: np.ndarray, values: Mapping[str, Values]) -> None:
        """Add a checkpoint of `runs` (R,): observables (R,) by name."""
        columns = self._recorded[runs]
        if (more := columns.max(initial=-1) + 1 - self._curves["time"].shape[1]) > 0:
            room = ((0, 0), (0, max(more, columns.max() // 2)))
            self._curves = {name: np.pad(c, room, constant_values=np.nan) for name, c in self._curves.items()}
        for name, value in values.items():
            self._curves[name][runs, columns] = _as_array(value)
        self._recorded[runs] += 1

    def end(self, runs: np.ndarray, weights: Sequence[Values], values: Mapping[str, Values | int]) -> None:
        """Set the end of `runs` (R,): arrays of weights (R, …), and values (R,) or numbers by name.

        Of the values, loss, risk, evaluations and converged are kept, and, where they are given, the smallest risk
        between checkpoints (risk_best), learning_rate and at_rest.
        """
        for name in self._ends.keys() & values.keys():
            self._ends[name][runs] = _as_array(values[name])
        layers = [_as_array(layer) for layer in weights]
        self._weights |= {int(run): tuple(layer[place] for layer in layers) for place, run in enumerate(runs)}

    def stacked(self) -> list[np.ndarray]:
        """The arrays of weights of all runs at their ends, (runs, …)."""
        ends = [self._weights[run] for run in range(len(self._recorded))]
        return [np.stack(layer) for layer in zip(*ends, strict=True)]

    def trained(self, weights: object) -> Trained:
        """The result once all runs have ended; `weights` in the type of their family."""
        ends, curves = self._ends, self._thinned()
        return Trained(
            weights=weights,
            loss=ends["loss"],
            evaluations=ends["evaluations"],
            converged=ends["converged"],
            risk_final=ends["risk"],
            risk_best=np.fmin(ends["risk_best"], np.fmin.reduce(self._curves["risk"], axis=1)),
            time=curves.pop("time"),
            curves=curves,
            **{name: ends[name] for name in _OPTIONAL if not np.isnan(ends[name]).all()},
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

    def forget(self, runs: np.ndarray) -> None:
        """Drop the checkpoints of `runs` (R,), whose training begins, perhaps again."""
        self._recorded[runs] = 0
        for curve in self._curves.values():
            curve[runs] = np.nan


def _as_array(values: Values | int) -> np.ndarray:
    return values.cpu().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)
