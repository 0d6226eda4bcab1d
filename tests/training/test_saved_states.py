"""States of training on disk."""

import pytest
import torch

from carryover.training.saved_states import SavedStates


@pytest.fixture
def states(tmp_path):
    return SavedStates(tmp_path / "x.nc.saved", "request")


def test_a_state_comes_back_to_the_same_request_alone(states, tmp_path):
    assert states.load("a") is None
    states.save("a", {"step": 3, "weights": {"w": torch.arange(3.0)}})
    found = SavedStates(tmp_path / "x.nc.saved", "request").load("a")
    assert found["step"] == 3
    assert torch.equal(found["weights"]["w"], torch.arange(3.0))
    assert SavedStates(tmp_path / "x.nc.saved", "another").load("a") is None
    assert states.load("b") is None


def test_a_damaged_state_is_said_and_passed_over(states, tmp_path, capsys):
    states.save("a", {"step": 3})
    file = tmp_path / "x.nc.saved" / "a.pt"
    file.write_bytes(file.read_bytes()[:40])
    assert states.load("a") is None
    assert "a.pt cannot be read: training starts anew" in capsys.readouterr().err


def test_it_is_due_when_the_time_has_come(tmp_path, monkeypatch):
    assert not SavedStates(tmp_path, "request").due()
    monkeypatch.setenv("CARRYOVER_SAVE_EVERY", "0")
    assert SavedStates(tmp_path, "request").due()


def test_without_a_folder_nothing_is_saved(monkeypatch):
    monkeypatch.setenv("CARRYOVER_SAVE_EVERY", "0")
    nowhere = SavedStates()
    assert not nowhere.due()
    nowhere.save("a", {})
    assert nowhere.load("a") is None
