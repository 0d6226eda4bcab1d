"""A search that was cut off goes on, and one in several processes finds the same."""

import os

import joblib
import numpy as np
import pytest
import torch

from carryover.diagnosis.rescaling import choose_factor
from carryover.diagnosis.search import search_factor
from carryover.streams import generator

CALLS = []


class Cut(Exception):
    pass


def cut_off(after):
    """Known to the journal as the same function, whatever is `after`."""
    left = iter(range(after))

    def run(factor, seed):
        if next(left, None) is None:
            raise Cut
        CALLS.append((factor, seed))
        return -abs(np.log2(factor) + 2) + 0.1 * generator("toy", factor, seed, "own").normal()

    return run


def test_a_search_goes_on_where_it_was_cut_off(tmp_path):
    whole = search_factor(cut_off(99), progress=False)
    with pytest.raises(Cut):
        search_factor(cut_off(5), journal=tmp_path / "scores", progress=False)
    CALLS.clear()
    found = search_factor(cut_off(99), journal=tmp_path / "scores", progress=False)
    assert len(CALLS) == found.trainings - 5 == whole.trainings - 5
    assert found.sentence() == whole.sentence()
    assert found.curve.identical(whole.curve)


def test_scores_of_another_state_are_not_used(tmp_path):
    def search(state):
        def finetune(module, seed):
            CALLS.append(seed)

        CALLS.clear()
        choose_factor(
            lambda seed: torch.nn.Linear(1, 1),
            state,
            finetune,
            lambda module: -abs(module.weight.item() - 1),
            journal=tmp_path / "scores",
            progress=False,
        )
        return len(CALLS)

    state = {"weight": torch.tensor([[4.0]]), "bias": torch.zeros(1)}
    assert search(state) > 0
    assert search(state) == 0
    assert search({**state, "bias": torch.ones(1)}) > 0


def test_two_processes_find_what_one_finds_with_their_share_of_threads():
    offset, here, share = torch.tensor(2.0), os.getpid(), max(1, joblib.cpu_count() // 2)

    def run(factor, seed):  # in no module that another process could import
        elsewhere = os.getpid() != here and torch.get_num_threads() == share
        return -abs(np.log2(factor) + offset.item()) + 0.01 * seed + 100 * elsewhere

    one = search_factor(run, progress=False)
    two = search_factor(run, jobs=2, progress=False)
    assert (two.factor, two.trainings, two.verdict) == (one.factor, one.trainings, one.verdict)
    np.testing.assert_allclose(two.curve["score"], one.curve["score"] + 100)
