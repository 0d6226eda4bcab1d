"""Jobs on a card: what their records say of it, and that they go on after they were killed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from comparison import SHARES

from carryover.provenance import store
from rounding import differing
from toy.mortal_states import whole_and_killed
from toy.trainer_shards import RESUMED, TRAINERS

pytestmark = pytest.mark.extended

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


@pytest.mark.parametrize("name", [name for name in RESUMED if name in TRAINERS or name == "longer_convnets"])
def test_killed_on_a_card_it_ends_with_the_same_numbers(name, card, tmp_path):
    whole, found, _ = whole_and_killed(lambda: RESUMED[name](device=card), tmp_path, 4)
    risks = [risk for risk in whole.data_vars if risk.startswith("risk")]  # shares of few images jump
    assert not differing(whole.drop_vars(risks), found.drop_vars(risks), SHARES["float32"])
