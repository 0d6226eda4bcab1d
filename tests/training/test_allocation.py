"""A job that needs more memory than is free ends with one sentence."""

import resource

import numpy as np
import pytest
import torch

from carryover.errors import UserError
from carryover.training import allocation


@pytest.mark.parametrize(
    "take",
    [
        lambda: np.ones(10**15),
        lambda: torch.ones(10**15),
        lambda: [np.ones(2**23) for _ in range(10**4)],  # each fits, and all together do not
    ],
)
def test_an_array_that_does_not_fit_is_said(take, monkeypatch):
    monkeypatch.setattr(allocation, "available", lambda: 2**28)
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with pytest.raises(UserError, match=r"^there is too little memory \("), allocation.within_memory():
        take()
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
