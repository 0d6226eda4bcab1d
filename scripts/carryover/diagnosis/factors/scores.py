"""Scores of trainings: each computed once, here or in processes beside, kept in a journal, and shown as they come."""

from __future__ import annotations

import functools
import math
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import cloudpickle
import joblib
import numpy as np

from carryover.diagnosis.factors.journal import Journal, Point
from carryover.errors import UserError


class Scores:
    """Scores by factor, seed and learning rate; `tell` is called after each with the number and what it was."""

    def __init__(
        self,
        run: Callable[..., Any],
        takes_rate: bool,
        journal: Journal,
        jobs: int,
        tell: Callable[[int, Point, float], None],
    ) -> None:
        self._run = functools.partial(_with_rate, run) if takes_rate else functools.partial(_without, run)
        self._journal, self._jobs, self._tell = journal, jobs, tell
        self._known: dict[Point, float] = {}

    def __len__(self) -> int:
        """Trainings asked for so far; those that the journal had are among them."""
        return len(self._known)

    @property
    def factors(self) -> list[float]:
        """Those that were tried with the usual learning rate."""
        return sorted({point.factor for point in self._known if point.rate == 1})

    def need(self, points: Iterable[Point]) -> None:
        """Compute those that are not known yet, several at once where that is wanted."""
        new = [point for point in dict.fromkeys(points) if point not in self._known]
        found = {point: self._journal.known[point] for point in new if point in self._journal.known}
        missing = [point for point in new if point not in found]
        for point, score in self._computed(missing):
            found[point] = score
            self._journal.add(point, score)
            self._tell(len(self._known) + len(found), point, score)
        self._known |= {point: found[point] for point in new}  # in the order of asking, however they came

    def of(self, factor: float, seeds: Sequence[int], rate: float = 1.0) -> np.ndarray:
        """Scores (seeds,); one that is not finite counts as the lowest of all that are."""
        points = [Point(factor, seed, rate) for seed in seeds]
        self.need(points)
        lowest = min(filter(math.isfinite, self._known.values()), default=math.nan)
        values = np.array([self._known[point] for point in points])
        return np.where(np.isfinite(values), values, lowest)

    def lost(self, factor: float | None = None, seeds: Sequence[int] | None = None) -> list[Point]:
        """Trainings whose score was not finite."""
        return [
            point
            for point, score in self._known.items()
            if not math.isfinite(score) and factor in (None, point.factor) and (seeds is None or point.seed in seeds)
        ]

    def tried(self, factor: float, seeds: Sequence[int]) -> list[int]:
        return [seed for seed in seeds if (factor, seed, 1.0) in self._known]

    def __getitem__(self, point: Point) -> float:
        return self._known[point]

    def _computed(self, points: list[Point]) -> Iterator[tuple[Point, float]]:
        if self._jobs == 1 or not points:
            for point in points:
                yield point, number(self._run(point), point)
            return
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run"
            try:
                path.write_bytes(cloudpickle.dumps(self._run))
            except Exception as error:  # what refers to an open file, a lock or a generator can raise anything
                raise UserError(
                    f"the functions cannot be sent to other processes ({error}): let them and what they refer to be "
                    "what cloudpickle can pickle (no open files, locks or running generators), or leave jobs at 1"
                ) from None
            threads = max(1, joblib.cpu_count() // self._jobs)
            with joblib.parallel_config("loky", inner_max_num_threads=threads):
                work = joblib.Parallel(n_jobs=self._jobs, return_as="generator_unordered", batch_size=1)
                for point, value in work(joblib.delayed(_elsewhere)(str(path), point, threads) for point in points):
                    yield point, value


def _with_rate(run: Callable[..., Any], point: Point) -> Any:
    return run(point.factor, point.seed, rate=point.rate)


def _without(run: Callable[..., Any], point: Point) -> Any:
    return run(point.factor, point.seed)


def _elsewhere(path: str, point: Point, threads: int) -> tuple[Point, Any]:
    """In a process beside: the score of a training by the function in a file."""
    run = _loaded(path)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(threads)
    return point, number(run(point), point)


@functools.lru_cache(maxsize=1)  # a process does many trainings of one search
def _loaded(path: str) -> Callable[..., Any]:
    return cloudpickle.loads(Path(path).read_bytes())


def number(value: Any, point: Point) -> float:
    """A score as a float; UserError where it is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UserError(
            f"score must be one number, got a {type(value).__name__} at factor {point.factor:g}, seed {point.seed}"
        ) from None
