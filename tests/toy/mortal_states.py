"""Training that is killed again and again."""

from contextlib import suppress

from carryover.training.resume import StateFile, resuming

EVERY = 3  # steps: most kills come some steps after a state was saved


class Killed(BaseException):
    pass


class MortalStates(StateFile):
    """Saves every few steps, and kills the training when it was asked `life` times whether it is time to."""

    def __init__(self, file, life=float("inf")):
        super().__init__(file, "request")
        self.calls, self.life = 0, life

    def due(self):
        self.calls += 1
        if self.calls > self.life:
            raise Killed
        return self.calls % EVERY == 0


def whole_and_killed(shard, folder, part):
    """The shard that is left alone, the shard that is killed after each of `part` equal parts, and its starts."""
    with resuming(MortalStates(None)) as counting:
        whole = shard()
    life, starts, found = counting.calls // part + EVERY, 0, None
    while found is None:
        starts += 1
        assert starts < 50, "it makes no progress"
        with resuming(MortalStates(folder / "saved", life)) as states, suppress(Killed):
            found = shard()
    assert states.before["starts"] == starts - 1
    return whole, found, starts
