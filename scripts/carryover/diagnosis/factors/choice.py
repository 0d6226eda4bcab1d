"""What a search of a factor found: a factor, whether it beats 1, and whether a learning rate does as much."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy import stats

CONFIDENCE = 0.95


class Interval(NamedTuple):
    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3g} [{self.low:.3g}, {self.high:.3g}]"


def interval(values: np.ndarray, confidence: float = CONFIDENCE) -> Interval:
    """Mean and t interval."""
    mean, error = values.mean(), values.std(ddof=1) / math.sqrt(len(values))
    reach = error * stats.t.ppf((1 + confidence) / 2, len(values) - 1)
    return Interval(float(mean), float(mean - reach), float(mean + reach))


@dataclass(frozen=True)
class Control:
    """The learning rate, as a multiple of the usual one, that the factor beats least clearly; it is tried without one.

    `gain` is that of the rate over the usual one, `lead` that of the factor over the rate, of seeds with no other part.
    """

    rate: float
    gain: Interval
    lead: Interval
    rates: tuple[float, ...]

    @property
    def explains(self) -> bool:
        """Whether the factor does not beat the rate beyond noise."""
        return self.lead.low <= 0

    def sentence(self) -> str:
        tried = ", ".join(f"{rate:g}" for rate in self.rates)
        if not self.explains:
            return (
                f"No learning rate does as much: of {tried} times the usual, {self.rate:g} times gains {self.gain}, "
                f"which the factor beats by {self.lead}."
            )
        if self.gain.low > 0:
            return f"A learning rate of {self.rate:g} times the usual does so, too: it gains {self.gain}."
        return (
            f"It is not told from a learning rate of {self.rate:g} times the usual, which gains {self.gain}: "
            f"the factor beats that by {self.lead}."
        )


@dataclass(frozen=True)
class Choice:
    """The result of a search.

    `curve` has a dimension `factor`: score (mean over seeds), low and high (95 % t intervals of the mean, with one
    spread over seeds for all factors, since most were tried with two), seeds, and how many of their scores were not
    finite, which count as the lowest of the search. `gain` is (mean, low, high) of the score with the chosen factor
    less that with 1, of the same fresh seeds: intervals that hold for both looks at them together. `trainings` is how
    many there were, `notes` what was worth a sentence on the way.
    """

    factor: float
    curve: xr.Dataset
    gain: Interval
    which: str
    control: Control | None = None
    trainings: int = 0
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """Whether all of the gain's interval says "helps" or "hurts"; else "undecided", and "none" at the factor 1.

        A factor that helps, and does not beat a learning rate beyond noise, is "rate".
        """
        if self.factor == 1:
            return "none"
        if self.gain.low > 0:
            return "rate" if self.control and self.control.explains else "helps"
        return "hurts" if self.gain.high < 0 else "undecided"

    @property
    def recommended(self) -> float:
        """The factor if it beats 1 beyond noise on fresh seeds, else 1."""
        return self.factor if self.verdict in ("helps", "rate") else 1.0

    def sentence(self) -> str:
        """The result in a sentence, and one more of learning rates where they were tried."""
        on = {"all": "all weights", "readout": "the readout's weights"}.get(self.which, "weights")
        if self.factor == 1:
            return f"No factor on {on} scored higher than 1 in validation: leave them as they are."
        said = {
            "helps": "beats 1 beyond noise",
            "rate": "beats 1 beyond noise",
            "hurts": "is worse than 1 on fresh seeds: leave the weights as they are",
            "undecided": "does not beat 1 beyond noise: leave the weights as they are, or try more seeds",
        }[self.verdict]
        tried = self.curve["factor"].values
        end = {min(tried): " No smaller one was tried.", max(tried): " No larger one was tried."}.get(self.factor, "")
        control = f" {self.control.sentence()}" if self.control else ""
        return f"A factor of {self.factor:g} on {on} gains {self.gain}; it {said}.{end}{control}"


def curve(scores: dict[float, np.ndarray], lost: dict[float, int]) -> xr.Dataset:
    """Scores by factor as the curve of a `Choice`; `lost`: how many were not finite."""
    interval_end = "end of the 95 % t interval of the mean, with one spread over seeds for all factors"
    meanings = {
        "score": "mean score in validation",
        "low": f"lower {interval_end}",
        "high": f"upper {interval_end}",
        "seeds": "seeds that the factor was tried with",
        "not_finite": "seeds whose score was not finite and counts as the lowest of the search",
        "factor": "factor on the weights before finetuning",
    }
    factors = sorted(scores)
    freedom = sum(len(values) - 1 for values in scores.values())
    spread = math.sqrt(sum(((values - values.mean()) ** 2).sum() for values in scores.values()) / freedom)
    reach = spread * stats.t.ppf((1 + CONFIDENCE) / 2, freedom)
    mean = np.array([scores[factor].mean() for factor in factors])
    seeds = np.array([len(scores[factor]) for factor in factors])
    not_finite = np.array([lost[factor] for factor in factors])
    columns = {"score": mean, "low": mean - reach / seeds**0.5, "high": mean + reach / seeds**0.5, "seeds": seeds}
    columns["not_finite"] = not_finite
    data = xr.Dataset({name: ("factor", column) for name, column in columns.items()}, coords={"factor": factors})
    for name, meaning in meanings.items():
        data[name].attrs = {"long_name": meaning, "units": "1"}
    return data
