"""Risk of the main task, at the end of training and at its best along the way, with what the training came to."""

FURTHER = (
    "learning_rate", "at_rest", "validation_loss", "target_power", "target_variance",
    "pretrained_loss", "feature_share", "feature_alignment",
)  # fmt: skip

SELECTS = True


def measure(data, p):
    """Risks, loss and effort of shape (run,), and what else some families know of their training."""
    names = ["risk_final", "risk_best", "loss", "evaluations", "converged"]
    return data[[*names, *(name for name in FURTHER if name in data)]]
