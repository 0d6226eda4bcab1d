"""Published runs and their replay, run by run."""

import pandas as pd

from carryover.errors import UserError

RUN = ["published", "protocol", "main_features", "overlap", "unit_correlations", "magnitude", "rescale", "samples",
       "seed"]  # fmt: skip
"""What tells the published runs apart."""
NEAR = 0.01  # relative difference within which a risk is the published one
BATCH = 128  # samples of a step of ReLU networks; more samples are trained in batches
REPEATED = "rounded"  # what the roles of repetitions, from weights one rounding away, start with
SETUPS = {
    "single_task": "scratch",
    "finetuning": "finetuned",
    "multi_task": "multi_task",
    "single_task_probe": "fitted",
    "single_task_kernel": "fitted",
    "finetuning_probe": "fitted_pretrained",
    "finetuning_kernel": "fitted_pretrained",
}


def match_published(data):
    """Runs that were trained to their published ends, a data frame with `risk_published` and the relative `difference`.

    `data` is {role: dataset of replayed runs, or the data frame of published ones for the role "published"}. A `group`
    is a kind of network and a setup, such as "relu_finetuned", or "relu_batches": runs of more than `BATCH` samples,
    from scratch or finetuned. UserError where no run is in the table.
    """
    table = data["published"].fillna({"unit_correlations": ""})
    roles = [role for role in data if role != "published" and not role.startswith(REPEATED)]
    runs = pd.concat([data[role].to_dataframe() for role in roles], ignore_index=True)
    runs = runs[runs["finished"] == 1].assign(overlap=runs["overlap"].round(6), ours=runs.get("ours", ""))
    runs = runs.fillna({"ours": ""})
    rows = runs.merge(table, on=RUN).rename(columns={"risk": "risk_published"})
    if rows.empty:
        raise UserError("no run is in the table of published risks: name datasets of the family published.")
    setup = rows["protocol"].map(SETUPS)
    setup = setup.mask(rows["protocol"].str.endswith("_probe") & (rows.get("solver") == "descent"), "descended_probes")
    kind = rows["published"].replace("relu_magnitude", "magnitude").str.split("_").str[0]
    batches = (kind == "relu") & (rows["samples"] > BATCH) & setup.isin(("scratch", "finetuned"))
    group = (kind + "_" + setup).mask(batches, "relu_batches")
    return rows.assign(group=group, setup=setup, difference=rows["risk_best"] / rows["risk_published"] - 1)


def compare_rounding(data):
    """Runs that were repeated from weights one rounding away, in roles that start with `REPEATED`.

    Rows of `match_published` with the relative difference `own` of the repetition from the replay, and the `band`, the
    largest of these differences at a protocol, factor and n.
    """
    repetitions = {role.removeprefix(REPEATED): runs for role, runs in data.items() if role.startswith(REPEATED)}
    # Both are matched with the table, so that only runs that ended in both remain.
    rows = match_published(data)
    repeated = match_published({"published": data["published"], **repetitions})
    rows = rows.merge(repeated[[*RUN, "risk_best"]], on=RUN, suffixes=("", "_rounded"))
    rows["own"] = (rows["risk_best_rounded"] / rows["risk_best"] - 1).abs()
    return rows.assign(band=rows.groupby(["protocol", "rescale", "samples"])["own"].transform("max"))
