"""The search of a factor by scores that are noisy, in few trainings.

All factors are tried with the same seeds, whose own part in the score cancels in differences:

1. A coarse grid. While the best is at an end, one place further is tried, up to a bound.
2. Places half way (in the logarithm) between the best and its neighbours.
3. The best few get more seeds, until what noise leaves open between them is small beside what they gain over 1.
4. Whether the winner beats 1 is asked of seeds that had no part in choosing it: of five, and of all if these leave it
   open. The intervals of both looks hold together with 95 % (each gets half of the 5 %), so that noise alone helps in
   2.5 % of searches at most. It gives up after five that gain nothing on average.
5. Where a training takes a learning rate, the winner has to beat several of them without a factor, on seeds that had
   no part in saying that it wins.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from carryover.diagnosis.factors.choice import CONFIDENCE, Choice, Control, Interval, curve, interval
from carryover.diagnosis.factors.journal import Journal, Point, identity
from carryover.diagnosis.factors.plan import RACERS, Plan, Told, positive
from carryover.diagnosis.factors.scores import Scores
from carryover.errors import UserError

FACTORS = (0.0625, 0.25, 1.0, 4.0)
RATES = (0.5, 2.0, 4.0)
_BEATEN = 2.0  # standard errors behind the first
_SMALL = 0.25  # of the gain: what may stay open between racers


def search_factor(
    run: Callable[..., float],
    factors: Sequence[float] = FACTORS,
    seeds: int = 2,
    refinements: int = 1,
    fresh_seeds: int = 12,
    which: str = "all",
    *,
    extensions: int = 2,
    rates: Sequence[float] = RATES,
    budget: int | None = None,
    journal: str | Path | None = None,
    jobs: int = 1,
    progress: bool = True,
    notes: Sequence[str] = (),
) -> Choice:
    """The factor with the highest score; `run(factor, seed)` gives the score, higher is better.

    Before it starts it says on standard error how many trainings there will be at most; often there are far fewer.

    Args:
        run: a score that is not finite counts as the lowest of all. It may take a third argument named `rate`, a
            multiple of the learning rate, for a control.
        factors: a grid, equally spaced in the logarithm or not; 1 is always tried.
        seeds: of each factor of the grid; the best few get up to four times as many.
        refinements: how often the places half way (in the logarithm) to the best factor's neighbours are tried.
        fresh_seeds: other seeds, at most, for the comparison with 1, two or more.
        extensions: how many places further may be tried while the best factor is at an end of the grid.
        rates: learning rates, as multiples of the usual one, that are tried without a factor where one helps.
        budget: trainings at most: the search then refines less and looks at fewer fresh seeds.
        journal: a file that keeps the scores, with which a search that was cut off goes on.
        jobs: trainings at once, in as many processes, which share the processor's threads. `run` and what it refers to
            must be what cloudpickle can pickle: functions of a notebook, lambdas and tensors are.
        progress: whether the number of trainings, and how they get on, is shown on standard error.
        notes: sentences that are said before the first training, and are the first of the choice's.

    Raises:
        UserError: for factors that are not finite and above 0, too few seeds, too small a budget, a journal of another
            search, and where no score is finite.
    """
    grid = sorted({*map(float, positive("factors", factors)), 1.0})
    if seeds < 2 or fresh_seeds < 2:
        raise UserError(f"seeds and fresh_seeds must be at least 2, got {seeds} and {fresh_seeds}")
    for name, value, least in (("refinements", refinements, 0), ("extensions", extensions, 0), ("jobs", jobs, 1)):
        if value < least:
            raise UserError(f"{name} must be at least {least}, got {value}")
    takes_rate = "rate" in inspect.signature(run).parameters
    tried = tuple(map(float, positive("rates", rates))) if rates and takes_rate else ()
    plan = Plan(grid, seeds, refinements, fresh_seeds, extensions, tried, budget)
    kept = Journal(journal, identity(run))
    with Told(plan.at_most, progress) as told:
        try:
            scores = Scores(run, takes_rate, kept, jobs, told.score)
            return _Search(plan, scores, told.say, which, notes, tried).choice()
        finally:
            kept.close()


class _Search:
    def __init__(
        self,
        plan: Plan,
        scores: Scores,
        say: Callable[[str], None],
        which: str,
        notes: Sequence[str],
        rates: Sequence[float],
    ) -> None:
        self.plan, self.scores, self.which, self.rates = plan, scores, which, rates
        self.notes: list[str] = []
        self._say = say
        for sentence in notes:
            self._note(sentence)

    def choice(self) -> Choice:
        first = range(self.plan.seeds)
        self._try(self.plan.grid, first)
        if len(self.scores.lost()) == len(self.scores):
            point = self.scores.lost()[0]
            value = f"{self.scores[point]} at factor {point.factor:g}, seed {point.seed}"
            raise UserError(f"score must be a finite number, got none in {len(self.scores)} trainings: {value}")
        self._extend(first)
        self._refine(first)
        chosen = self._race()
        gain, control = Interval(0.0, 0.0, 0.0), None
        if chosen != 1:
            gain, fresh = self._compared(chosen)
            if gain.low > 0 and self.plan.rates:
                control = self._control(chosen, fresh)
            elif gain.low > 0 and self.rates:
                self._note("The budget is too small to try learning rates.")
        if lost := self.scores.lost():
            places = ", ".join(f"{factor:g}" for factor in sorted({point.factor for point in lost}))
            count = f"{len(lost)} of {len(self.scores)} scores were not finite (factor {places})"
            self._note(f"{count}: they count as the lowest.")
        tried = {factor: self.scores.tried(factor, self.plan.selecting) for factor in self.scores.factors}
        return Choice(
            chosen,
            curve(
                {factor: self.scores.of(factor, seeds) for factor, seeds in tried.items()},
                {factor: len(self.scores.lost(factor, seeds)) for factor, seeds in tried.items()},
            ),
            gain,
            self.which,
            control,
            len(self.scores),
            tuple(self.notes),
        )

    def _note(self, sentence: str) -> None:
        self.notes.append(sentence)
        self._say(sentence)

    def _affords(self, trainings: int) -> bool:
        return len(self.scores) + trainings + self.plan.kept_back <= self.plan.at_most

    def _try(self, factors: Sequence[float], seeds: Sequence[int]) -> None:
        self.scores.need(Point(factor, seed) for seed in seeds for factor in factors)

    def _best(self, factors: Sequence[float], seeds: Sequence[int]) -> float:
        """That of the highest mean; of several 1, or else the nearest to it."""

        def rank(factor: float) -> tuple:
            lost = len(self.scores.lost(factor, seeds))
            return self.scores.of(factor, seeds).mean(), -lost, -abs(math.log(factor))

        return max(factors, key=rank)

    def _extend(self, seeds: Sequence[int]) -> None:
        further = []
        for _ in range(self.plan.extensions):
            tried = self.scores.factors
            best = self._best(tried, seeds)
            if len(tried) == 1 or best not in (tried[0], tried[-1]) or not self._affords(len(seeds)):
                break
            beside = tried[1] if best == tried[0] else tried[-2]
            if self.scores.of(best, seeds).mean() == self.scores.of(beside, seeds).mean():
                break  # scores that are all the same lead nowhere
            further.append(best * best / beside)
            self._try(further[-1:], seeds)
        if further:
            places = " and ".join(f"{factor:g}" for factor in further)
            self._note(f"The best factor was at an end of the grid, which was extended by {places}.")

    def _refine(self, seeds: Sequence[int]) -> None:
        for _ in range(self.plan.refinements):
            tried = self.scores.factors
            best = self._best(tried, seeds)
            place = tried.index(best)
            beside = [math.sqrt(best * other) for other in tried[max(place - 1, 0) : place + 2] if other != best]
            if not self._affords(len(beside) * len(seeds)):
                break
            self._try(beside, seeds)

    def _race(self) -> float:
        """The best factor, after more seeds for those that are not clearly behind it."""
        seeds = range(self.plan.seeds)
        racers = self.scores.factors
        while True:
            best = self._best(racers, seeds)
            ahead = {factor: self.scores.of(factor, seeds).mean() for factor in racers}
            error = math.sqrt(2 / len(seeds)) * self._noise(racers, seeds)
            first = sorted(racers, key=lambda factor: (factor != best, -ahead[factor]))[:RACERS]
            racers = [factor for factor in first if ahead[best] - ahead[factor] <= _BEATEN * error]
            known = range(self.plan.seeds) if len(self.scores.tried(1.0, seeds)) < len(seeds) else seeds
            gain = (self.scores.of(best, known) - self.scores.of(1.0, known)).mean()
            more = range(2 * len(seeds))
            if (
                len(racers) == 1
                or error <= _SMALL * gain
                or len(more) > len(self.plan.selecting)
                or not self._affords(len(racers) * len(seeds))
            ):
                return best
            seeds = more
            self._try(racers, seeds)

    def _noise(self, factors: Sequence[float], seeds: Sequence[int]) -> float:
        """Standard deviation of one score about what its seed and its factor give, of the better half, four or more."""
        values = np.array([self.scores.of(factor, seeds) for factor in factors])
        better = np.argsort(values.mean(1))[::-1][: max(4, (len(factors) + 1) // 2)]
        values = values[better]
        if len(values) == 1:
            return 0.0
        rest = values - values.mean(0) - values.mean(1, keepdims=True) + values.mean()
        return math.sqrt((rest**2).sum() / ((len(values) - 1) * (len(seeds) - 1)))

    def _compared(self, chosen: float) -> tuple[Interval, range]:
        """The gain over 1 on fresh seeds, and those; it stops as soon as that is decided or unlikely to help."""
        start = len(self.plan.selecting)
        # How often to look is settled before any fresh seed is seen: only so do the intervals hold together.
        looks = self.plan.looks(self.plan.at_most - len(self.scores))
        for look in looks:
            seeds = range(start, start + look)
            self._try([chosen, 1.0], seeds)
            gain = interval(
                self.scores.of(chosen, seeds) - self.scores.of(1.0, seeds), 1 - (1 - CONFIDENCE) / len(looks)
            )
            if gain.low > 0 or gain.mean <= 0:
                break
        return gain, seeds

    def _control(self, chosen: float, seen: range) -> Control:
        """Learning rates compared with the factor and with neither: of all, the one that is least clearly beaten.

        Seeds are new once more: a factor that won on the fresh ones was lucky on them. As the factor has to beat every
        rate, none is chosen before.
        """
        rates, start = self.plan.rates, len(self.plan.selecting) + self.plan.fresh
        number = min(len(seen), (self.plan.at_most - len(self.scores)) // (len(rates) + 2))
        new = range(start, start + number)
        self.scores.need(
            point
            for seed in new
            for point in (Point(chosen, seed), Point(1.0, seed), *(Point(1.0, seed, rate) for rate in rates))
        )
        factor = self.scores.of(chosen, new)
        leads = {rate: interval(factor - self.scores.of(1.0, new, rate)) for rate in rates}
        rate = min(rates, key=lambda rate: leads[rate].low)
        gain = interval(self.scores.of(1.0, new, rate) - self.scores.of(1.0, new))
        return Control(rate, gain, leads[rate], rates)
