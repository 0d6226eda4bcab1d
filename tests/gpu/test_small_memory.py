"""Where memory is too small for an ensemble it goes on in halves: simulated, by steps that fail for many networks."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from carryover.training.devices import in_chunks
from carryover.training.result import Divergence
from rounding import assert_same_runs, share
from toy.trainer_shards import TRAINERS

BEGUN = 3  # steps before memory runs out
# Roundings of a step, in the sums of these shards and in functions such as acos.
TERMS = 100


def rounding(name, shard):
    """What the numbers of a shard may differ by, as a share of the largest."""
    return share("float64" if name.startswith("diagonal") else "float32", int(shard["evaluations"].max()), TERMS)


def scarce(monkeypatch, name, most):
    """Let steps of more than `most` networks fail once some were taken; the sizes of what failed."""
    _, kind, method = TRAINERS[name]
    usual, count, failed = getattr(kind, method), itertools.count(1), []

    def step(self, *options, **named):
        if len(self) > most and next(count) > BEGUN:
            failed.append(len(self))
            raise torch.OutOfMemoryError
        return usual(self, *options, **named)

    monkeypatch.setattr(kind, method, step)
    return failed


@pytest.mark.portable
@pytest.mark.parametrize("name", TRAINERS)
def test_networks_are_the_same_in_halves(name, monkeypatch, capsys):
    shard = TRAINERS[name][0]
    expected = shard(device="cpu")
    failed = scarce(monkeypatch, name, most=2)
    found = shard(device="cpu")
    said = [line for line in capsys.readouterr().err.splitlines() if "too small" in line]
    assert failed
    assert len(said) == len(failed)
    assert said[0].startswith("the GPU's memory is too small for ")
    assert_same_runs(found, expected, rounding(name, expected))


@pytest.mark.portable
@pytest.mark.parametrize(("name", "steps"), [("relu_batches", 60), ("deep_linear_descent", 200)])
def test_what_was_recorded_before_memory_ran_out_is_forgotten(name, steps, monkeypatch):
    """Networks that stand still until then take longer than some of those that count."""
    (shard, kind, method), count = TRAINERS[name], itertools.count()
    usual = getattr(kind, method)
    expected = shard(device="cpu")

    def step(self, *options):
        if len(self) <= 2:
            return usual(self, *options)
        if next(count) > steps:
            raise torch.OutOfMemoryError
        return None

    monkeypatch.setattr(kind, method, step)
    assert expected["evaluations"].min() < steps
    assert_same_runs(shard(device="cpu"), expected, rounding(name, expected))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("deep_linear_descent", {"learning_rate": 0.2}),
        ("diagonal_descent", {"rescale": (1.0, 20.0)}),
    ],
)
def test_runs_that_diverge_are_named_after_halving_as_before(name, options, monkeypatch):
    def named():
        with pytest.raises(Divergence) as caught:
            TRAINERS[name][0](device="cpu", **options)
        return caught.value.runs

    expected = named()
    failed = scarce(monkeypatch, name, most=2)
    found = named()
    assert failed
    if name == "diagonal_descent":  # the first ensemble with such runs ends the training
        assert found == expected[: len(found)]
    else:
        assert found == expected


@settings(derandomize=True, deadline=None, max_examples=20)
@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5), most=st.integers(1, 9))
def test_every_run_is_trained_once_in_order_and_never_too_many_together(sizes, most):
    pieces = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    tried = []

    def train(piece):
        tried.append(len(piece))
        if len(piece) > most:
            raise torch.OutOfMemoryError
        return piece

    found = in_chunks(train, pieces)
    np.testing.assert_array_equal(np.concatenate(found), np.arange(sum(sizes)))
    assert max(map(len, found)) <= most
    too_many = [size for size in tried if size > most]
    assert all(later <= earlier // 2 for earlier, later in itertools.pairwise(too_many))
    if not too_many:
        assert list(map(len, found)) == sizes
