"""What a search of a factor has found: the factor, its gain, and how it compares with learning rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy import stats

CONFIDENCE = 0.95
RATES = (0.5, 2.0, 4.0)  # learning rates, as multiples of the usual one


class Interval(NamedTuple):
    mean: float
    low: float
    high: float

    @classmethod
    def student(cls, values: np.ndarray, confidence: float = CONFIDENCE) -> Interval:
        """Mean and t interval of independent values."""
        mean, reach = values.mean(), stats.sem(values) * stats.t.ppf((1 + confidence) / 2, len(values) - 1)
        return cls(float(mean), float(mean - reach), float(mean + reach))

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

    @property
    def explains(self) -> bool:
        """Whether the factor does not beat the rate beyond noise."""
        return self.lead.low <= 0

    def sentence(self) -> str:
        lead = f"the factor beats that by {self.lead}."
        if not self.explains:
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
    gain : of the factor over 1 on fresh seeds; the interval holds for both looks at them together
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
        """Whether the whole interval of the gain "helps" or "hurts", or is "undecided"; "none" at the factor 1.

        A factor that helps and does not beat a learning rate beyond noise is "rate".
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
