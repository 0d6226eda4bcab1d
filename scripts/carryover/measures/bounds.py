"""Errors of linear functions on pairs of image tasks, and the bounds that they are compared with."""

from carryover.config.parameters import NoParameters

FAMILIES = ("image_pairs",)
BOUNDS = ("distance", "benign_overfitting", "covariance")

Parameters = NoParameters


def measure(data, p):
    """Error, its spread over draws, and each bound, (run,)."""
    return data[["risk_final", "risk_spread", *BOUNDS]]
