"""Multiple testing, equivalence, and the number of seeds that a test needs."""

import numpy as np
from scipy import optimize, stats

from carryover.statistics.intervals import LEVEL

POWER = 0.8
MOST_SEEDS = 10_000
LARGEST_EFFECT = 1e6
"""Effect, in standard deviations, that two seeds show at any level; beyond it the noncentral t is lost to rounding."""


def holm(p_values):
    """P-values adjusted for multiple testing by Holm's procedure (1979).

    Parameters
    ----------
    p_values : array_like, shape (n,)
        NaN are no tests, and remain.

    Returns
    -------
    numpy.ndarray, shape (n,)
    """
    p_values = np.array(p_values, dtype=float)
    order = np.argsort(p_values)[: np.isfinite(p_values).sum()]  # NaN come last
    p_values[order] = np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1)).clip(max=1)
    return p_values


def power(seeds, effect, level=LEVEL):
    """Probability that a two-sided t-test of so many seeds decides in the right direction (noncentral t)."""
    return stats.nct.sf(stats.t.ppf(1 - level / 2, seeds - 1), seeds - 1, effect * np.sqrt(seeds))


def seeds_needed(effect, level=LEVEL):
    """Fewest seeds with which a two-sided t-test decides with the probability `POWER`.

    Parameters
    ----------
    effect : float
        Distance of the mean from the bound in standard deviations.
    level : float
        Significance level.

    Returns
    -------
    float
        Infinite if `MOST_SEEDS` are not enough, NaN if the effect is.
    """
    if np.isnan(effect):
        return np.nan
    effect = min(effect, LARGEST_EFFECT)
    if power(MOST_SEEDS, effect, level) < POWER:
        return np.inf
    if power(2, effect, level) >= POWER:
        return 2.0
    return float(np.ceil(optimize.brentq(lambda seeds: power(seeds, effect, level) - POWER, 2, MOST_SEEDS)))


def seeds_needed_by_signs(share, level=LEVEL):
    """As `seeds_needed`, for a sign test of which this share of values lies on the median's side of the bound."""
    seeds = np.arange(1, MOST_SEEDS + 1)
    critical = stats.binom.ppf(level / 2, seeds, 0.5)  # largest significant count of the rarer sign, or one above it
    critical -= stats.binom.cdf(critical, seeds, 0.5) > level / 2
    enough = np.flatnonzero(stats.binom.cdf(critical, seeds, 1 - share) >= POWER)
    return float(seeds[enough[0]]) if len(enough) else np.inf
