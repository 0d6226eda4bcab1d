"""One stretch of training, which goes on where it was if its process was killed.

    course = Course(history, runs)
    if course.ended:                    # by an earlier process
        return course.state["result"]
    step = 0
    if course.state:                    # of an earlier process, as it was saved
        step, weights = course.state["step"], course.state["weights"]
    while step < steps:
        if course.due():
            course.save(step=step, weights=weights)
        …
    course.end(result=result)

The trainings of a job are told apart by their order. Where they are kept is for the job to say, by `saving`; elsewhere
nothing is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from carryover.training.saved_states import SavedStates

if TYPE_CHECKING:
    from carryover.training.history import History

_STATES = ContextVar("states", default=SavedStates())  # noqa: B039  # without a folder it only counts


@contextmanager
def saving(states: SavedStates) -> Iterator[SavedStates]:
    """Have the trainings in the block keep where they are."""
    token = _STATES.set(states)
    try:
        yield states
    finally:
        _STATES.reset(token)


class Course:
    """The training of `runs` (R,), of which a history has what is recorded on the way, if there is one.

    `state` is the mapping that was saved, or empty; `ended` says whether that was its end. The history is as it was
    then, or holds nothing of these runs.
    """

    def __init__(self, history: History | None, runs: np.ndarray) -> None:
        self._states, self._history, self._runs = _STATES.get(), history, np.array(runs, dtype=np.int64)
        self._number, known = self._states.begin()
        if known is not None and not np.array_equal(known["runs"], self._runs):
            known = None  # a GPU's memory bore other pieces
        self.ended = known is not None and known["ended"]
        self.state: dict[str, Any] = {} if known is None else known["state"]
        if history is not None and known is not None:
            history.load(self._runs, known["history"])
        elif history is not None:
            history.forget(self._runs)

    def due(self) -> bool:
        """Whether it is time to save; asking costs next to nothing."""
        return self._states.due()

    def save(self, **state: Any) -> None:
        """Keep where training is: tensors, arrays, numbers, and mappings and lists of such."""
        self._states.save(self._number, self._all(state, ended=False))

    def end(self, **state: Any) -> None:
        """Keep how it ended."""
        if self._states.keeps:
            self._states.end(self._number, self._all(state, ended=True))

    def _all(self, state: dict[str, Any], ended: bool) -> dict[str, Any]:
        history = None if self._history is None else self._history.state(self._runs)
        return {"runs": self._runs, "ended": ended, "history": history, "state": state}
