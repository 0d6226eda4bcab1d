"""Errors of linear functions on pairs of image tasks, and the bounds that they are compared with."""

from dataclasses import dataclass

BOUNDS = ("distance", "benign_overfitting", "covariance")


@dataclass(frozen=True, kw_only=True)
class Parameters:
    pass


def measure(data, p):
    """Error, its spread over draws, and each bound, (run,)."""
    return data[["risk_final", "risk_spread", *BOUNDS]]
