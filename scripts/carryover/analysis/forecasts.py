"""Forecasts of gains next to other predictors of them, by transfer."""

import numpy as np
import pandas as pd

from carryover.analysis.atlas import best_threshold
from carryover.measures.forecast import CLASSIFIER_SCORES, SCORES

OURS, CONSTANT = "forecast", "constant"
NAMES = (
    {OURS: "carryover.forecast", CONSTANT: "the more frequent sign", "readout": "R² of a readout, samples left out"}
    | {name: meaning.partition(",")[0] for name, meaning in (SCORES | CLASSIFIER_SCORES).items()}
    | {f"{name}_beyond": f"{meaning.partition(',')[0]}, beyond features drawn anew" for name, meaning in SCORES.items()}
    | {f"{name}_beyond": f"{meaning}, beyond a classifier drawn anew" for name, meaning in CLASSIFIER_SCORES.items()}
)
"""{predictor: what it is}."""
GROUPS = 10  # groups of settings of which each is left out in turn
KINDS = {"linear transfer": False, "finetuning": True}
"""{kind of transfer: whether it is finetuning}."""


def transfers(data):
    """One data frame of the transfers of all families, from {role: dataset by `comparisons.forecasts`}.

    It has the further columns `family`; `decided`, whether the forecast of the gain has the same sign in its whole
    interval and without a penalty; `tuned`, whether the transfer is finetuning; and `group`, the number of a group of
    settings, below `GROUPS`, which a jackknife leaves out.
    """
    frames = [each.to_dataframe().reset_index(drop=True).assign(family=each.attrs["forecast_family"])
              for each in data.values()]  # fmt: skip
    table = pd.concat(frames, ignore_index=True)
    excludes = (table["low"] > 0) | (table["high"] < 0)
    table["decided"] = excludes & (np.sign(table["fitted"]) == np.sign(table["predicted"]))
    table["tuned"] = table["protocol"] == "finetuning"
    table["group"] = pd.factorize(table["family"] + table["setting"])[0] % GROUPS
    return table


def predictors(table):
    """{predictor: (values, threshold)} of the transfers in `table`, by `transfers`.

    Values (transfers,) above the threshold predict a gain; the threshold is None if it is to be chosen from data.
    Scores are those of the pretrained features and, as `<score>_beyond`, the same minus that of features with random
    weights, for which 0 is the natural threshold. Scores of classifiers need a network that was pretrained as one.
    """
    found = {OURS: (table["predicted"], 0.0), "readout": (table["forecast"], None)}
    for name in [*SCORES, *(name for name in CLASSIFIER_SCORES if f"score_{name}" in table)]:
        found[name] = table[f"score_{name}"], None
        found[f"{name}_beyond"] = table[f"score_{name}"] - table[f"score_{name}_fresh"], 0.0
    return found


def right(table):
    """Data frame (transfers, predictors): 1 where a predictor has the sign of the gain right, else 0.

    The first half of the settings serves to choose, and is NaN in the result. For linear transfers and for finetuning
    separately, it gives the more frequent sign, which predictors without a value guess, and the thresholds that are
    right most often, for predictors without a natural one.
    """
    gains, first = table["gain"] > 0, table["half"] == 0
    result = pd.DataFrame(index=table.index)
    guess = pd.Series(False, table.index)
    for tuned in KINDS.values():
        kind = table["tuned"] == tuned
        guess[kind] = gains[kind & first].mean() > 0.5
    result[CONSTANT] = guess == gains
    for name, (values, threshold) in predictors(table).items():
        positive = guess.copy()
        for tuned in KINDS.values():
            kind = (table["tuned"] == tuned) & values.notna()
            cut, known = threshold, table[kind & first].assign(value=values)
            if cut is None:
                cut = best_threshold([known], "value").item() if len(known) else -np.inf
            positive[kind] = values[kind] > cut
        result[name] = positive == gains
    return result.astype(float).where(~first)


def leave_settings_out(table, statistic):
    """(1 + GROUPS,) values of a statistic of the table, then leaving out each group of settings."""
    return np.array([statistic(table), *(statistic(table[table["group"] != group]) for group in range(GROUPS))])
