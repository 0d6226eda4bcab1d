"""Whether the bound of theorem 4.2 of "Finetuning with linear teachers" tells the risk, on random instances."""

from functools import partial

import numpy as np
import pandas as pd

from carryover.claims.support import checks
from carryover.statistics import intervals

BLOCKS = 20  # blocks of instances that statistics are means over
ORDERS = 0.5  # rank correlation from which on a bound orders the risk
BOUNDS = {"covariance": "the bound of eq 3", "benign_overfitting": "that of benign overfitting"}


@checks.group("theorem 4.2", estimate=partial(intervals.student, over="blocks of instances"))
def check(data, p):
    """Role: `curve` of curves.covariance_bound, whose second half counts, with the constant of its first.

    The theorem leaves its constant open, so that claims are about its shape: which instance has more risk, and how far
    risks are from a multiple of the bound, in decades. Instances differ in n, spectrum, and where the tasks differ.
    """
    curve = data["curve"]
    tested, c = curve.isel(instance=curve["half"].values == 1), float(curve["c"])
    logs = pd.DataFrame({
        "risk": np.log10(tested["risk"].values),
        "covariance": np.log10(c**3 * tested["top_unit"].values + c * tested["bottom_unit"].values),
        "benign_overfitting": np.log10(tested["benign_overfitting"].values),
        "alignment": tested["alignment"].values,
    })  # fmt: skip
    block = np.arange(len(logs)) * BLOCKS // len(logs)
    alike = logs.groupby([block, "alignment"])
    order = {name: _by_block(logs.groupby(block), _rank_correlation, name) for name in BOUNDS}
    within = {name: _by_block(alike, _rank_correlation, name).groupby(level=0).mean() for name in BOUNDS}
    spread = {name: _by_block(logs.groupby(block), _spread, name) for name in BOUNDS}
    guess = np.log10(logs.groupby(block)["risk"].std())
    ranks, residuals = "difference of rank correlations", "log₁₀ of a ratio of standard deviations of log₁₀ risk"
    return [
        ("orders", "Over n, spectra and differences of the tasks, the bound of eq 3 orders the risk of finetuning",
         order["covariance"], ORDERS, None, "rank correlation of bound and risk"),
        ("orders_benign", "The bound of eq 3 orders the risk better than that of benign overfitting",
         order["covariance"] - order["benign_overfitting"], 0.0, checks.OWN, ranks),
        ("orders_within", "Where tasks differ along the same eigenvectors, the bound of eq 3 orders the risk better "
         "than that of benign overfitting", within["covariance"] - within["benign_overfitting"], 0.0, checks.OWN,
         ranks),
        ("scales", "A multiple of the bound of eq 3 is nearer to the risk than a constant",
         guess - spread["covariance"], 0.0, checks.OWN, residuals),
        ("scales_benign", "A multiple of the bound of eq 3 is nearer to the risk than one of benign overfitting's",
         spread["benign_overfitting"] - spread["covariance"], 0.0, checks.OWN, residuals),
    ]  # fmt: skip


def _by_block(groups, statistic, name):
    return pd.Series({key: statistic(rows, name) for key, rows in groups})


def _rank_correlation(rows, name):
    return rows[[name, "risk"]].corr("spearman").iloc[0, 1]


def _spread(rows, name):
    """log₁₀ of the standard deviation of log₁₀ of the risk over a bound."""
    return np.log10((rows["risk"] - rows[name]).std())
