"""Risk of the main task, at the end of training and at its best along the way, with what the training came to."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Parameters:
    pass


def measure(data, p):
    """Risks, loss and effort of shape (run,); the learning rate too where each run has its own."""
    names = ["risk_final", "risk_best", "loss", "evaluations", "converged"]
    return data[[*names, *(name for name in ("learning_rate",) if name in data)]]
