"""The published runs, drawn again from the authors' seeds, and their published risks, run by run (E10)."""

from functools import partial

import numpy as np
import pandas as pd

from carryover.claims.support.checks import checks
from carryover.errors import UserError
from carryover.statistics import intervals

RUN = [
    "published",
    "protocol",
    "main_features",
    "overlap",
    "unit_correlations",
    "magnitude",
    "rescale",
    "samples",
    "seed",
]
"""What tells the published runs apart."""
NEAR = 0.01  # relative difference within which a risk is the published one
BATCH = 128  # samples of a step of ReLU networks; more samples are trained in batches
SETUPS = {
    "scratch": ("single_task",),
    "finetuned": ("finetuning",),
    "multi_task": ("multi_task",),
    "fitted": ("single_task_probe", "single_task_kernel"),
    "fitted_pretrained": ("finetuning_probe", "finetuning_kernel"),
}


def replayed(data):
    """Runs of the datasets by role that were trained to their published ends, with the risk `risk_published` and the
    relative difference of ours from it, a data frame.

    UserError where no run is in the table, `published`.
    """
    table = data["published"].fillna({"unit_correlations": ""})
    if missing := sorted({*RUN, "risk"} - {*table.columns}):
        raise UserError(f"the table of published risks has no column {', '.join(missing)}: restore it.")
    runs = pd.concat([ours.to_dataframe().reset_index() for role, ours in data.items() if role != "published"])
    runs = runs[runs["finished"] == 1].assign(overlap=runs["overlap"].round(6), ours=runs.get("ours", ""))
    runs = runs.fillna({"ours": ""})
    rows = runs.merge(table, on=RUN).rename(columns={"risk": "risk_published"})
    if rows.empty:
        raise UserError("no run is in the table of published risks: name datasets of the family published.")
    kind = np.where(rows["published"].str.startswith("diagonal"), "diagonal", "relu")
    batches = (kind == "relu") & (rows["samples"] > BATCH) & (rows["published"] != "relu_magnitude")
    trained = rows["protocol"].isin(("single_task", "finetuning"))
    setup = rows["protocol"].map({protocol: name for name, protocols in SETUPS.items() for protocol in protocols})
    group = np.where(trained & batches, "relu_batches", kind + "_" + setup)
    return rows.assign(group=group, setup=setup, difference=rows["risk_best"] / rows["risk_published"] - 1)


def replay(data, p):
    """Roles: `published` (the table), and `risk` of runs of the family published, by any names.

    Statistics are over runs, those of networks from one pretraining as if they were independent.
    """
    rows = replayed(data)
    near = rows["difference"].abs() <= NEAR
    by_group = {name: own.to_numpy() for name, own in near.groupby(rows["group"])}
    return checks(by_group, partial(intervals.wilson, over="runs"))
