"""A card computes what the CPU computes, goes on in halves where its memory is too small, and is named in records.

Where there is none, the CPU stands in and shows that the tests work.

A number may differ by the stated share of the largest one of its variable. On an H100 the shares were at most 1e-12 in
float64, 2e-8 in flows on samples, whose kernels are in single precision whatever is asked, 3e-6 in effective features,
which are counted of responses in single precision, and 7e-5 in float32.
"""

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch

from carryover.errors import UserError
from carryover.provenance import store
from carryover.training import relu
from rounding import differing
from toy.trainer_shards import TRAINERS, convnets, relu_batches, scarce


@pytest.fixture
def card():
    """The name of its device."""
    return "cuda" if torch.cuda.is_available() else "cpu"


SHARES = {"float64": 1e-9, "float32": 1e-4}
# Convolutional networks whose training on the two can be compared: all images in every step.
CONVNETS = {"width": 8, "tasks": 1, "samples": (32,), "batch_size": 0, "learning_rate": 1e-3, "keep_weights": True}


pytestmark = pytest.mark.extended
SINGLE = [name for name in TRAINERS if not name.startswith(("diagonal", "convnets", "wide_relu"))]
FLOWS_ON_SAMPLES, IN_SINGLE = ("mean_field_samples", "wide_relu"), {"effective_features_curve"}
CASES = [(name, {"precision": precision}) for name in SINGLE for precision in SHARES]
CASES += [(name, {}) for name in ("diagonal_descent", "diagonal_flow", "wide_relu")]  # always in float64


@pytest.mark.parametrize(("name", "options"), CASES)
def test_a_trainer_gives_what_it_gives_on_the_cpu(name, options, card):
    shard = TRAINERS[name][0]
    share = SHARES["float32" if name in FLOWS_ON_SAMPLES else options.get("precision", "float64")]
    expected, found = shard(device="cpu", **options), shard(device=card, **options)
    assert not differing(found, expected, share) - IN_SINGLE
    assert not differing(found, expected, SHARES["float32"])


@pytest.mark.parametrize("together", [1, 2])
def test_convolutional_networks_are_those_of_the_cpu(together, card):
    options = {**CONVNETS, "max_networks_per_batch": together}
    expected = convnets(device="cpu", **options)
    found = convnets(device=card, **options)
    risks = [name for name in expected.data_vars if name.startswith("risk")]  # shares of images, which jump
    assert not differing(expected.drop_vars(risks), found.drop_vars(risks), SHARES["float32"])
    for name in risks:
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=0.05)


FINETUNE = Path(__file__).resolve().parents[2] / "scripts/finetune.py"


def test_the_record_names_the_card_that_auto_chose(card, tmp_path):
    words = "relu --experiment toy --protocol single_task --width 9 --samples 4 --max-epochs 3 --seeds 0 1"
    result = tmp_path / "shard.nc"
    command = [sys.executable, FINETUNE, *words.split(), "--output", result]
    subprocess.run([*command, "--device", "auto"], check=True)
    found = json.loads(Path(f"{result}.json").read_text())["environment"]
    assert found["device"] == card
    assert found["accelerator"] == (
        {"name": torch.cuda.get_device_name(), "cuda": torch.version.cuda} if card == "cuda" else None
    )
    assert store.load(result).sizes["run"] == 2


LARGE = {"samples": (2048,), "batch_size": 0, "width": 500, "max_epochs": 5, "tolerance": 1e-12, "learning_rate": 0.01,
         "rescale": tuple(np.linspace(0.5, 1.0, 8))}  # fmt: skip
WIDE = {**CONVNETS, "width": 32, "max_epochs": 1, "samples": (128,), "rescale": (0.6, 0.7, 0.8, 0.9, 1.0)}
BARE = ("relu_batches", relu_batches, LARGE), ("convnets", convnets, WIDE)


@contextmanager
def little_memory(card, name, share):
    """So large a share of what PyTorch has taken at most since the peak was reset; on the CPU, few networks at once."""
    if card == "cpu":
        with pytest.MonkeyPatch.context() as patched:
            scarce(patched, name, 4 if share > 0.1 else 0, begun=0)
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
