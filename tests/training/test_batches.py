"""Orders of samples: each once an epoch, each run its own, whoever else is in the group."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from carryover.training.relu import Batches

FIXED = settings(derandomize=True, deadline=None, max_examples=25)


def group(runs, *samples):
    """A group whose inputs (1000 run + sample, task) say what they are, and whose targets are their negatives."""
    runs = np.asarray(runs)
    x = []
    for task, n in enumerate(samples):
        number = torch.as_tensor(1000 * runs[:, None] + np.arange(n), dtype=torch.float64)
        x.append(torch.stack([number, torch.full_like(number, task)], 1))
    return SimpleNamespace(runs=runs, x=x, y=[-inputs[:, :1] for inputs in x], first=x[0])


def generators(seed=0):
    return lambda run: np.random.default_rng([seed, run])


def orders(batches, epochs=1):
    """Samples (epochs, runs, shown) of every task, in the order shown; checks that nothing is mixed up."""
    shown = []
    for _ in range(epochs):
        steps = list(batches.epoch())
        assert len(steps) == batches.per_epoch
        tasks = []
        for task, parts in enumerate(zip(*steps, strict=True)):
            x, y = torch.cat([x for x, _ in parts], 2), torch.cat([y for _, y in parts], 2)
            assert (x[:, 1] == task).all()
            torch.testing.assert_close(y, -x[:, :1], rtol=0, atol=0)
            samples = x[:, 0].numpy() - 1000 * batches.group.runs[:, None]
            tasks.append(samples.astype(int))
        shown.append(tasks)
    return [np.stack(samples) for samples in zip(*shown, strict=True)]


def sizes(batches):
    return [[x.shape[2] for x, _ in step] for step in batches.epoch()]


@FIXED
@given(st.lists(st.integers(0, 30), min_size=1, max_size=4, unique=True), st.integers(1, 17), st.integers(0, 20))
def test_an_epoch_shows_every_sample_once(runs, n, size):
    batches = Batches(group(runs, n), size, generators())
    (shown,) = orders(batches, 3)
    assert shown.shape == (3, len(runs), n)
    np.testing.assert_array_equal(np.sort(shown, axis=2), np.broadcast_to(np.arange(n), shown.shape))
    expected = [min(size or n, n - start) for start in range(0, n, size or n)]
    assert sizes(batches) == [[b] for b in expected]


def test_orders_depend_on_a_runs_generator_alone():
    (together,) = orders(Batches(group([0, 1, 2, 3], 6), 4, generators()), 70)
    for run in range(4):
        (alone,) = orders(Batches(group([run], 6), 3, generators()), 70)
        np.testing.assert_array_equal(alone[:, 0], together[:, run])
    (other,) = orders(Batches(group([0, 1, 2, 3], 6), 4, generators(1)), 70)
    assert not np.array_equal(other, together)


def test_runs_that_are_dropped_leave_the_orders_of_the_others_alone():
    whole = group([0, 1, 2, 3], 6, 5)
    expected = orders(Batches(group([0, 1, 2, 3], 6, 5), 4, generators()), 70)
    batches = Batches(whole, 4, generators())
    orders(batches, 10)
    which = torch.tensor([True, False, True, False])
    whole.runs, whole.x, whole.y = whole.runs[which.numpy()], [x[which] for x in whole.x], [y[which] for y in whole.y]
    batches.keep(which)
    for found, task in zip(orders(batches, 60), expected, strict=True):
        np.testing.assert_array_equal(found, task[10:, [0, 2]])


@pytest.mark.parametrize(
    ("samples", "size", "expected"),
    [
        ((10, 5), 4, [[4, 4], [4, 1], [2, 4]]),  # the smaller task starts again
        ((5, 10), 4, [[4, 4], [1, 4], [4, 2]]),
        ((10, 4), 4, [[4, 4], [4, 4], [2, 4]]),  # and is taken whole where it is one batch
        ((10, 4), 0, [[10, 4]]),
        ((10, 4), 10, [[10, 4]]),
        ((13, 4, 6), 5, [[5, 4, 5], [5, 4, 1], [3, 4, 5]]),
    ],
)
def test_smaller_tasks_are_gone_through_again(samples, size, expected):
    batches = Batches(group([7, 3], *samples), size, generators())
    assert sizes(batches) == expected
    assert batches.per_epoch == len(expected)
    shown = orders(batches, 2)
    largest = int(np.argmax(samples))
    for order in shown[largest].reshape(4, -1):
        np.testing.assert_array_equal(np.sort(order), np.arange(samples[largest]))
    for task, n in enumerate(samples):
        sequence = shown[task][0, 0]
        np.testing.assert_array_equal(np.sort(sequence[:n]), np.arange(n))
        again = sequence[n : 2 * n]
        np.testing.assert_array_equal(again, sequence[: len(again)])


def test_whole_tasks_come_in_their_own_order_and_need_no_generator():
    for size in (0, 6, 100):
        batches = Batches(group([0, 1], 6), size, None)
        np.testing.assert_array_equal(orders(batches, 2)[0], np.broadcast_to(np.arange(6), (2, 2, 6)))
        batches.keep(torch.tensor([True, False]))
    with pytest.raises(ValueError, match=r"^batches smaller than a task need generators to shuffle with$"):
        Batches(group([0, 1], 6), 5, None)
