"""Whether pretraining helps and hurts where theory predicts it, on the maps of several families.

Each check takes {role: map, a dataset over `pair` by `comparisons.atlas`} and returns {name: `Check`}. A cell of a map
is a protocol, setting, row and number of samples; `analysis.atlas.cells` makes the data frame with a row for each.
Jackknife values are those of all seeds, then leaving out each group of seeds in turn.
"""

from functools import partial

import numpy as np
import pandas as pd

from carryover.analysis.atlas import (
    ROUNDING,
    best_threshold,
    by_seed,
    cells,
    leave_one_family_out,
    leave_seeds_out,
    order,
    select_finetuned,
    share_right,
)
from carryover.claims.support.checks import Check, checks
from carryover.config import plugins
from carryover.statistics import jackknife

ORDERS = {"predicted": "predicted", "similarity": "similarity", "readout": "probe_r_squared",
          "alignment": "target_alignment"}  # fmt: skip
"""{check: column of the maps}; each check is on how well the column orders gains."""
FEATURES = ["probe_r_squared", "target_alignment"]  # columns that are compared over the families that have both
SHARES = ["side", "precision", "recall"]


@plugins.check()
def atlas(data):
    """Roles: maps of families, as comparisons.atlas makes them; checks are named after them.

    For each map with a prediction, `scores` of all settings, with intervals by the jackknife over seeds.
    """
    results: dict = {}
    for role, pairs in data.items():
        for protocol, frame in by_seed(pairs).groupby("protocol"):
            if frame["predicted"].notna().any():
                name, transfer = (role, "finetuning") if protocol == "finetuning" else (
                    f"{role}_transfer", "linear transfer")  # fmt: skip
                # Cells of all seeds (tables[0]), then leaving out each seed: the jackknife takes scores of each.
                tables = leave_seeds_out([frame], lambda parts: cells(*parts).dropna(subset="predicted"))
                # The sign that fewer decided cells have: to predict it is harder than to predict the common one.
                rarer = -1.0 if (tables[0].dropna(subset="right")["gain"] > 0).mean() > 0.5 else 1.0
                values = pd.DataFrame([scores(table, rarer) for table in tables])
                results |= checks(
                    {f"{name}_{check}": Check(of_check, partial(over_seeds, share=check in SHARES))
                     for check, of_check in values.items()},
                    family=pairs.attrs["map_family"], transfer=transfer, theory=pairs.attrs["map_theory_is"],
                    sign="gain" if rarer > 0 else "loss", open=tables[0]["open"].sum(), cells=len(tables[0]),
                )  # fmt: skip
    return results


def over_seeds(values, bound, share):
    """An estimate against `bound` by the jackknife over seeds of `values` (1 + seeds,), a share or not; another number
    has no interval if no seed changes it."""
    found = jackknife.estimate(values, bound, jackknife.PROPORTION if share else jackknife.DIFFERENCE, "seeds")
    return found if share or found["low"] < found["high"] else found | {"low": np.nan, "high": np.nan}


def scores(table, rarer):
    """{check: number}: how well the prediction fits the cells of a map; NaN without a decided cell.

    `table` is a data frame by `cells`: `gain`, `predicted`, `similarity`, `setting` and `right`, NaN if undecided.
    `rarer` is the sign, 1 or −1, of the gains that are rarer.

    Of decided cells, `side` is the share with the predicted sign. `precision` is that of the cells with the predicted
    sign `rarer` that have it, `recall` that of those with this sign in which it is predicted. `constant` and
    `similarity` are `side` less what the best constant and, in each setting, the best threshold on the similarity get
    right. Of all cells with finite numbers, `r_squared` is 1 − Σ(gain − predicted)² / Σ(gain − mean)², and `slope` that
    of gains over predictions.
    """
    known = table.dropna(subset="right")
    is_rarer, named = rarer * known["gain"] > 0, rarer * known["predicted"] > ROUNDING
    side, gains = known["right"].mean(), (known["gain"] > 0).mean()
    # Number of cells that the best threshold of each setting gets right.
    similar = [len(part) * share_right([part], "similarity", best_threshold([part], "similarity"))[0]
               for _, part in known.groupby("setting")]  # fmt: skip
    finite = table[np.isfinite(table["predicted"] + table["gain"])]
    gain, predicted = finite["gain"], finite["predicted"]
    return {
        "side": side,
        "precision": is_rarer[named].mean(),
        "recall": named[is_rarer].mean(),
        "constant": side - max(gains, 1 - gains),
        "similarity": side - sum(similar) / len(known) if similar else np.nan,
        "r_squared": 1 - ((gain - predicted) ** 2).sum() / ((gain - gain.mean()) ** 2).sum(),
        "slope": gain.cov(predicted) / predicted.var(),
    }


@plugins.check()
def atlas_orders(data):
    """Roles: maps of families, as comparisons.atlas makes them; those with a prediction are compared.

    Rank correlations of predictors with the gain of finetuning, means over families. And the share of decided cells
    whose sign a threshold on the prediction, or on the similarity, gives. Other families choose the threshold, so that
    it is tested on data that it was not fitted to.
    """
    # Data frames with a row for each cell and seed: of all protocols, of finetuning, and with both `FEATURES`.
    maps = [by_seed(pairs) for pairs in data.values() if pairs["predicted"].notnull().any()]
    tuned = [frame for frame in map(select_finetuned, data.values()) if frame["predicted"].notna().any()]
    features = [frame for frame in tuned if frame.reindex(columns=FEATURES).notna().any().all()]

    def of_others(frames, column):
        return leave_one_family_out([cells(frame).dropna(subset="right") for frame in frames], column)

    results = {}
    for name, column in ORDERS.items():
        if len(compared := features if column in FEATURES else tuned) > 1:
            results[name] = np.array(leave_seeds_out(compared, partial(order, column=column)))
    if results:
        results["better"] = results["predicted"] - results["similarity"]
    for column in ("predicted", "similarity") if len(maps) > 1 else ():
        results[f"left_out_{column}"] = leave_seeds_out(maps, partial(of_others, column=column))
    return checks(results, partial(jackknife.estimate, over="groups of seeds"))
