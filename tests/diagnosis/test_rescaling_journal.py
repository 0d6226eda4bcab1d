"""A search that was cut off goes on, and one in several processes finds the same."""

import json
import os
import threading

import joblib
import numpy as np
import pytest
import torch

from carryover.diagnosis.rescaling import choose_factor, search_factor
from carryover.streams import generator

CALLS = []


class Cut(Exception):
    pass


def score(factor, seed):
    return -abs(np.log2(factor) + 2) + 0.1 * generator("toy", factor, seed, "own").normal()


def cut_off(after):
    """The same function to a journal, whatever `after` is: that is no part of it."""
    left = iter(range(after))

    def run(factor, seed):
        if next(left, None) is None:
            raise Cut
        CALLS.append((factor, seed))
        return score(factor, seed)

    return run


def test_a_search_goes_on_where_it_was_cut_off(tmp_path):
    path = tmp_path / "scores.jsonl"
    whole = search_factor(cut_off(99), progress=False)
    CALLS.clear()
    with pytest.raises(Cut):
        search_factor(cut_off(5), journal=path, progress=False)
    assert len(path.read_text().splitlines()) == 6
    with path.open("a") as file:
        file.write('{"factor": 0.25, "se')  # killed while it wrote
    CALLS.clear()
    found = search_factor(cut_off(99), journal=path, progress=False)
    assert len(CALLS) == found.trainings - 5 == whole.trainings - 5
    assert found.sentence() == whole.sentence()
    assert found.curve.identical(whole.curve)
    assert all(json.loads(line) for line in path.read_text().splitlines())
    CALLS.clear()
    assert search_factor(cut_off(0), journal=path, progress=False).curve.identical(whole.curve)
    assert not CALLS


def test_the_journal_of_another_search_or_none_is_refused(tmp_path):
    path = tmp_path / "scores"
    search_factor(score, journal=path, progress=False)
    with pytest.raises(ValueError, match=r"belongs to another search .its functions, state or options differ.: name"):
        search_factor(lambda factor, seed: 2 * score(factor, seed), journal=path, progress=False)
    path.write_text('{"some": "thing"}\n')
    with pytest.raises(ValueError, match=r"line 1 of .*scores is none of a journal of scores"):
        search_factor(score, journal=path, progress=False)
    with pytest.raises(ValueError, match=r"the journal .* cannot be used"):
        search_factor(score, journal=tmp_path / "none" / "scores", progress=False)


def test_a_search_of_a_changed_network_is_another(tmp_path):
    def search(state, step):
        def finetune(module, seed):
            module.weight.data += step

        return choose_factor(
            lambda seed: torch.nn.Linear(1, 1),
            state,
            finetune,
            lambda module: -abs(module.weight.item() - 1),
            journal=tmp_path / "scores",
            progress=False,
        )

    state = {"weight": torch.tensor([[4.0]]), "bias": torch.zeros(1)}
    assert search(state, 0.0).factor == search(state, 0.0).factor == 0.25
    for other, step in ((state, 0.1), ({**state, "bias": torch.ones(1)}, 0.0)):
        with pytest.raises(ValueError, match="belongs to another search"):
            search(other, step)


def test_two_processes_find_what_one_finds_with_their_share_of_threads(tmp_path):
    offset, here, share = torch.tensor(2.0), os.getpid(), max(1, joblib.cpu_count() // 2)

    def run(factor, seed):  # in no module that another process could import
        elsewhere = os.getpid() != here and torch.get_num_threads() == share
        return -abs(np.log2(factor) + offset.item()) + 0.01 * seed + 100 * elsewhere

    one = search_factor(run, progress=False)
    two = search_factor(run, jobs=2, journal=tmp_path / "scores", progress=False)
    assert (two.factor, two.trainings, two.verdict) == (one.factor, one.trainings, one.verdict)
    np.testing.assert_allclose(two.curve["score"], one.curve["score"] + 100)
    assert search_factor(run, journal=tmp_path / "scores", progress=False).curve.identical(two.curve)


def test_what_cannot_be_sent_to_other_processes_is_refused():
    lock = threading.Lock()

    def run(factor, seed):
        with lock:
            return 0.0

    with pytest.raises(
        ValueError, match=r"the functions cannot be sent to other processes .*lock.* or leave jobs at 1"
    ):
        search_factor(run, jobs=2, progress=False)
    with pytest.raises(ValueError, match="jobs must be at least 1, got 0"):
        search_factor(run, jobs=0)
