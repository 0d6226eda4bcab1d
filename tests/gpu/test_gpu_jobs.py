"""Jobs on a card: what their records say of it, and what goes on elsewhere after they were killed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from comparison import CONVNETS, SHARES

from carryover.provenance import store
from carryover.training.convnet_ensemble import ConvnetEnsemble
from rounding import differing
from toy.trainer_shards import convnets

pytestmark = pytest.mark.gpu
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


@pytest.mark.parametrize("begun_on_the_card", [True, False])
def test_a_training_goes_on_on_another_device(begun_on_the_card, card, tmp_path, monkeypatch):
    told = {**CONVNETS, "batch_size": 16, "max_epochs": 3, "saved": (tmp_path, "asked")}  # 6 steps
    first, second = (card, "cpu") if begun_on_the_card else ("cpu", card)
    expected = convnets(device="cpu", **told | {"saved": ()})
    usual, taken = ConvnetEnsemble.step, []

    def step(self, *given):
        if len(taken) == 4:
            raise KeyboardInterrupt
        taken.append(self.device.type)
        return usual(self, *given)

    monkeypatch.setenv("CARRYOVER_SAVE_EVERY", "0")
    monkeypatch.setattr(ConvnetEnsemble, "step", step)
    with pytest.raises(KeyboardInterrupt):
        convnets(device=first, **told)
    stopped, taken[:] = list(taken), []
    found = convnets(device=second, **told)
    assert (stopped, taken) == ([first] * 4, [second] * 2)
    risks = [name for name in expected.data_vars if name.startswith("risk")]
    assert not differing(expected.drop_vars(risks), found.drop_vars(risks), SHARES["float32"])
