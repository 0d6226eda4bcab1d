"""The card that tests compare with the CPU; where there is none, the CPU stands in and shows that the tests work."""

import pytest
import torch


@pytest.fixture
def card():
    """The name of its device."""
    return "cuda" if torch.cuda.is_available() else "cpu"
