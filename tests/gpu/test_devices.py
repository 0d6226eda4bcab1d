"""Where there is no card, a job that asks for one says so."""

import pytest
import torch

from carryover.errors import UserError
from toy.trainer_shards import TRAINERS

SENTENCE = "device is cuda, but no CUDA GPU can be used here: choose auto or cpu"


@pytest.fixture
def no_card(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.mark.usefixtures("no_card")
@pytest.mark.parametrize("name", TRAINERS)
def test_no_trainer_starts_without_the_card_it_is_to_have(name):
    with pytest.raises(UserError, match=f"^{SENTENCE}$"):
        TRAINERS[name][0](device="cuda")
