"""What an ensemble of networks learns, what its training returns, and how it fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from carryover.errors import UserError

_SPELLED = 3  # runs that a sentence names


class Divergence(UserError):
    """Training left the finite numbers or grew without bound; `runs` are the indices of the networks that did.

    `what` is the sentence up to "in runs …"; the runs are named by `coordinates`, {name: (runs,) values}, if given.
    """

    def __init__(self, runs: Sequence[int], what: str, coordinates: Mapping[str, np.ndarray] | None = None) -> None:
        self.runs, self.what = tuple(int(run) for run in runs), what
        named, count = f"runs {list(self.runs)}", len(self.runs)
        if coordinates:
            names = []
            for run in self.runs[:_SPELLED]:
                values = {name: column[run] for name, column in coordinates.items()}
                # NaN stands for a coordinate that the run does not have.
                names.append(", ".join(f"{name} {value}" for name, value in values.items() if value == value))
            names += [f"and {count - _SPELLED} more"] if count > _SPELLED else []
            named = f"{count} {'run' if count == 1 else 'runs'}: {'; '.join(names)}"
        super().__init__(f"{what} in {named}")


@dataclass(frozen=True)
class Samples:
    """What one readout learns: inputs (sets, n, D), targets (runs, n), and each run's set of inputs (runs,)."""

    X: np.ndarray
    y: np.ndarray
    sets: np.ndarray


@dataclass(frozen=True)
class Trained:
    """An ensemble of networks after training. The leading axis of everything is the run.

    `weights` have the type of their family, with the same axis. The risk is the test error of the main task (output 0)
    under the loss that was minimised: the expected squared error, or the share of inputs that are misclassified. Time
    is the sum of the learning rates. `curves` hold loss, risk and whatever else was observed, by name, at log-spaced
    checkpoints: finite from the first column on, NaN after a run's end and where there is nothing to observe.
    `measured` holds learning_rate, at_rest (above the tolerance), ridge_strength and validation_loss if they are known.
    """

    weights: Any
    loss: np.ndarray  # (runs,) at the end, summed over outputs
    evaluations: np.ndarray  # (runs,) gradient evaluations
    converged: np.ndarray  # (runs,) whether the loss reached the tolerance
    risk_final: np.ndarray  # (runs,) at the end
    risk_best: np.ndarray  # (runs,) smallest risk that was observed
    time: np.ndarray  # (runs, checkpoints)
    curves: Mapping[str, np.ndarray]  # {"loss", "risk", …: (runs, checkpoints)}
    measured: Mapping[str, np.ndarray] = field(default_factory=dict)  # {name: (runs,)} of what else is known

    @classmethod
    def from_solution(
        cls, weights: Any, loss: np.ndarray, risk: np.ndarray, time: np.ndarray | None = None, **known: Any
    ) -> Trained:
        """Networks whose end was computed, with loss and risk (runs,) and what else is `known`.

        Curves hold the end alone if its `time` (runs,) is given, and nothing otherwise.
        """
        unknown, ends = np.full((len(loss), 1), np.nan), {"loss": loss, "risk": risk}
        known = {
            "evaluations": np.zeros(len(loss), dtype=np.int64),
            "converged": np.ones(len(loss), dtype=bool),
            "risk_best": unknown[:, 0],
            "time": unknown if time is None else time[:, None],
            "curves": {name: unknown if time is None else end[:, None] for name, end in ends.items()},
            **known,
        }
        return cls(weights=weights, loss=loss, risk_final=risk, **known)
