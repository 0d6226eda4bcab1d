"""The card that tests marked `gpu` compare with the CPU.

`CARRYOVER_CARD=cpu` puts the CPU in its place: the tests then show nothing of a card, but that they themselves work.
"""

import os

import pytest
import torch


@pytest.fixture
def card():
    """The name of its device."""
    device = os.environ.get("CARRYOVER_CARD", "cuda")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no CUDA GPU here")
    return device
