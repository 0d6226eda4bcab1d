"""What the penalty of ReLU units predicts for the risk of finetuning: Fig. 1c of "The implicit penalty" (A3)."""

import numpy as np
import pandas as pd

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs
from carryover.errors import UserError
from carryover.statistics.correlation import rank_correlation_by_row

SAMPLES = 256  # fewest main-task samples from which on networks are compared
DEARER = 1.25  # factor by which a pretrained unit must cost more than a new one where it is predicted to hurt


def check(data, p):
    """Roles: `risk` over correlation and magnitude, and `penalty`, the measure `displacement` of finetuned networks.

    Each statistic is a mean over all numbers of samples from `SAMPLES` on, by seed, but of `order`, which is a rank
    correlation. Raises UserError where there are no so many samples.
    """
    every, penalty = Runs("risk", data["risk"]), Runs("penalty", data["penalty"])
    sizes = [n for n in every.sizes() if n >= SAMPLES]
    if not sizes:
        raise UserError(f"this claim needs {SAMPLES} samples or more of the role risk, not {every.sizes()[-1]:g}.")
    low, high = every.extremes("correlation")
    small, large = every.extremes("magnitude")

    def benefit(correlation, magnitude, trained):
        """log₁₀ of the risk of STL over that of PT+FT; `trained` is the one whose training must be done."""
        cell = {"correlation": correlation, "magnitude": magnitude}
        over, of = (
            pd.DataFrame({n: every.risk(trained == name, protocol=name, samples=n, **cell) for n in sizes})
            for name in ("single_task", "finetuning")
        )
        return (over - of).mean(axis=1, skipna=False)

    def saving(correlation, magnitude):
        """log₁₀ of the penalty of a new unit over that of the pretrained one."""
        cell = penalty.where(correlation=correlation, magnitude=magnitude)
        new, paired = ([np.log10(cell.by_seed(name, samples=n)) for n in sizes]
                       for name in ("penalty_new", "penalty_paired"))  # fmt: skip
        return sum(one - other for one, other in zip(new, paired, strict=True)) / len(sizes)

    cells = [(c, m) for c in every.options("correlation") for m in every.options("magnitude")]
    saved = pd.DataFrame({cell: saving(*cell) for cell in cells})
    gained = pd.DataFrame({cell: benefit(*cell, "finetuning") for cell in cells})
    hurt = gained.loc[:, saved.mean() < -np.log10(DEARER)]
    lost_by_small = benefit(high, small, "single_task") - benefit(low, small, "finetuning")
    lost_by_large = benefit(high, large, "finetuning") - benefit(low, large, "single_task")
    found = {
        "shared": benefit(high, small, "single_task"),
        "reversal": -hurt.mean(axis=1, skipna=False),
        "no_reversal": benefit(low, large, "single_task"),
        "loss_of_benefit": lost_by_small - lost_by_large,
        "order": rank_correlation_by_row(saved, gained),
    }
    return checks(found, low=low, high=high, small=small, large=large, fewest=sizes[0])
