"""The search of a factor by noisy scores.

All factors are tried with the same seeds, whose own part in the score cancels in differences:

1. Every factor of a grid is tried with a few seeds. The one of the highest mean is the winner.
2. Whether the winner beats 1 is tested on seeds that had no part in choosing it, so that noise alone helps in 2.5 % of
   searches.
3. Where a training takes a learning rate, the winner has to beat several of them without a factor, on new seeds.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import xarray as xr
from joblib.func_inspect import get_func_code
from scipy import stats
from tqdm import tqdm

from carryover.errors import UserError
from carryover.statistics.intervals import LEVEL, student

FACTORS = (0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
RATES = (0.5, 2.0, 4.0)  # learning rates, as multiples of the usual one


def search_factor(
    run: Callable[..., float],
    factors: Sequence[float] = FACTORS,
    seeds: int = 3,
    fresh_seeds: int = 8,
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
        The grid of factors, to which 1 is added, and the number of seeds of each, two or more.
    fresh_seeds
        The number of new seeds for the comparison with 1, and again for that with learning rates; two or more.
    journal, identity
        A folder in which joblib stores scores, so that an interrupted search continues. A score is reused if the file
        that defines `run` and the `identity` (text, numbers and arrays) are unchanged.
    jobs
        Number of processes, each with one training at a time; they share the processor's threads.
    notes
        Sentences that precede those of the search in the choice's `notes`.

    Raises
    ------
    UserError
        For factors that are not finite and above 0, too few seeds or jobs, and where no score is finite.
    """
    if not all(math.isfinite(value) and value > 0 for value in factors):
        raise UserError(f"factors must be finite numbers above 0, got {list(factors)}")
    if seeds < 2 or fresh_seeds < 2 or jobs < 1:
        raise UserError(f"seeds and fresh_seeds must be at least 2, jobs 1; got {seeds}, {fresh_seeds} and {jobs}")
    grid = sorted({*map(float, factors), 1.0})
    takes_rate = "rate" in inspect.signature(run).parameters
    try:
        score = joblib.Memory(journal, verbose=0).cache(_score, ignore=["run", "takes_rate"])
    except OSError as error:
        raise UserError(f"the journal {journal} cannot be used ({error.strerror}): name a folder") from None
    key = joblib.hash([source_of(run), identity]) if journal else ""
    all_scores: list[float] = []
    failed: set[tuple[float, float]] = set()  # (factor, rate) of networks with scores that are not finite

    def scores(networks: Sequence[tuple[float, float]], seeds: range) -> np.ndarray:
        """Scores (networks, seeds) of pairs (factor, learning rate), the lowest so far where one is not finite."""
        trainings = [joblib.delayed(score)(key, *pair, seed, run, takes_rate) for pair in networks for seed in seeds]
        with joblib.parallel_config("loky", inner_max_num_threads=max(1, joblib.cpu_count() // jobs)):
            new = joblib.Parallel(n_jobs=jobs, return_as="generator", batch_size=1)(trainings)
            all_scores.extend(tqdm(new, "choose_factor", len(trainings), disable=not progress))
        values = np.array(all_scores[-len(trainings) :]).reshape(len(networks), len(seeds))
        lowest = min(filter(math.isfinite, all_scores), default=None)
        if lowest is None:
            raise UserError(f"score must be finite, got none in {len(all_scores)} trainings, but {all_scores[0]}")
        finite = np.isfinite(values)
        failed.update(pair for pair, fine in zip(networks, finite.all(axis=1), strict=True) if not fine)
        return np.where(finite, values, lowest)

    by_factor = scores([(factor, 1.0) for factor in grid], range(seeds))
    # Among factors of equal mean score the one nearest to 1.
    best = max(range(len(grid)), key=lambda k: (by_factor[k].mean(), -abs(math.log(grid[k]))))
    chosen, gain, control = grid[best], Interval(0.0, 0.0, 0.0), None
    if chosen != 1:
        ours, ones = scores([(chosen, 1.0), (1.0, 1.0)], range(seeds, seeds + fresh_seeds))
        gain = Interval.of(ours - ones)
        if gain.low > 0 and takes_rate:
            # A factor that won on the fresh seeds may owe it to them, so this comparison has new seeds again.
            networks = [(chosen, 1.0), (1.0, 1.0), *((1.0, rate) for rate in RATES)]
            ours, ones, *rated = scores(networks, range(seeds + fresh_seeds, seeds + 2 * fresh_seeds))
            leads = [Interval.of(ours - values) for values in rated]
            least = min(range(len(RATES)), key=lambda k: leads[k].low)
            control = Control(RATES[least], Interval.of(rated[least] - ones), leads[least])
    notes = [*notes, *_warnings(failed, gain, by_factor)]
    return Choice(chosen, _curve(grid, by_factor), gain, which, control, len(all_scores), tuple(notes))


def source_of(function: Callable[..., Any]) -> str:
    """The source text by which a journal identifies a function: that of its whole file, or in a notebook its own."""
    try:
        return Path(inspect.getsourcefile(inspect.unwrap(function)) or "").read_text(encoding="utf-8")
    except (OSError, TypeError):
        return str(get_func_code(function)[0])


def _score(key: str, factor: float, rate: float, seed: int, run: Callable[..., Any], takes_rate: bool) -> float:
    """The score of one training, cached in a journal by `key`, factor, rate and seed; UserError if it is no number."""
    value = run(factor, seed, **({"rate": rate} if takes_rate else {}))
    try:
        return float(value)
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise UserError(f"score must be one number, got a {kind} at factor {factor:g}, seed {seed}") from None


def _warnings(failed: set[tuple[float, float]], gain: Interval, by_factor: np.ndarray) -> Iterator[str]:
    """Sentences on factors with scores that are not finite, and on scores (factors, seeds) that hardly differ."""
    if failed:
        names = (f"{factor:g}" + f" at {rate:g} times the rate" * (rate != 1) for factor, rate in sorted(failed))
        where = ", ".join(names)
        yield f"Some scores were not finite (factor {where}): they count as the lowest."
    if gain.low <= 0 <= gain.high and len(by_factor) > 2:
        with np.errstate(invalid="ignore"):  # scores that are all the same
            differ = stats.friedmanchisquare(*by_factor).pvalue < LEVEL  # with seeds as blocks
        if not differ:
            low, high = by_factor.mean(1).min(), by_factor.mean(1).max()
            yield (
                f"No factor differs from the others beyond noise (scores {low:.3g} to {high:.3g}): if these are at "
                "chance, nothing trains."
            )


def _curve(grid: list[float], by_factor: np.ndarray) -> xr.Dataset:
    """Means by factor, with t intervals of one spread over seeds for all factors."""
    factors, seeds = by_factor.shape
    spread = math.sqrt(by_factor.var(axis=1, ddof=1).mean())
    reach = spread * stats.t.ppf(1 - LEVEL / 2, factors * (seeds - 1)) / math.sqrt(seeds)
    mean = by_factor.mean(axis=1)
    interval = "end of the 95 % t interval of the mean, with one spread over seeds for all factors"
    columns = {
        "score": (mean, "mean score in validation"),
        "low": (mean - reach, f"lower {interval}"),
        "high": (mean + reach, f"upper {interval}"),
        "factor": (grid, "factor on the weights before finetuning"),
    }
    return xr.Dataset(
        {name: ("factor", values, {"long_name": meaning, "units": "1"}) for name, (values, meaning) in columns.items()}
    )


class Interval(NamedTuple):
    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: np.ndarray) -> Interval:
        """Mean and 95 % t interval of independent values."""
        estimate = student(values, 0.0)
        return cls(*(float(estimate[name]) for name in ("statistic", "low", "high")))

    def __str__(self) -> str:
        return f"{self.mean:.3g} [{self.low:.3g}, {self.high:.3g}]"


@dataclass(frozen=True)
class Control:
    """The learning rate, as a multiple of the usual one, that the factor beats least clearly; it is tried without one.

    `gain` is that of the rate over the usual one, `lead` that of the factor over the rate, on seeds of their own.
    """

    rate: float
    gain: Interval
    lead: Interval

    def sentence(self) -> str:
        """Whether a learning rate does what the factor does."""
        lead = f"the factor beats that by {self.lead}."
        if self.lead.low > 0:
            tried = ", ".join(f"{rate:g}" for rate in RATES)
            return f"No learning rate does as much: of {tried} times the usual, {self.rate:g} gains {self.gain}; {lead}"
        if self.gain.low > 0:
            return f"A learning rate of {self.rate:g} times the usual does so, too: it gains {self.gain}."
        rate = f"a learning rate of {self.rate:g} times the usual"
        return f"It cannot be distinguished from {rate}, which gains {self.gain}: {lead}"


@dataclass(frozen=True)
class Choice:
    """The result of a search.

    Attributes
    ----------
    factor : the best in validation
    curve : scores by `factor`, with intervals
    gain : of the factor over 1 on fresh seeds
    which : the weights that are multiplied
    control : comparison with learning rates, if a gain had to be explained
    trainings : how many there were
    notes : sentences on the way
    """

    factor: float
    curve: xr.Dataset
    gain: Interval
    which: str
    control: Control | None
    trainings: int
    notes: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """The verdict on the best factor: "none" if that is 1; else by the interval of its gain over the factor 1.

        "helps" if the interval is above 0, or "rate" if the factor then does not beat a change of the learning rate
        beyond noise; "hurts" if the interval is below 0, and "undecided" if it includes 0.
        """
        if self.factor == 1:
            return "none"
        if self.gain.low > 0:
            return "rate" if self.control and self.control.lead.low <= 0 else "helps"
        return "hurts" if self.gain.high < 0 else "undecided"

    @property
    def recommended(self) -> float:
        """The factor if it beats 1 beyond noise on fresh seeds, else 1."""
        return self.factor if self.verdict in ("helps", "rate") else 1.0

    def sentence(self) -> str:
        """The result in a sentence, and one more on learning rates where they were tried."""
        on = {"all": "all weights", "readout": "the readout's weights"}.get(self.which, "weights")
        if self.factor == 1:
            return f"No factor on {on} scored higher than 1 in validation: leave them as they are."
        outcome = {
            "hurts": "is worse than 1 on fresh seeds: leave the weights as they are",
            "undecided": "does not beat 1 beyond noise: leave the weights as they are, or try more seeds",
        }.get(self.verdict, "beats 1 beyond noise")
        tried = self.curve["factor"].values
        end = {min(tried): " No smaller one was tried.", max(tried): " No larger one was tried."}.get(self.factor, "")
        control = f" {self.control.sentence()}" if self.control else ""
        return f"A factor of {self.factor:g} on {on} gains {self.gain}; it {outcome}.{end}{control}"
