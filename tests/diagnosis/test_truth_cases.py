"""Cases of known truth are what they say: recorded alike, drawn anew by seed, and many enough samples of each."""

from collections import Counter

import numpy as np
import pytest

from carryover.measures.dimensionality import participation_ratio
from toy.known_truths import BY_NAME, CASES
from toy.truths.case import NONE, TRUTHS

pytestmark = pytest.mark.slow

WITH_BASELINE = [case for case in CASES if not case.name.endswith("no baseline")]
QUICK = [case for case in WITH_BASELINE if " trained " not in case.name and "finetuned" not in case.name]
ONE_EACH = ["16 of 20 redrawn", "MLP, 28 of 40 units pruned", "mlp finetuned on a third of its features"]


def test_there_are_many_of_every_kind():
    assert len(BY_NAME) == len(CASES)
    assert {case.truth for case in CASES} == set(TRUTHS)
    assert all(case.why for case in CASES)
    kinds = Counter(case.kind for case in CASES)
    assert min(kinds[kind] for kind in ("mlp", "cnn", "transformer")) >= 4
    assert Counter(case.truth for case in CASES if case.kind != "made").keys() == set(TRUTHS)


@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_samples_are_the_same_and_many_enough(case):
    recorded = case.make(0)
    layers = [layer for layer in vars(recorded).values() if layer is not None]
    assert len({len(layer) for layer in layers}) == 1
    assert case.truth == NONE or len(recorded.before) >= 50 * participation_ratio(recorded.before)


@pytest.mark.parametrize("name", ONE_EACH)
def test_a_seed_gives_the_same_again_and_another_seed_does_not(name):
    first, again, other = (BY_NAME[name].make(seed) for seed in (2, 2, 3))
    np.testing.assert_array_equal(first.after, again.after)
    assert not np.array_equal(first.before, other.before)


def test_a_case_without_a_baseline_is_the_same_else():
    with_one, without = (BY_NAME[f"all redrawn{end}"].make(0) for end in ("", ", no baseline"))
    assert without.baseline is None
    assert with_one.after.shape == without.after.shape
