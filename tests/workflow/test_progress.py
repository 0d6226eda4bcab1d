"""The line of progress in a log."""

import io

from carryover.workflow import progress


class Tensor:
    """Stands for a loss whose value costs something to read."""

    read = 0

    def __float__(self):
        Tensor.read += 1
        return 0.125


def test_log_has_a_line_every_ten_seconds_and_one_at_the_end(monkeypatch):
    class Clock:
        now = 1000.0

        def monotonic(self):
            return self.now

    log, clock = io.StringIO(), Clock()
    monkeypatch.setattr(progress, "time", clock)
    with progress.Progress("finetune", stream=log) as report:
        for step in range(101):
            report({"step": step, "loss": Tensor()})
            clock.now += 0.25
    assert log.getvalue().splitlines() == [
        "finetune: step 40, loss 0.125, 10 s elapsed",
        "finetune: step 80, loss 0.125, 20 s elapsed",
        "finetune: done, step 100, loss 0.125, 25 s elapsed",
    ]
    assert Tensor.read == 3
