"""Training that is killed again and again."""

from contextlib import suppress

from carryover.training.course import saving
from carryover.training.saved_states import SavedStates

EVERY = 3  # steps: most kills come some steps after a state was saved


class Killed(BaseException):
    pass


class MortalStates(SavedStates):
    """Saves every few steps, and kills the training when it has been asked so many times whether it is time to."""

    def __init__(self, file, life=float("inf")):
        super().__init__(file, "request")
        self.asked, self.life = 0, life

    def due(self):
        self.asked += 1
        if self.asked > self.life:
            raise Killed
        return self.asked % EVERY == 0


def whole_and_killed(shard, folder, part):
    """What a shard is that is left alone, and that is killed after each of `part` equal parts; and its number of
    starts."""
    with saving(MortalStates(None)) as counting:
        whole = shard()
    life, starts, found = counting.asked // part + EVERY, 0, None
    while found is None:
        starts += 1
        assert starts < 50, "it does not get on"
        with saving(MortalStates(folder / "saved", life)) as states, suppress(Killed):
            found = shard()
    assert states.before["starts"] == starts - 1
    return whole, found, starts
