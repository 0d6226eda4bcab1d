"""What the record of a job says of the card that it ran on."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from carryover.provenance import store

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
