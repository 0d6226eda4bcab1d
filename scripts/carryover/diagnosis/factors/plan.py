"""How far a search of a factor may go, counted in trainings, and what it says of it."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

from tqdm import tqdm

from carryover.diagnosis.factors.journal import Point
from carryover.errors import UserError
from carryover.workflow.progress import Progress

LOOK = 5
"""Fresh seeds after which a first look says whether the factor beats 1; the second and last is after all of them."""
RACERS = 3
"""Factors that get more seeds than the grid has."""

_ROUNDS = 2  # of those, each with twice the seeds


class Plan:
    """How far a search may go; trainings are counted by it."""

    def __init__(
        self,
        grid: Sequence[float],
        seeds: int,
        refinements: int,
        fresh: int,
        extensions: int,
        rates: tuple[float, ...],
        budget: int | None,
    ) -> None:
        self.grid, self.seeds = grid, seeds
        self.refinements, self.extensions, self.fresh = refinements, extensions, fresh
        self.selecting = range(seeds * 2**_ROUNDS)
        # What a first look takes, and a first comparison with a rate, is kept back from the search for a place.
        first = min(LOOK, fresh)
        self.kept_back = 2 * first
        least = len(grid) * seeds + self.kept_back
        if budget is not None and budget < least:
            raise UserError(
                f"a budget of {budget} trainings is too small: {len(grid)} factors with {seeds} seeds and a comparison "
                f"on fresh ones take {least}"
            )
        places = len(grid) + extensions + 2 * refinements
        race = min(RACERS, places) * (len(self.selecting) - seeds)
        all_of_it = places * seeds + race + 2 * fresh
        control = (len(rates) + 2) * first
        self.rates = rates if budget is None or budget >= least + control else ()
        if self.rates:
            self.kept_back += control
            all_of_it += (len(rates) + 2) * fresh
        self.at_most = all_of_it if budget is None else min(all_of_it, budget)

    def looks(self, left: int) -> list[int]:
        """Fresh seeds at each look, with so many trainings left; of few there is one look, after all."""
        most = min(self.fresh, left // (len(self.rates) + 4 if self.rates else 2))
        return [LOOK, most] if most >= 2 * LOOK - 2 else [most]


class Told:
    """What a search says on standard error, if it is to."""

    def __init__(self, at_most: int, progress: bool) -> None:
        self._line = Progress("choose_factor", total=at_most) if progress else None
        self._at_most = at_most

    def __enter__(self) -> Told:
        self.say(f"choose_factor: at most {self._at_most} trainings.")
        if self._line:
            self._line.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._line:
            self._line.__exit__(*error)

    def score(self, number: int, point: Point, score: float) -> None:
        if self._line:
            self._line.update(step=number, factor=point.factor, seed=point.seed, score=score)

    def say(self, sentence: str) -> None:
        if self._line:
            tqdm.write(sentence, file=sys.stderr)


def positive(name: str, values: Sequence[float]) -> Sequence[float]:
    if not all(math.isfinite(value) and value > 0 for value in values) or not len(values):
        raise UserError(f"{name} must be finite numbers above 0, got {list(values)}")
    return values
