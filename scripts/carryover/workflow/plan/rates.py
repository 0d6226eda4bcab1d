r"""Cost of jobs that were never run, from jobs of the same kind that were.

A job takes the start-up of its rule and then its work, and

    log work = a + b_x + \sum_i e_i log size_i,  e_i >= 0,

over the sizes that `carryover.workflow.plan.work` names, with b_x for what else an experiment x is. Without any
measured job e_i is 1: twice as much of anything takes twice as long; less of a limit on steps, which few reach. Jobs
move the exponents from there, by nonnegative least squares with penalties on their changes and on b_x, as in ridge
regression. So what never varied in the measurements, or only from one experiment to another, is extrapolated in
proportion, and the uncertainty says so.
"""

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from carryover.config.artifacts import MADE_OF_DATA

EXPONENT_SPREAD = 0.35  # of an exponent about what is expected before anything is measured
LIMIT = 0.3  # expected exponent of a limit on steps
EXPERIMENT_SPREAD = 1.0  # of log times of experiments of equal sizes
LEAST_NOISE = 0.3  # of log time from run to run: what one machine does not repeat, a busy one still less
SOLVED_ALIKE = 3  # parts of a kind that all protocols of a family share which a solver trains
STARTUP_FLOOR = 0.1  # work below this share of the start-up cannot be told from none


@dataclass(frozen=True)
class Estimate:
    """Seconds of one job, and the standard deviation of their logarithm (0 where this very job was measured)."""

    seconds: float
    spread: float
    measured: bool


class Fit:
    """The law of one kind of job; `jobs` are `Measured`, `shortest` [s] is the shortest job of their rule."""

    def __init__(self, jobs, shortest):
        # Both are lower limits: what a plug-in imports late counts as inside, and no two import the same.
        startup = self.startup = max(shortest, min(job.seconds - job.inside for job in jobs))
        self.sizes = sorted(set().union(*(job.work.sizes for job in jobs)))
        self._experiments = sorted({job.work.experiment for job in jobs})
        seconds = np.array([job.seconds for job in jobs])
        inside = np.array([job.inside for job in jobs])
        working = np.maximum(np.minimum(seconds - startup, inside), STARTUP_FLOOR * startup)
        # The noise is of the whole time: work that is a small part of it is known less well.
        weights = (working / seconds) ** 2
        self._fit(np.array([self._terms(job.work) for job in jobs]), np.log(working), weights)

    def _fit(self, terms, logs, weights):
        self._center, self._level = np.average(terms, axis=0, weights=weights), np.average(logs, weights=weights)
        scaled = np.sqrt(weights)[:, None] * (terms - self._center)
        targets = np.sqrt(weights) * (logs - self._level)
        expected = np.array([LIMIT if size.startswith("max_") else 1.0 for size in self.sizes])
        expected = np.concatenate([expected, np.zeros(len(self._experiments))])
        is_size = np.arange(len(expected)) < len(self.sizes)
        penalty = LEAST_NOISE / np.where(is_size, EXPONENT_SPREAD, EXPERIMENT_SPREAD)
        self._coefficients = _at_least_zero(
            np.vstack([scaled, np.diag(penalty)]), np.concatenate([targets, penalty * expected]), is_size
        )
        self._covariance = np.linalg.inv(scaled.T @ scaled + np.diag(penalty**2))
        used = 1 + np.trace(scaled @ self._covariance @ scaled.T)  # by the level and, in part, by each coefficient
        squares = np.sum((targets - scaled @ self._coefficients) ** 2)
        self.noise = max(math.sqrt(squares / max(len(logs) - used, 1.0)), LEAST_NOISE)
        self._mean_variance = 1 / weights.sum()

    @property
    def exponents(self):
        """{size: its exponent}."""
        return dict(zip(self.sizes, self._coefficients.tolist(), strict=False))

    def estimate(self, asked):
        """The `Estimate` of a job with this `Work`."""
        apart = self._terms(asked) - self._center
        variance = 1 + self._mean_variance + apart @ self._covariance @ apart
        if asked.experiment not in self._experiments:
            variance += (EXPERIMENT_SPREAD / LEAST_NOISE) ** 2
        working = math.exp(self._level + float(apart @ self._coefficients))
        share = working / (self.startup + working)
        return Estimate(self.startup + working, share * self.noise * math.sqrt(variance), measured=False)

    def _terms(self, asked):
        # A size that these jobs did not have is one that the others have as 1.
        sizes = np.log([asked.sizes.get(size, 1.0) for size in self.sizes])
        return np.concatenate([sizes, [float(asked.experiment == name) for name in self._experiments]])


class Rates:
    """The laws of all kinds of jobs that were measured on one device."""

    def __init__(self, jobs):
        self._known, by_kind, by_rule = defaultdict(list), defaultdict(list), defaultdict(list)
        for job in jobs:
            self._known[job.work].append(job)
            by_kind[job.work.kind].append(job)
            by_rule[job.work.kind[0]].append(job.seconds)
        self.counts = {kind: len(alike) for kind, alike in sorted(by_kind.items())}
        self.fits = {kind: Fit(alike, min(by_rule[kind[0]])) for kind, alike in sorted(by_kind.items())}
        pooled = defaultdict(list)
        for kind, alike in by_kind.items():
            pooled[kind[:SOLVED_ALIKE]] += alike
        self._pooled = {kind: Fit(alike, min(by_rule[kind[0]])) for kind, alike in pooled.items()}
        self._of_rule = {rule: _middle(by_rule[rule]) for rule in MADE_OF_DATA if rule in by_rule}
        self._memory = {kind: max(job.megabytes for job in alike) for kind, alike in by_kind.items()}

    def estimate(self, asked):
        """The `Estimate` of a job with this `Work`; None where no job of its kind was measured.

        Of a protocol that costs otherwise and was not measured, others with its solver will do; of what is made of
        data, any job of the same rule, since their times hardly differ.
        """
        if asked in self._known:
            times = [job.seconds for job in self._known[asked]]
            return Estimate(sum(times) / len(times), 0.0, measured=True)
        if asked.kind in self.fits:
            return self.fits[asked.kind].estimate(asked)
        if asked.kind[:SOLVED_ALIKE] in self._pooled:
            return self._pooled[asked.kind[:SOLVED_ALIKE]].estimate(asked)
        return self._of_rule.get(asked.kind[0])

    def megabytes(self, asked):
        """Peak memory of this very job, else the largest of its kind: there it may be more. 0 where none is known."""
        if asked in self._known:
            return max(job.megabytes for job in self._known[asked])
        return self._memory.get(asked.kind, 0.0)


def _at_least_zero(rows, values, bounded):
    """The least squares solution whose `bounded` entries are at least 0."""
    free = rows[:, ~bounded]  # as a difference of two that are
    found = nnls(np.hstack([rows, -free]), values)[0]
    solution, less = np.split(found, [rows.shape[1]])
    solution[~bounded] -= less
    return solution


def _middle(seconds):
    """The geometric mean of times, and how far they lie about it."""
    logs = np.log(seconds)
    return Estimate(float(np.exp(logs.mean())), max(float(logs.std()), LEAST_NOISE), measured=False)
