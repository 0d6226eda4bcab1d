"""Power laws R ≈ A n^−ν of risks in the number of samples, with the uncertainty that draws leave ("Features are fate",
Fig. 3c)."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from carryover.analysis import jackknife
from carryover.errors import UserError


@dataclass(frozen=True)
class PowerLaw:
    """amplitude A, exponent ν, and the ends of its 95 % interval by the jackknife over draws, NaN of one draw."""

    amplitude: float
    exponent: float
    low: float
    high: float

    def __call__(self, samples):
        """A n^−ν."""
        return self.amplitude * np.asarray(samples, dtype=float) ** -self.exponent

    def samples(self, risk):
        """The number of samples at which the law has this risk."""
        return (self.amplitude / np.asarray(risk, dtype=float)) ** (1 / self.exponent)


def local_exponents(table):
    """{n: exponent between two neighbouring numbers of samples}, at their geometric mean: {n: `PowerLaw`} as `fit`."""
    sizes = sorted(table)
    return {float(np.sqrt(low * high)): fit(table[[low, high]]) for low, high in pairwise(sizes)}


def window(table, smallest):
    """`fit` to the numbers of samples from `smallest` on; UserError for fewer than two of them."""
    sizes = [n for n in table if n >= smallest]
    if len(sizes) < 2:
        raise UserError(f"a power law needs risks at two numbers of samples or more from n = {smallest:g} on.")
    return fit(table[sizes])


def fit(table):
    """`PowerLaw` by least squares of the log of the mean over draws on log n.

    table : DataFrame of positive risks, a row for each draw and a column for each n. ValueError for fewer than two n.
    """
    if table.shape[1] < 2 or not (table.to_numpy() > 0).all():
        raise ValueError("a power law needs positive risks at two numbers of samples or more")
    log_n, risks = np.log(table.columns.to_numpy(dtype=float)), table.to_numpy()
    means = [risks.mean(0), *(np.delete(risks, draw, 0).mean(0) for draw in range(len(risks)) if len(risks) > 1)]
    slopes, offsets = np.polyfit(log_n, np.log(means).T, 1)
    found = jackknife.estimate(-slopes, "", 0.0, over="draws")
    return PowerLaw(float(np.exp(offsets[0])), found["statistic"], found["low"], found["high"])
