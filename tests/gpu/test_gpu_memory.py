"""Where a card's memory is too small for an ensemble it goes on in halves, with the same networks."""

from contextlib import contextmanager

import numpy as np
import pytest
import torch
from comparison import CONVNETS, SHARES

from carryover.errors import UserError
from carryover.training import relu
from rounding import differing
from toy.trainer_shards import TRAINERS, convnets, relu_batches

pytestmark = pytest.mark.extended

LARGE = {"samples": (2048,), "batch_size": 0, "width": 500, "max_epochs": 5, "tolerance": 1e-12, "learning_rate": 0.01,
         "rescale": tuple(np.linspace(0.5, 1.0, 8))}  # fmt: skip
WIDE = {**CONVNETS, "width": 32, "max_epochs": 1, "samples": (128,), "rescale": (0.6, 0.7, 0.8, 0.9, 1.0)}
BARE = ("relu_batches", relu_batches, LARGE), ("convnets", convnets, WIDE)


@contextmanager
def little_memory(card, name, share):
    """So large a share of what PyTorch has taken at most since the peak was reset; on the CPU, few networks at once."""
    if card == "cpu":
        _, kind, method = TRAINERS[name]
        usual, most = getattr(kind, method), 4 if share > 0.1 else 0

        def step(self, *options):
            if len(self) > most:
                raise torch.OutOfMemoryError
            return usual(self, *options)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(kind, method, step)
            patched.setitem(relu.BYTES, "cpu", relu.BYTES["cuda"])  # all at once, as on a card
            yield
        return
    allowed = share * torch.cuda.max_memory_allocated()
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(allowed / torch.cuda.get_device_properties(0).total_memory)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
        torch.cuda.empty_cache()


def peak_reset(card):
    if card == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


@pytest.mark.parametrize(("name", "shard", "options"), BARE)
def test_an_ensemble_goes_on_in_halves(name, shard, options, card, capsys):
    peak_reset(card)
    expected = shard(device=card, **options)
    assert "too small" not in capsys.readouterr().err
    with little_memory(card, name, 0.6):
        found = shard(device=card, **options)
    assert "the GPU's memory is too small for " in capsys.readouterr().err
    risks = [variable for variable in expected.data_vars if name == "convnets" and variable.startswith("risk")]
    assert not differing(expected.drop_vars(risks), found.drop_vars(risks), SHARES["float32"])


def test_too_little_for_one_network_is_one_sentence(card):
    peak_reset(card)
    relu_batches(device=card, **LARGE)
    with (
        little_memory(card, "relu_batches", 0.001),
        pytest.raises(UserError, match="memory is too small for one network: choose the device cpu"),
    ):
        relu_batches(device=card, **LARGE)
