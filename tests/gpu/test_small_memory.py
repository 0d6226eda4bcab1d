"""Where memory is too small for an ensemble it goes on in halves: simulated, by steps that fail for many networks."""

import gc
import itertools
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from carryover.errors import UserError
from carryover.training import integrate
from rounding import assert_same_runs, share
from toy.trainer_shards import TRAINERS, scarce

# Roundings of a step, in the sums of these shards and in functions such as acos.
TERMS = 100


def rounding(name, shard):
    """What the numbers of a shard may differ by, as a share of the largest."""
    return share("float64" if name.startswith("diagonal") else "float32", int(shard["evaluations"].max()), TERMS)


@pytest.mark.portable
@pytest.mark.parametrize("name", TRAINERS)
def test_networks_are_the_same_in_halves(name, monkeypatch, capsys):
    shard = TRAINERS[name][0]
    expected = shard(device="cpu")
    failed = scarce(monkeypatch, name, most=2)
    gc.disable()  # PyTorch does not collect cycles of references where memory is too small
    try:
        found = shard(device="cpu")
    finally:
        gc.enable()
    said = [line for line in capsys.readouterr().err.splitlines() if "too small" in line]
    assert failed
    assert len(said) == len(failed)
    assert said[0].startswith("the GPU's memory is too small for ")
    assert_same_runs(found, expected, rounding(name, expected))


@settings(max_examples=20)
@given(runs=st.integers(1, 45), asked=st.integers(1, 9), most=st.integers(1, 9))
def test_every_run_is_trained_once_in_order_and_never_too_many_together(runs, asked, most):
    tried, found = [], []

    def trained(piece, history):
        tried.append(len(piece))
        if len(piece) > most:
            raise torch.OutOfMemoryError
        found.append(piece)
        return piece[:1].tolist()

    with patch.object(integrate, "integrate", trained):
        dropped = integrate.train(lambda piece: piece, None, asked, np.arange(runs))
    assert dropped == [piece[0] for piece in found]
    np.testing.assert_array_equal(np.concatenate(found), np.arange(runs))
    assert max(map(len, found)) <= min(asked, most)
    too_many = [size for size in tried if size > most]
    assert all(later <= earlier // 2 for earlier, later in itertools.pairwise(too_many))
    if not too_many:
        assert len(found) == -(-runs // asked)


def test_no_trainer_starts_without_the_card_it_is_to_have(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for shard, _, _ in TRAINERS.values():
        with pytest.raises(UserError, match=r"^device is cuda, but no CUDA GPU can be used here: choose auto or cpu"):
            shard(device="cuda")
