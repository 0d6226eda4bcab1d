"""What training an ensemble of diagonal linear networks returns, and how it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from carryover.networks.diagonal import Weights


class Divergence(RuntimeError):
    """Training left the finite numbers or grew without bound; `runs` are the indices of the networks that did."""

    def __init__(self, runs: Sequence[int], message: str) -> None:
        super().__init__(message)
        self.runs = tuple(int(run) for run in runs)


@dataclass(frozen=True)
class Trained:
    """An ensemble after training. The leading axis of everything is the run.

    Population risk is ‖β_main − teacher‖² (output 0 is the main task): inputs uniform on the sphere of radius √D have
    covariance I. Time is flow time, the sum of the learning rates in gradient descent.
    """

    weights: Weights
    loss: np.ndarray  # (runs,) at the end, summed over outputs
    evaluations: np.ndarray  # (runs,) gradient evaluations
    converged: np.ndarray  # (runs,) whether the loss reached the tolerance
    risk_best: np.ndarray  # (runs,) smallest risk over all accepted steps, NaN without a teacher
    time: np.ndarray  # (runs, checkpoints) log-spaced, NaN after the end
    loss_curve: np.ndarray  # (runs, checkpoints)
    risk_curve: np.ndarray  # (runs, checkpoints), NaN without a teacher
