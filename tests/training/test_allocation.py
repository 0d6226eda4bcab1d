"""Sizes beyond memory are refused by name, before they are allocated or by the allocation that fails."""

import resource

import numpy as np
import pytest
import torch

from carryover.config.parameters import Model, parameter
from carryover.errors import UserError
from carryover.training import allocation


class Parameters(Model):
    protocol: str = parameter("one", "what is trained")
    dimension: int = parameter(10, "columns")
    samples: tuple[int, ...] = parameter((4, 8), "rows")
    auxiliary_samples: int = parameter(16, "more rows", when={"protocol": ("both",)})
    max_steps: int = parameter(10**12, "takes no memory")


@pytest.mark.parametrize(
    ("told", "named"),
    [
        ({"dimension": 10**12}, "samples 8 and dimension 1000000000000"),
        ({"samples": (1, 10**13)}, "samples 10000000000000 and dimension 10"),
        ({"auxiliary_samples": 10**13, "protocol": "both"}, "auxiliary_samples 10000000000000 and dimension 10"),
    ],
)
def test_what_cannot_fit_is_refused_at_once(told, named):
    sentence = rf"^{named} take \S+ GiB of memory at least, and \S+ GiB are free$"
    with pytest.raises(UserError, match=sentence), allocation.within_memory(Parameters(**told)):
        raise AssertionError("it has begun")


@pytest.mark.parametrize(
    "take",
    [
        lambda: np.ones(10**15),
        lambda: np.ones((2**40, 2**40)),
        lambda: np.ones(10**26),
        lambda: torch.ones(10**15),
        lambda: [np.ones(2**27) for _ in range(10**4)],  # each fits, and all together do not
    ],
)
def test_an_allocation_that_fails_is_said_with_the_sizes(take, monkeypatch):
    monkeypatch.setattr(allocation, "available", lambda: 2**31)
    before = resource.getrlimit(resource.RLIMIT_DATA)
    sentence = r"^dimension 10, samples 8: there is too little memory, 2 GiB were free \("
    with pytest.raises(UserError, match=sentence), allocation.within_memory(Parameters()):
        take()
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
