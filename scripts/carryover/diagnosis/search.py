"""The search of a factor by noisy scores, in few trainings.

All factors are tried with the same seeds, whose own part in the score cancels in differences:

1. A coarse grid. While the best is at an end, one place further is tried, up to a bound.
2. Places half way (in the logarithm) between the best and its neighbours.
3. The best few get more seeds, unless one is clearly ahead.
4. Whether the winner beats 1 is tested on seeds that had no part in choosing it: five, and all if these leave it open.
   The intervals of both looks hold together with 95 % (each gets half of the 5 %), so that noise alone helps in 2.5 %
   of searches at most. The test stops after five that gain nothing on average.
5. Where a training takes a learning rate, the winner has to beat several of them without a factor, on new seeds.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import xarray as xr
from joblib.func_inspect import get_func_code
from scipy import stats
from tqdm import tqdm

from carryover.diagnosis.choice import CONFIDENCE, RATES, Choice, Control, Interval
from carryover.errors import UserError

FACTORS = (0.0625, 0.25, 1.0, 4.0)
_EXTENSIONS = 2  # places beyond an end of the grid
_FIRST_LOOK = 5  # fresh seeds of the first look; the second and last is at all of them
_RACERS = 3  # factors that get more seeds than the grid has
_MORE = 4  # times the seeds of the grid
_BEHIND = 2.0  # standard errors from which on a factor is clearly behind the best
_CURVE = {
    "score": "mean score in validation",
    "low": "lower end of the 95 % t interval of the mean, with one spread over seeds for all factors",
    "high": "upper end of the 95 % t interval of the mean, with one spread over seeds for all factors",
    "seeds": "seeds that the factor was tried with",
    "factor": "factor on the weights before finetuning",
}


class Point(NamedTuple):
    """One training."""

    factor: float
    seed: int
    rate: float = 1.0


def search_factor(
    run: Callable[..., float],
    factors: Sequence[float] = FACTORS,
    seeds: int = 2,
    refinements: int = 1,
    fresh_seeds: int = 12,
    which: str = "all",
    *,
    journal: str | Path | None = None,
    jobs: int = 1,
    progress: bool = True,
    notes: Sequence[str] = (),
    identity: Any = None,
) -> Choice:
    """The factor with the highest score; `run(factor, seed)` gives the score, higher is better.

    Parameters
    ----------
    run
        A score that is not finite counts as the lowest of all. It may take a third argument named `rate`, a multiple of
        the learning rate: where a factor helps, several rates are tried without a factor.
    factors, seeds
        A grid, to which 1 is added, and the seeds of each factor; the best few get four times as many.
    refinements
        How often the places next to the best factor are tried.
    fresh_seeds
        Other seeds, at most, for the comparison with 1, two or more.
    journal, identity
        A folder in which joblib keeps scores, from which an interrupted search continues. A score is used again for the
        same file of `run` and the same `identity`: text, numbers and arrays.
    jobs
        Trainings at once, in as many processes, which share the processor's threads.
    notes
        Sentences that are the first of the choice's.

    Raises
    ------
    UserError
        For factors that are not finite and above 0, too few seeds, and where no score is finite.
    """
    if not all(math.isfinite(value) and value > 0 for value in factors):
        raise UserError(f"factors must be finite numbers above 0, got {list(factors)}")
    if seeds < 2 or fresh_seeds < 2:
        raise UserError(f"seeds and fresh_seeds must be at least 2, got {seeds} and {fresh_seeds}")
    grid = sorted({*map(float, factors), 1.0})
    takes_rate = "rate" in inspect.signature(run).parameters
    try:
        score = joblib.Memory(journal, verbose=0).cache(_score, ignore=["run", "takes_rate"])
    except OSError as error:
        raise UserError(f"the journal {journal} cannot be used ({error.strerror}): name a folder") from None
    key = joblib.hash([source_of(run), identity]) if journal else ""
    with tqdm(desc="choose_factor", unit=" trainings", disable=not progress) as bar:
        search = _Search(lambda point: joblib.delayed(score)(key, point, run, takes_rate), jobs, seeds, bar)
        chosen = search.best_factor(grid, refinements)
        gain, control = Interval(0.0, 0.0, 0.0), None
        if chosen != 1:
            gain, number = search.gain(chosen, fresh_seeds)
            if gain.low > 0 and takes_rate:
                control = search.control(chosen, fresh_seeds, number)
        lost = sorted({point.factor for point, value in search.scores.items() if not math.isfinite(value)})
        if lost:
            where = ", ".join(f"{factor:g}" for factor in lost)
            notes = [*notes, f"Some scores were not finite (factor {where}): they count as the lowest."]
        return Choice(chosen, search.curve(), gain, which, control, len(search.scores), tuple(notes))


def source_of(function: Callable[..., Any]) -> str:
    """The text of the file that defines a function, or of the function in a notebook, by which a journal knows it."""
    try:
        return Path(inspect.getsourcefile(inspect.unwrap(function)) or "").read_text(encoding="utf-8")
    except (OSError, TypeError):
        return str(get_func_code(function)[0])


def _score(key: str, point: Point, run: Callable[..., Any], takes_rate: bool) -> float:
    value = run(point.factor, point.seed, **({"rate": point.rate} if takes_rate else {}))
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UserError(
            f"score must be one number, got a {type(value).__name__} at factor {point.factor:g}, seed {point.seed}"
        ) from None


class _Search:
    """Scores by factor, seed and learning rate, in the order in which they are needed."""

    def __init__(self, task: Callable[[Point], Any], jobs: int, seeds: int, bar: tqdm) -> None:
        self.task, self.jobs, self.bar = task, jobs, bar
        self.first, self.selecting = range(seeds), range(seeds * _MORE)
        self.scores: dict[Point, float] = {}

    @property
    def factors(self) -> list[float]:
        """Those that were tried with the usual learning rate."""
        return sorted({point.factor for point in self.scores if point.rate == 1})

    def compute(self, points: Iterable[Point]) -> None:
        """Compute the scores that are not known yet, `jobs` at once."""
        new = [point for point in dict.fromkeys(points) if point not in self.scores]
        with joblib.parallel_config("loky", inner_max_num_threads=max(1, joblib.cpu_count() // self.jobs)):
            parallel = joblib.Parallel(n_jobs=self.jobs, return_as="generator", batch_size=1)
            for point, score in zip(new, parallel(self.task(point) for point in new), strict=True):
                self.scores[point] = score
                self.bar.update()

    def values(self, factor: float, seeds: Sequence[int], rate: float = 1.0) -> np.ndarray:
        """Scores (seeds,); one that is not finite counts as the lowest of all that are."""
        points = [Point(factor, seed, rate) for seed in seeds]
        self.compute(points)
        lowest = min(filter(math.isfinite, self.scores.values()), default=math.nan)
        values = np.array([self.scores[point] for point in points])
        return np.where(np.isfinite(values), values, lowest)

    def best(self, factors: Sequence[float], seeds: Sequence[int]) -> float:
        """The factor of the highest mean; of several 1, or else the nearest to it."""
        return max(factors, key=lambda factor: (self.values(factor, seeds).mean(), -abs(math.log(factor))))

    def best_factor(self, grid: list[float], refinements: int) -> float:
        """The best of the grid, of places beyond its ends and of places between, after a race of the best few."""
        self.compute(Point(factor, seed) for seed in self.first for factor in grid)
        if not any(map(math.isfinite, self.scores.values())):
            value = next(iter(self.scores.values()))
            raise UserError(f"score must be a finite number, got none in {len(self.scores)} trainings, but {value}")
        for _ in range(_EXTENSIONS):
            tried, best = self.factors, self.best(self.factors, self.first)
            if len(tried) == 1 or best not in (tried[0], tried[-1]):
                break
            neighbour = tried[1] if best == tried[0] else tried[-2]
            if self.values(best, self.first).mean() == self.values(neighbour, self.first).mean():
                break  # scores that are all the same lead nowhere
            self.values(best * best / neighbour, self.first)
        for _ in range(refinements):
            tried, best = self.factors, self.best(self.factors, self.first)
            place = tried.index(best)
            between = [math.sqrt(best * near) for near in tried[max(place - 1, 0) : place + 2] if near != best]
            self.compute(Point(factor, seed) for seed in self.first for factor in between)
        return self._race()

    def _race(self) -> float:
        """The best factor, after more seeds for those of the best three that are not clearly behind it."""
        best = self.best(self.factors, self.first)
        if len(self.factors) == 1:
            return best
        scores = {factor: self.values(factor, self.first) for factor in self.factors}
        leaders = sorted(scores, key=lambda factor: (factor != best, -scores[factor].mean()))[:_RACERS]
        # Residual variance of scores about the sum of a part of the factor and one of the seed (two-way analysis).
        table = np.array(list(scores.values()))
        rest = table - table.mean(0) - table.mean(1, keepdims=True) + table.mean()
        variance = (rest**2).sum() / ((len(table) - 1) * (len(self.first) - 1))
        noise = math.sqrt(2 / len(self.first) * variance)
        racers = [factor for factor in leaders if scores[best].mean() - scores[factor].mean() <= _BEHIND * noise]
        if len(racers) == 1 or not noise:
            return best
        self.compute(Point(factor, seed) for seed in self.selecting for factor in racers)
        return self.best(racers, self.selecting)

    def gain(self, chosen: float, fresh: int) -> tuple[Interval, int]:
        """The gain over 1 on fresh seeds, and on how many: it stops when that is decided or unlikely to help."""
        start = len(self.selecting)
        # How often to look is settled before any fresh seed is seen: only so do the intervals hold together.
        looks = [_FIRST_LOOK, fresh] if fresh >= 2 * _FIRST_LOOK - 2 else [fresh]
        for look in looks:
            seeds = range(start, start + look)
            self.compute(Point(factor, seed) for seed in seeds for factor in (chosen, 1.0))
            difference = self.values(chosen, seeds) - self.values(1.0, seeds)
            gain = Interval.student(difference, 1 - (1 - CONFIDENCE) / len(looks))
            if gain.low > 0 or gain.mean <= 0:
                break
        return gain, look

    def control(self, chosen: float, fresh: int, number: int) -> Control:
        """Learning rates compared with the factor and with neither: the one that is least clearly beaten.

        Seeds are new once more: a factor that won on the fresh ones was lucky on them.
        """
        start = len(self.selecting) + fresh
        new = range(start, start + number)
        without = [Point(1.0, 0, rate) for rate in (1.0, *RATES)]
        self.compute(point._replace(seed=seed) for seed in new for point in (Point(chosen, 0), *without))
        leads = {rate: Interval.student(self.values(chosen, new) - self.values(1.0, new, rate)) for rate in RATES}
        rate = min(leads, key=lambda rate: leads[rate].low)
        return Control(rate, Interval.student(self.values(1.0, new, rate) - self.values(1.0, new)), leads[rate])

    def curve(self) -> xr.Dataset:
        """Scores of the seeds that chose, by factor."""
        tried = {f: [seed for seed in self.selecting if Point(f, seed) in self.scores] for f in self.factors}
        scores = [self.values(factor, seeds) for factor, seeds in tried.items()]
        seeds = np.array([len(values) for values in scores])
        freedom = int((seeds - 1).sum())
        spread = math.sqrt(sum(((values - values.mean()) ** 2).sum() for values in scores) / freedom)
        reach = spread * stats.t.ppf((1 + CONFIDENCE) / 2, freedom) / seeds**0.5
        mean = np.array([values.mean() for values in scores])
        columns = {"score": mean, "low": mean - reach, "high": mean + reach, "seeds": seeds}
        curve = xr.Dataset({name: ("factor", values) for name, values in columns.items()}, {"factor": list(tried)})
        for name, meaning in _CURVE.items():
            curve[name].attrs = {"long_name": meaning, "units": "1"}
        return curve
