"""Verdicts on layers of which it is known what happened to their features: how many are right, and the table of it.

Seeds of odd number, of which nothing was tuned, are asked here. `python tests/diagnosis/test_known_truths.py SEEDS`
writes the table of docs/diagnose.md for so many of them.
"""

import sys
from collections import Counter
from pathlib import Path

import pytest

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "scripts")]

from carryover.diagnosis.diagnosis import diagnose
from carryover.diagnosis.regimes import UNDECIDED
from toy.known_truths import CASES
from toy.truths import limits, made, practice, untrained


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.extended), 5])
def test_a_layer_that_a_practitioner_would_call_otherwise_carries_a_warning(step):
    for case in limits.CASES[::step]:
        made = case.make(1)
        found = diagnose(made.before, made.after, baseline=made.baseline)
        assert limits.WARNED[case.name] in found["warning"].item(), case.name
        assert found["regime"].item() == case.truth, case.name


def judged(case, seed):
    """right, undecided or wrong."""
    if case.kind == "practice":
        return practice.reading(case.diagnosed(seed), case.right)
    made = case.make(seed)
    found = diagnose(made.before, made.after, baseline=made.baseline)["regime"].item()
    return "right" if found == case.truth else UNDECIDED if found == UNDECIDED else "wrong"


@pytest.mark.parametrize("kind", ["made", "cnn", "transformer", pytest.param("mlp", marks=pytest.mark.extended)])
def test_a_sample_of_known_truths_is_recognised(kind):
    """The first case of each truth, of layers that are not trained."""
    cases = [case for case in (*made.CASES, *untrained.CASES) if case.kind == kind]
    sample = {case.truth: case for case in reversed(cases)}
    outcomes = [judged(case, 1) for case in sample.values()]
    assert "wrong" not in outcomes
    assert outcomes.count("right") > len(sample) / 2


@pytest.mark.extended
@pytest.mark.parametrize("kind", ["made", "mlp", "cnn", "transformer", "limits"])
def test_of_the_decided_verdicts_19_in_20_are_right_and_4_in_5_are_decided(kind):
    cases = [case for case in CASES if case.kind == kind]
    count = Counter({case.name: judged(case, 1) for case in cases}.values())
    assert count["wrong"] <= 0.05 * (count["right"] + count["wrong"]), count
    assert count[UNDECIDED] < 0.2 * len(cases), count


@pytest.mark.parametrize("cases", [practice.QUICK, pytest.param(practice.CASES, marks=pytest.mark.extended)])
def test_headlines_of_whole_histories_do_not_mislead(cases):
    outcomes = {case.name: judged(case, 1) for case in cases}
    count = Counter(outcomes.values())
    assert count["wrong"] <= 0.02 * len(cases), outcomes
    assert count[UNDECIDED] <= 0.2 * len(cases), outcomes


def table(seeds):
    """Rows by kind of layer: verdicts that are right, undecided and wrong, over `seeds` odd seeds."""
    cases = [*CASES, *practice.CASES]
    count = {case.kind: Counter() for case in cases}
    for case in cases:
        for seed in range(1, 2 * seeds, 2):
            count[case.kind][outcome := judged(case, seed)] += 1
            if outcome == "wrong":
                print(f"wrong: {case.name}, seed {seed}", file=sys.stderr)
    outcomes = ("right", UNDECIDED, "wrong")
    yield f"| layers | {' | '.join(outcomes)} |"
    yield "|---|---|---|---|"
    for kind, found in {**count, "all": sum(count.values(), Counter())}.items():
        yield f"| {kind} | {' | '.join(str(found[outcome]) for outcome in outcomes)} |"


if __name__ == "__main__":
    rows = "\n".join(table(int(sys.argv[1])))
    page = Path(__file__).parents[2] / "docs/diagnose.md"
    before, mark, rest = page.read_text(encoding="utf-8").partition("<!-- known truths -->\n")
    after = rest.partition("<!-- end -->")[2]
    page.write_text(f"{before}{mark}{rows}\n<!-- end -->{after}", encoding="utf-8")
