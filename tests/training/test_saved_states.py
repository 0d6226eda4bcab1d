"""States of training on disk, and the courses that are kept there."""

import numpy as np
import pytest
import torch

from carryover.training.course import Course, saving
from carryover.training.history import History
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


def test_trainings_are_told_apart_by_their_order_and_what_has_ended_counts(folder):
    states = SavedStates(folder, "request")
    states.save(1, {"at": "half"})
    states.end(0, {"at": "end"})
    states.end(1, {"at": "end"})
    states.save(2, {"at": "half"})
    found = SavedStates(folder, "request")
    assert [found.begin()[1]["at"] for _ in range(3)] == ["end", "end", "half"]
    assert found.begin() == (3, None)


def test_what_ended_since_the_last_file_is_written_with_the_next(folder, monkeypatch):
    monkeypatch.setenv("CARRYOVER_SAVE_EVERY", "1000")
    states = SavedStates(folder, "request")
    for number in range(3):
        states.end(number, {"at": "end"})
    assert not files(folder)
    states.save(3, {"at": "half"})
    assert [file.name for file in files(folder)] == ["current.pt", "ended000000.pt"]
    assert SavedStates(folder, "request").begin()[1] == {"at": "end"}


def test_without_a_folder_nothing_is_saved(monkeypatch):
    monkeypatch.setenv("CARRYOVER_SAVE_EVERY", "0")
    nowhere = SavedStates()
    assert not nowhere.due()
    nowhere.save(0, {})
    nowhere.end(0, {})
    assert SavedStates().begin() == (0, None)


def test_a_course_brings_back_the_history_of_its_runs_alone(folder):
    def recorded(history):
        for time in range(1, 4):  # more than there is room for at first
            history.record(np.array([1, 2]), {"time": np.full(2, time), "loss": np.array([time, 10.0 * time])})
        return history

    with saving(SavedStates(folder, "request")):
        history = History(3, 2)
        course = Course(history, np.array([1, 2]))
        recorded(history)
        history.end(np.array([2]), [np.ones((1, 5))], {"loss": np.zeros(1)}, evaluations=7, converged=np.array([True]))
        course.save()
    with saving(SavedStates(folder, "request")):
        found = History(3, 2)
        found.record(np.array([0]), {"time": np.array([5.0]), "loss": np.array([6.0])})
        Course(found, np.array([1, 2]))
    np.testing.assert_equal(found.state(np.array([1, 2])), history.state(np.array([1, 2])))
    assert found.state(np.array([0]))["curves"]["loss"].tolist() == [[6.0]]
