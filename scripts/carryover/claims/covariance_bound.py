"""Whether the bound of theorem 4.2 of "Finetuning with linear teachers" tells the risk, on random instances."""

from functools import partial

import numpy as np
import pandas as pd

from carryover.claims.support.checks import checks
from carryover.statistics.intervals import student

BLOCKS = 20  # blocks of instances that statistics are means over


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
    blocks = logs.groupby(np.arange(len(logs)) * BLOCKS // len(logs))
    alike = logs.groupby([np.arange(len(logs)) * BLOCKS // len(logs), "alignment"])
    order, within, spread = {}, {}, {}
    for name in ("covariance", "benign_overfitting"):
        order[name], spread[name] = _by_group(blocks, _rank_correlation, name), _by_group(blocks, _spread, name)
        within[name] = _by_group(alike, _rank_correlation, name).groupby(level=0).mean()
    found = {
        "orders": order["covariance"],
        "orders_benign": order["covariance"] - order["benign_overfitting"],
        "orders_within": within["covariance"] - within["benign_overfitting"],
        "scales": np.log10(blocks["risk"].std()) - spread["covariance"],
        "scales_benign": spread["benign_overfitting"] - spread["covariance"],
    }
    return checks(found, partial(student, over="blocks of instances"))


def _by_group(groups, statistic, name):
    return pd.Series({key: statistic(rows, name) for key, rows in groups})


def _rank_correlation(rows, name):
    return rows[[name, "risk"]].corr("spearman").iloc[0, 1]


def _spread(rows, name):
    """log₁₀ of the standard deviation of log₁₀ of the risk over a bound."""
    return np.log10((rows["risk"] - rows[name]).std())
