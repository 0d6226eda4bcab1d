"""The record of training against a plain loop over dictionaries, which knows neither groups nor devices."""

import itertools

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from carryover.training import integrate
from carryover.training.integrate import History, log_checkpoints

RUNS, CHECKPOINTS = 5, 4


class Plain:
    """What is known of every run, in lists: rows of (time, loss, risk, norm), and the end."""

    def __init__(self):
        self.rows, self.end = [[] for _ in range(RUNS)], [None] * RUNS

    def at_checkpoints(self, run):
        """The rows nearest to times that are evenly spaced in their logarithm; all, where there is room."""
        rows = self.rows[run]
        if len(rows) <= CHECKPOINTS:
            return rows
        first, last = np.log(rows[0][0]), np.log(rows[-1][0])
        wanted = [first + (last - first) * place / (CHECKPOINTS - 1) for place in range(CHECKPOINTS)]
        chosen = {min(range(len(rows)), key=lambda i: abs(np.log(rows[i][0]) - time)) for time in wanted}
        return [rows[i] for i in sorted(chosen)]


@st.composite
def trainings(draw):
    """Groups that partition the runs, each with rounds of (who begins again, who is recorded, who ends)."""
    order = draw(st.permutations(range(RUNS)))
    cuts = sorted(draw(st.sets(st.integers(1, RUNS - 1), max_size=2)))
    return [
        (list(order[low:high]), draw(st.lists(st.lists(st.integers(0, 5), min_size=5, max_size=5), max_size=12)))
        for low, high in itertools.pairwise([0, *cuts, RUNS])
    ]


@given(trainings=trainings(), seed=st.integers(0, 1000), tensors=st.booleans())
def test_groups_that_shrink_and_begin_again_leave_what_a_plain_loop_notes(trainings, seed, tensors):
    """Choices of a round: 0 begins the run again, 1 and 2 leave it unrecorded, 3 and 4 record it, 5 ends it."""
    history, plain, rng = History(RUNS, ["norm"], CHECKPOINTS), Plain(), np.random.default_rng(seed)
    put = (lambda values: torch.as_tensor(np.asarray(values))) if tensors else np.asarray
    for runs, rounds in trainings:
        for choices in [*rounds, [5] * RUNS]:
            if not runs:
                break
            time = rng.uniform(1, 2)
            numbers = {run: (*rng.normal(size=3), rng.normal(size=(2, 3))) for run in runs}
            chosen = dict(zip(runs, choices, strict=False))
            again = [run for run in runs if chosen[run] == 0]
            history.forget(np.array(again, dtype=int))
            for run in again:
                plain.rows[run] = []
            times = {run: time * (plain.rows[run][-1][0] if plain.rows[run] else 0.01) for run in runs}
            columns = zip(*((times[run], *numbers[run][:3]) for run in runs), strict=True)
            values = {name: put(column) for name, column in zip(("time", "loss", "risk", "norm"), columns, strict=True)}
            recorded, ended = ([chosen[run] in kinds for run in runs] for kinds in ((3, 4), (5,)))
            history.record(np.array(runs)[recorded], {name: value[recorded] for name, value in values.items()})
            values |= {"evaluations": put([7 * run for run in runs]), "converged": put([run % 2 == 0 for run in runs])}
            weights = [put([numbers[run][3] for run in runs])[ended], put([10.0 * run for run in runs])[ended]]
            history.end(np.array(runs)[ended], weights, {name: value[ended] for name, value in values.items()})
            for run, noted in zip(runs, recorded, strict=True):
                if noted:
                    plain.rows[run].append((times[run], *numbers[run][:3]))
                if chosen[run] == 5:
                    plain.end[run] = numbers[run]
            runs = [run for run in runs if chosen[run] != 5]
    trained = history.result(lambda *layers: layers)
    matrices, tens = trained.weights
    assert not trained.measured
    assert set(trained.curves) == {"loss", "risk", "norm"}
    for run in range(RUNS):
        loss, risk, _, weights = plain.end[run]
        assert (trained.loss[run], trained.risk_final[run], tens[run]) == (loss, risk, 10 * run)
        assert (trained.evaluations[run], trained.converged[run]) == (7 * run, run % 2 == 0)
        np.testing.assert_array_equal(matrices[run], weights)
        smallest = min((row[2] for row in plain.rows[run]), default=np.nan)
        np.testing.assert_equal(trained.risk_best[run], smallest)
        rows = plain.at_checkpoints(run)
        expected = np.array([*rows, *[(np.nan,) * 4] * (CHECKPOINTS - len(rows))])
        found = (trained.time[run], *(trained.curves[name][run] for name in ("loss", "risk", "norm")))
        np.testing.assert_array_equal(np.stack(found, 1), expected)


@given(last=st.integers(1, 10**6), checkpoints=st.integers(1, 80))
def test_checkpoints_are_whole_numbers_up_to_the_last_spaced_in_their_logarithm(last, checkpoints):
    found = log_checkpoints(last, checkpoints).tolist()
    shares = [place / (checkpoints - 1) for place in range(checkpoints)] if checkpoints > 1 else [1.0]
    assert found[-1] == last
    assert len(found) <= checkpoints
    assert found == sorted(set(found))
    for number in found:  # 1/2 for rounding to a whole number, the rest for that of a power
        assert min(abs(number - last**share) for share in shares) <= 0.5 + 1e-9 * number


def test_the_smallest_risk_may_lie_between_checkpoints():
    history = History(2)
    history.record(np.arange(2), {"time": np.ones(2), "risk": np.array([0.5, 0.5])})
    values = {"loss": np.zeros(2), "risk": np.ones(2), "evaluations": 1, "converged": np.ones(2, bool)}
    history.end(np.arange(2), [np.zeros(2)], {**values, "risk_best": np.array([0.1, 0.9])})
    np.testing.assert_array_equal(history.result(lambda *layers: layers).risk_best, [0.1, 0.5])


def test_the_log_has_a_line_where_ten_seconds_have_passed(caplog, monkeypatch):
    clock = iter([5.0, 10.5, 11.0, 20.6])
    monkeypatch.setattr(integrate, "_reported", 0.0)
    monkeypatch.setattr(integrate, "monotonic", lambda: next(clock))
    with caplog.at_level("INFO", "carryover"):
        for step in range(4):
            integrate.report(step=step, active=np.int64(3), loss=torch.tensor([0.25, 0.5]))
    assert caplog.messages == ["step 1, active 3, loss 0.5", "step 3, active 3, loss 0.5"]
