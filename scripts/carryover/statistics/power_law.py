"""Power laws R ≈ A n^−ν of risks in the number of samples ("Features are fate", Fig. 3c)."""

from dataclasses import dataclass

import numpy as np

from carryover.errors import UserError
from carryover.statistics import jackknife


@dataclass(frozen=True)
class PowerLaw:
    """Amplitude A, exponent ν, and the ends of its 95 % jackknife interval over draws, NaN for one draw."""

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


def fit(table, smallest=0):
    """Least squares of the log of the mean over draws on log n.

    Parameters
    ----------
    table : pandas.DataFrame, shape (draws, numbers of samples)
        Positive risks; the columns are n.
    smallest : int
        Smallest n that is fitted.

    Returns
    -------
    PowerLaw

    Raises
    ------
    UserError
        For fewer than two n, or a risk that is not positive.
    """
    table = table[[n for n in table if n >= smallest]]
    if table.shape[1] < 2 or not (table.to_numpy() > 0).all():
        raise UserError(f"a power law needs positive risks at two numbers of samples or more from n = {smallest:g} on.")
    log_n, risks = np.log(table.columns.to_numpy(dtype=float)), table.to_numpy()
    means = jackknife.leave_one_out(lambda draws: risks[draws].mean(0), range(len(risks)))
    slopes, offsets = np.polyfit(log_n, np.log(means).T, 1)
    exponent = jackknife.estimate(-slopes, 0.0, over="draws")
    return PowerLaw(float(np.exp(offsets[0])), exponent["statistic"], exponent["low"], exponent["high"])
