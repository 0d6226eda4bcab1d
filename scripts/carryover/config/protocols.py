"""What the name of a protocol of finetuning says: whether it trains hidden layers."""


class _Trained:
    """The protocols that train hidden layers. A probe, a kernel or linear transfer has the features of its start."""

    def __contains__(self, protocol: str) -> bool:
        return not protocol.endswith(("_probe", "_kernel", "_transfer", "pretrained"))


TRAINED = {"protocol": _Trained()}
"""Where a measure of hidden layers applies."""
