"""Tables of what predicts gains before training."""

import numpy as np
import pandas as pd

from carryover.analysis.forecasts import KINDS, NAMES, OURS, leave_settings_out, predictors, right, transfers
from carryover.config import plugins
from carryover.statistics import jackknife


@plugins.table()
def forecasts(data):
    """How well each predictor says whether pretraining helps: its share of right signs, and its rank correlation with
    the gain.

    Roles: transfers of families, as comparisons.forecasts makes them. Returns a data frame of texts, with intervals by
    the jackknife over groups of settings, on the half of the settings that chose no threshold. Where a predictor has no
    value, it guesses the more frequent sign; its rank correlation is over the transfers for which it has one.
    """
    table = transfers(data)
    known, values = right(table), {name: value for name, (value, _) in predictors(table).items()}
    reported = table[table["half"] == 1]
    rows = []
    for name in known:
        row = {"predictor": NAMES[name]}
        for kind, tuned in KINDS.items():
            of_kind = reported[reported["tuned"] == tuned]
            shares = leave_settings_out(of_kind, lambda part, name=name: known.loc[part.index, name].mean())
            row[f"{kind}, right"] = _in_words(shares, jackknife.PROPORTION)
            row[f"{kind}, order"] = row[f"{kind}, order in a family"] = ""
            if name in values:
                own = of_kind.assign(value=values[name]).dropna(subset="value")
                row[f"{kind}, order"] = _in_words(leave_settings_out(own, _order))
                row[f"{kind}, order in a family"] = _in_words(leave_settings_out(own, _order_in_families))
        rows.append(row)
    decided = {"predictor": f"{NAMES[OURS]}, where decided"}
    for kind, tuned in KINDS.items():
        of_kind = reported[(reported["tuned"] == tuned) & reported["decided"]]
        shares = leave_settings_out(of_kind, lambda part: known.loc[part.index, OURS].mean())
        decided[f"{kind}, right"] = _in_words(shares, jackknife.PROPORTION)
    return pd.DataFrame([decided, *rows]).reindex(columns=[*rows[0]]).fillna("")


def _order(rows):
    """Rank correlation of a predictor with the gain; NaN where either is constant."""
    if min(rows["value"].nunique(), rows["gain"].nunique()) < 2:
        return np.nan
    return rows["value"].corr(rows["gain"], method="spearman")


def _order_in_families(rows):
    return pd.Series([_order(own) for _, own in rows.groupby("family")]).mean()


def _in_words(values, scale=jackknife.DIFFERENCE):
    """The first of jackknife values with its interval."""
    found = jackknife.estimate(values, 0.0, scale, over="groups of settings")
    low, high = max(found["low"], -1), min(found["high"], 1)
    return f"{found['statistic']:.2f} ({low:.2f} to {high:.2f})".replace("-", "−") if np.isfinite(low) else ""
