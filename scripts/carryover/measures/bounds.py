"""Errors of linear functions on pairs of image tasks, and the bounds that they are compared with."""

NAMES = ("risk_final", "risk_spread", "distance", "benign_overfitting", "covariance", "target_alignment")


def measure(data, p):
    """Error, its spread over draws, each bound, and what the source says of the target's labels, (run,)."""
    return data[list(NAMES)]
