"""States of training on disk."""

import numpy as np
import pytest
import torch

from carryover.training.saved_states import SavedStates

ONE_THREAD, TWO_THREADS = ({"threads": {"torch": count}, "device": "cpu"} for count in (1, 2))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "x.nc.saved"


def test_a_state_comes_back_to_the_same_request_and_environment_alone(file, capsys):
    state = {"step": 3, "weights": {"w": torch.arange(3.0)}, "left": [np.arange(2), np.float32(0.1)]}
    SavedStates(file, "request", ONE_THREAD).save(0, state)
    number, found = SavedStates(file, "request", ONE_THREAD).begin()
    assert (number, found["step"]) == (0, 3)
    assert torch.equal(found["weights"]["w"], torch.arange(3.0))
    np.testing.assert_array_equal(found["left"][0], np.arange(2))
    assert found["left"][1].dtype == np.float32
    assert not capsys.readouterr().err
    assert SavedStates(file, "another", ONE_THREAD).begin() == (0, None)
    assert not capsys.readouterr().err
    assert SavedStates(file, "request", TWO_THREADS).begin() == (0, None)
    assert capsys.readouterr().err.endswith("was saved with other threads: training begins anew\n")


@pytest.mark.parametrize("change", [
    lambda content: content[:40], lambda content: b"", lambda content: content.replace(b"starts", b"starts"[::-1]),
])  # fmt: skip
def test_a_damaged_or_edited_state_is_said_and_passed_over(change, file, capsys):
    SavedStates(file, "request").save(0, {"step": 3})
    file.write_bytes(change(file.read_bytes()))
    assert SavedStates(file, "request").begin() == (0, None)
    assert f"{file} is damaged, or was edited: training begins anew" in capsys.readouterr().err
