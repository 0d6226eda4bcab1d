"""Weights of ReLU networks as pretraining left them, selected from their shards."""

from carryover.config import plugins


@plugins.measure(needs=["first", "second"], applies_to={"protocol": ("pretrained",)}, selects=True)
def pretrained_weights(data):
    """Input weights (run, unit, input) and readouts (run, output, unit)."""
    return data[["first", "second"]]
