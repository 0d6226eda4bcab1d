"""Risk of wide ReLU networks and its bound by the tangent kernel ("Finetuning with linear teachers", theorem 6.1)."""

NAMES = (
    "risk_final", "absolute_risk", "start_risk", "loss", "converged", "evaluations", "tangent_distance", "ntk_norm",
    "ntk_norm_linear", "bound", "corollary",
)  # fmt: skip


def measure(data, p):
    """Of shape (run,): risks before and after, how training ended, and what the theorem says of them."""
    return data[list(NAMES)]
