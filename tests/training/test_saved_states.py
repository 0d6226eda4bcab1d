"""States of training on disk, and the courses that are kept there."""

import numpy as np
import pytest
import torch

from carryover.training.saved_states import SavedStates

ONE_THREAD, TWO_THREADS = ({"threads": {"torch": count}, "device": "cpu"} for count in (1, 2))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CARRYOVER_SAVE_EVERY", "0")
    return tmp_path / "x.nc.saved"


def files(folder):
    return sorted(folder.rglob("*.pt"))


def test_a_state_comes_back_to_the_same_request_and_environment_alone(folder, capsys):
    state = {"step": 3, "weights": {"w": torch.arange(3.0)}, "left": [np.arange(2), np.float32(0.1)]}
    SavedStates(folder, "request", ONE_THREAD).save(0, state)
    number, found = SavedStates(folder, "request", ONE_THREAD).begin()
    assert (number, found["step"]) == (0, 3)
    assert torch.equal(found["weights"]["w"], torch.arange(3.0))
    np.testing.assert_array_equal(found["left"][0], np.arange(2))
    assert found["left"][1].dtype == np.float32
    assert not capsys.readouterr().err
    assert SavedStates(folder, "another", ONE_THREAD).begin() == (0, None)
    assert not capsys.readouterr().err
    assert SavedStates(folder, "request", TWO_THREADS).begin() == (0, None)
    assert capsys.readouterr().err.endswith("was saved with other threads: training begins anew\n")
    assert SavedStates(folder, "request", ONE_THREAD).begin()[1]  # it was left alone


@pytest.mark.parametrize("change", [
    lambda content: content[:40], lambda content: b"", lambda content: content[:-8] + b"12345678",
    lambda content: content.replace(b'"starts": 1', b'"starts": 2'),
])  # fmt: skip
def test_a_damaged_or_edited_state_is_said_and_passed_over(change, folder, capsys):
    SavedStates(folder, "request").save(0, {"step": 3})
    (file,) = files(folder)
    file.write_bytes(change(file.read_bytes()))
    assert SavedStates(folder, "request").begin() == (0, None)
    assert f"{file} is damaged, or was edited: what it holds is trained anew" in capsys.readouterr().err
