"""The line of progress, in a terminal and in a log."""

import io

import pytest

from carryover.workflow import progress
from carryover.workflow.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Tensor:
    """Stands for a loss whose value costs something to read."""

    read = 0

    def __float__(self):
        Tensor.read += 1
        return 0.125


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is told to move."""

    class Clock:
        now = 1000.0

        def monotonic(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def test_log_has_a_line_every_ten_seconds_and_one_at_the_end(clock):
    log = io.StringIO()
    with Progress("finetune", total=1000, stream=log) as told:
        for step in range(251):
            told.update(step=step, active=6, loss=1 / (1 + step))
            clock.now += 0.1
    assert log.getvalue().splitlines() == [
        "finetune: step 100 of 1000 (10%), active 6, loss 0.0099, 00:10 elapsed, at most 01:30 left",
        "finetune: step 200 of 1000 (20%), active 6, loss 0.00498, 00:20 elapsed, at most 01:20 left",
        "finetune: done, step 250 of 1000 (25%), active 6, loss 0.00398, 00:25 elapsed",
    ]


def test_terminal_has_one_line_rewritten():
    terminal = Terminal()
    with Progress("finetune", total=10, stream=terminal) as told:
        told._pause = 0
        for step in range(11):
            told.update(step=step, active=3, loss=0.5)
    text = terminal.getvalue()
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert text.count("\r") > 10
    last = text.rstrip("\n").rpartition("\r")[2]
    assert "finetune: 100%" in last
    assert "10/10" in last
    assert "active 3, loss 0.5" in last
