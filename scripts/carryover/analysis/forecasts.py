"""Forecasts of gains next to other predictors of them, by transfer."""

import numpy as np
import pandas as pd

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
    """The transfers of all families, {role: a dataset by `comparisons.forecasts`}, as a data frame with their `family`,
    whether they are `decided`, `tuned` (finetuned), and their `group` of settings, below `GROUPS`."""
    frames = [each.to_dataframe().reset_index(drop=True).assign(family=each.attrs["forecast_family"])
              for each in data.values()]  # fmt: skip
    table = pd.concat(frames, ignore_index=True)
    excludes = (table["low"] > 0) | (table["high"] < 0)
    table["decided"] = excludes & (np.sign(table["fitted"]) == np.sign(table["predicted"]))
    table["tuned"] = table["protocol"] == "finetuning"
    table["group"] = pd.factorize(table["family"] + table["setting"])[0] % GROUPS
    return table


def predictors(table):
    """{predictor: (values (transfers,), threshold above which a gain is expected, None to be chosen)}.

    Scores are those of the pretrained features, and the same less that of features drawn anew, whose zero is natural.
    Those of classifiers are left out where no network was pretrained as one.
    """
    found = {OURS: (table["predicted"], 0.0), "readout": (table["forecast"], None)}
    for name in [*SCORES, *(name for name in CLASSIFIER_SCORES if f"score_{name}" in table)]:
        found[name] = table[f"score_{name}"], None
        found[f"{name}_beyond"] = table[f"score_{name}"] - table[f"score_{name}_fresh"], 0.0
    return found


def right(table):
    """A data frame (transfers, predictors): 1 where the sign of the gain is predicted, else 0; NaN in the first half.

    Thresholds, where they are not 0, are those that are right most often in the first half, of linear transfers and of
    finetuning apart, and so is the more frequent sign. Where a predictor has no value it guesses that sign.
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
            cut = best_threshold(values[kind & first], gains[kind & first]) if threshold is None else threshold
            positive[kind] = values[kind] > cut
        result[name] = positive == gains
    return result.astype(float).where(~first)


def best_threshold(values, gains):
    """The value above which to expect a gain is right most often; −∞ of no values."""
    order = np.argsort(values.to_numpy(), kind="stable")
    found, positive = values.to_numpy()[order], gains.to_numpy()[order]
    # Right at the threshold found[k − 1], with k below it: losses among the first k, gains among the others.
    counts = np.concatenate([[0], np.cumsum(~positive)]) + positive.sum() - np.concatenate([[0], np.cumsum(positive)])
    last = np.concatenate([[True], found[1:] != found[:-1], [True]])[: len(counts)]  # equal values are on one side
    place = np.where(last, counts, -1).argmax()
    return found[place - 1] if place else -np.inf


def leave_settings_out(table, statistic):
    """(1 + GROUPS,) values of a statistic of the table, then leaving out each group of settings."""
    return np.array([statistic(table), *(statistic(table[table["group"] != group]) for group in range(GROUPS))])
