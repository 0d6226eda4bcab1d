"""A pretrained transformer: the factor is found in few trainings, and no learning rate does what it does."""

import pytest

from carryover.diagnosis.rescaling import choose_factor
from toy.pretrained_transformer import accuracy, finetune, make, pretrained

pytestmark = pytest.mark.extended


def test_the_factor_is_found_in_23_trainings():
    found = choose_factor(
        make,
        pretrained(),
        lambda module, seed: finetune(module, seed),
        accuracy,
        which="all",
        head="classifier",
        budget=23,
    )
    assert found.verdict == "helps"
    assert found.recommended <= 0.5
    assert 0.05 < found.gain.mean < 0.13
    assert found.trainings <= 23


def test_no_learning_rate_does_what_the_factor_does():
    found = choose_factor(make, pretrained(), finetune, accuracy, which="all", head="classifier", budget=48)
    assert found.verdict == "helps"
    assert found.control.gain.mean < found.gain.mean / 2
    assert "No learning rate does as much" in found.sentence()
