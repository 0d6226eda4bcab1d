"""Where there is no card, a job that asks for one says so."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from carryover.errors import UserError
from toy.trainer_shards import TRAINERS

FINETUNE = Path(__file__).resolve().parents[2] / "scripts/finetune.py"
SENTENCE = "device is cuda, but no CUDA GPU can be used here: choose auto or cpu"


@pytest.fixture
def no_card(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.mark.usefixtures("no_card")
@pytest.mark.parametrize("name", TRAINERS)
def test_no_trainer_starts_without_the_card_it_is_to_have(name):
    with pytest.raises(UserError, match=f"^{SENTENCE}$"):
        TRAINERS[name][0](device="cuda")


def test_a_job_without_its_card_ends_with_one_sentence_and_no_result(tmp_path):
    words = "relu --experiment toy --protocol single_task --samples 4 --seeds 0 --device cuda"
    command = [sys.executable, FINETUNE, *words.split(), "--output", tmp_path / "shard.nc"]
    job = subprocess.run(command, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""}, capture_output=True, text=True)
    assert job.returncode == 1
    assert job.stderr.splitlines()[-1] == f"finetune: {SENTENCE}."
    assert "Traceback" not in job.stderr
    assert not list(tmp_path.iterdir())
