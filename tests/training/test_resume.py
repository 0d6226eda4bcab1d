"""Trainings that are killed at any step end with the same bits; a saved state is taken up by its own job alone."""

import numpy as np
import pytest
import torch
import xarray as xr

from carryover.training.history import History
from carryover.training.resume import SavedTraining, StateFile, resuming
from toy.mortal_states import whole_and_killed
from toy.trainer_shards import RESUMED

ONE_THREAD, TWO_THREADS = ({"threads": {"torch": count}, "device": "cpu"} for count in (1, 2))


@pytest.mark.portable
@pytest.mark.parametrize("part", [pytest.param(4, marks=pytest.mark.extended), 7])
@pytest.mark.parametrize("name", RESUMED)
def test_killed_at_any_step_it_ends_with_the_same_bits(name, part, tmp_path):
    whole, found, starts = whole_and_killed(RESUMED[name], tmp_path, part)
    xr.testing.assert_identical(found, whole)
    assert starts > 2


def found(*job):
    """The state of the first training of a job."""
    with resuming(StateFile(*job)):
        return SavedTraining(History(2, 3), np.arange(2)).state


def test_a_state_is_read_by_the_same_request_in_the_same_environment_alone(tmp_path):
    job = tmp_path / "x.nc.saved", "request", ONE_THREAD
    with resuming(StateFile(*job)):
        saved = SavedTraining(History(2, 3), np.arange(2))
        saved.save(step=3, weights={"w": torch.arange(3.0)}, left=[np.arange(2), np.float32(0.1)])
    state = found(*job)
    assert state["step"] == 3
    assert torch.equal(state["weights"]["w"], torch.arange(3.0))
    np.testing.assert_array_equal(state["left"][0], np.arange(2))
    assert state["left"][1].dtype == np.float32
    assert found(job[0], "another", ONE_THREAD) == {}
    assert found(*job[:2], TWO_THREADS) == {}


@pytest.mark.parametrize("length", [0, 40])
def test_a_damaged_state_is_ignored_with_a_warning(length, tmp_path, capsys):
    file = tmp_path / "x.nc.saved"
    with resuming(StateFile(file)):
        SavedTraining(History(2, 3), np.arange(2)).save(step=3)
    file.write_bytes(file.read_bytes()[:length])
    assert found(file) == {}
    assert f"{file} is damaged: training begins anew" in capsys.readouterr().err
