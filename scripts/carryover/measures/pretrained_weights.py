"""Weights of ReLU networks as pretraining left them, selected from their shards."""

SELECTS = True


def pretrained_weights(data, p):
    """Input weights (run, unit, input) and readouts (run, output, unit)."""
    return data[["first", "second"]]
