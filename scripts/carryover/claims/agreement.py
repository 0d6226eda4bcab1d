"""Trained networks end where the exact limit says, and descent where the flow goes (E1); and our risks and those
published for "Feature reuse …" agree (B9), which tests our reproduction, and which of a network's risks was published.

The table of resources/published/ has the risk of each seed. Risks span powers of ten near the transition, so logarithms
are compared. The published seeds can be drawn again (family `published`), so their risks are compared run by run.
"""

from functools import partial

import numpy as np
import pandas as pd
import xarray as xr

from carryover.claims.support.checks import Check, checks
from carryover.claims.support.runs import matched
from carryover.claims.support.transferability import at_critical, transferability
from carryover.errors import UserError
from carryover.runs import coordinates
from carryover.statistics import intervals

FLOW = 1e-3  # largest relative distance of the adaptive flow from the exact limit, and of deep linear networks
DESCENT = 1e-2  # largest relative distance of gradient descent, and of its risk at the smallest learning rate
SMALLEST = 1e-12  # distance that rounding leaves of one that vanishes
ERROR = 0.005  # difference in the share of misclassified images that counts as none
CELLS = {
    "diagonal": ["experiment", "protocol", "main_features", "overlap", "rescale", "samples"],
    "relu": ["experiment", "protocol", "main_features", "unit_correlations", "magnitude", "rescale", "samples"],
}
"""Published experiment, and coordinates of our runs, that tell the cells of a family apart."""
RISKS = ("risk_final", "risk_best")
NEAR = 2  # standard errors within which a risk agrees with the published one
FLOOR = 1e-8  # smaller published risks are left out: the stopping loss sets them
ROLES = {"overlap": "overlap", "nested": "nested", "rescaled": "nested", "magnitude": "correlation_magnitude"}
"""{last word of a published experiment: role of the dataset of our own experiment}."""
GROUPS = {
    "scratch": ("single_task",),
    "finetuned": ("finetuning",),
    "multi_task": ("multi_task",),
    "probes": ("single_task_probe", "finetuning_probe"),
    "kernels": ("single_task_kernel", "finetuning_kernel"),
}


def distances(coefficients):
    """Relative distances ‖β − β_exact‖ / ‖β_exact‖ of the runs that were not solved exactly.

    `coefficients` is a dataset of `coefficients` (run, input), the result one of `distance` (run,) of these runs.
    """
    rows = xr.Dataset({"row": ("run", np.arange(coefficients.sizes["run"]))}, coordinates(coefficients))
    both = simulated(rows, "exact").sort_values("solver", kind="stable")
    solutions, limits = (coefficients["coefficients"].values[both[row]] for row in ("row", "row_other"))
    norm = np.linalg.norm
    relative = [norm(beta - limit) / norm(limit) for beta, limit in zip(solutions, limits, strict=True)]
    return xr.Dataset({"distance": ("run", np.array(relative))}, coordinates(coefficients.isel(run=both["row"])))


def converged_distances(coefficients, risk):
    """`distances` of the runs that have converged, as the dataset of risks of the same runs says."""
    table = matched(distances(coefficients), risk[["converged"]])
    return table[table["converged_other"] == 1]


def relative_differences(risk, reference, *ignored):
    """`simulated` runs with the `difference` |r / r_reference − 1| of their risk from that of the reference."""
    both = simulated(risk, reference, *ignored)
    return both.assign(difference=(both["risk_final"] / both["risk_final_other"] - 1).abs())


def simulated(data, reference, *ignored):
    """The runs of all solvers but the reference, each with the reference's run at the same coordinates: `matched`."""
    runs, others = (data.isel(run=chosen) for chosen in (data["solver"] != reference, data["solver"] == reference))
    return matched(runs, others, ("solver", *ignored), f"run of the solver {reference} to compare with")


def exact_limit(data, p):
    """Role: `coefficients` of diagonal networks solved and simulated. Statistics are in decades of relative distance.

    The symmetric penalty is that of eq 22, which pretrained networks do not minimise.
    """
    table = distances(data["coefficients"]).to_dataframe()
    worst = table.groupby(["solver", "seed"])["distance"].max()
    finetuned = table[table["protocol"] == "finetuning"].groupby(["solver", "seed"])["distance"].median()
    return checks({
        "flow_exact": np.log10(FLOW / worst["flow"]),
        "descent_exact": np.log10(DESCENT / worst["descent"]),
        "not_symmetric": np.log10(finetuned["symmetric"] / finetuned["descent"]),
    })  # fmt: skip


def linear_limit(data, p):
    """Roles: `coefficients` and `risk` of deep linear networks solved and simulated. Distances are in decades.

    After pretraining, features are of rank one and along the source (theorem 3.4 of "Features are fate").
    """
    table, risk = converged_distances(data["coefficients"], data["risk"]), data["risk"].to_dataframe()
    worst = table.groupby(["solver", "seed"])["distance"].max().clip(lower=SMALLEST)
    pretrained = risk[(risk["pretrain_solver"] == "descent") & risk["feature_share"].notna()]
    along = pretrained["feature_share"] * pretrained["feature_alignment"] ** 2
    linear, tuned = (transferability(data["risk"], protocol).query("solver == 'descent'")
                     for protocol in ("linear_transfer", "finetuning"))  # fmt: skip
    more = tuned[tuned["gamma"] > 1].pivot_table("transferability", "seed", "gamma").abs()
    return checks({
        "descent": np.log10(FLOW / worst.xs("descent")),
        "balanced": np.log10(FLOW / worst.xs("balanced")),
        "sparse_features": along.groupby(pretrained["seed"]).min(),
        "anomalous_stopped": Check(at_critical(linear), intervals.median),
        "forgotten_stopped": -more.max(axis=1),
    })  # fmt: skip


def relu_flow(data, p):
    """Role: `risk` of ReLU networks by flow and by descent with several learning rates. Statistics are in decades.

    Differences of risks are relative. Runs that did not reach their learning rate or their tolerance are included.
    """
    table = relative_differences(data["risk"][["risk_final", "learning_rate"]], "flow", "learning_rate")
    by_rate = table.groupby(["learning_rate", "seed"])["difference"]
    largest_difference, median_difference = by_rate.max(), by_rate.median()
    low, high = table["learning_rate"].min(), table["learning_rate"].max()
    return checks({
        "descent_follows": np.log10(DESCENT / largest_difference[low]),
        "steps_shrink": np.log10(median_difference[high] / median_difference[low]),
    }, smallest=low, largest=high)  # fmt: skip


def image_pairs(data, p):
    """Role: `risk` of pairs of image tasks, solved exactly and by descent. Only converged runs of descent count."""
    both = simulated(data["risk"][["risk_final", "converged"]], "exact")
    both = both[both["converged"] == 1]
    difference = (both["risk_final"] - both["risk_final_other"]).abs().groupby(both["seed"]).max()
    return checks({"descent": ERROR - difference})


def published_risk(data, p):
    """Roles: `published` (the table), and per published experiment (`overlap`, `nested`, `correlation_magnitude`) our
    risk dataset.

    Statistics are over cells, which share seeds and are taken as independent.
    """
    cells = compared(data, p.family)
    near, trained = agreeing(cells["z_best"].fillna(cells["z_final"])), cells["z_best"].notna()
    nearer = near[trained].astype(float) - agreeing(cells["z_final"][trained])
    statistics = {"all": near, "smallest": Check(nearer, partial(intervals.student, over="cells"))}
    for name, protocols in GROUPS.items():
        if (in_group := cells["protocol"].isin(protocols)).any():
            statistics[name] = near[in_group]
    return checks(statistics, intervals.wilson)


def compared(data, family):
    """Our risks and the published ones of a family, data by role as for `published_risk`, where both have a cell.

    A data frame with the columns of a cell, `published` (geometric mean), and ours and z-scores at the end of training
    and at the smallest risk: `ours_final`, `z_final`, `ours_best`, `z_best`. Networks that were fitted, not trained,
    have no smallest risk: NaN. UserError if both sides share no cell of two seeds or more.
    """
    columns = [*CELLS[family], "published"]
    final, best = (z_scores(data, family, quantity)[[*columns, "ours", "z"]] for quantity in RISKS)
    if final.empty:
        raise UserError(f"no published cell of {family} networks is among these runs, with two seeds or more.")
    return final.merge(best, on=columns, how="left", suffixes=("_final", "_best"))


def agreeing(z):
    """Whether z-scores, a Series or data frame, are within `NEAR` standard errors."""
    return z.abs() < NEAR


def z_scores(data, family, quantity):
    """Differences of mean log risks in standard errors (Welch), one row per cell that both sides have, above `FLOOR`.

    Data are by role as for `published_risk`. The quantity of our runs may be NaN. Columns of the data frame are those
    of a cell, `ours` and `published` (geometric means) and `z`. If one seed was published, the spread is that over our
    seeds.
    """
    cell, table = CELLS[family], data["published"]
    theirs = table[table["published"].str.startswith(family)].fillna({"unit_correlations": ""})
    theirs = moments(theirs.assign(experiment=theirs["published"].str.split("_").str[-1].map(ROLES)), "risk", cell)
    runs = pd.concat([runs.to_dataframe().reset_index().assign(experiment=experiment)
                      for experiment, runs in data.items() if experiment != "published"])  # fmt: skip
    # a network solved in two ways counts once
    ours = moments(runs.groupby([*cell, "seed"], as_index=False)[quantity].mean().dropna(), quantity, cell)
    rows = theirs.merge(ours[ours["count"] > 1], on=cell, suffixes=("_theirs", "_ours"))
    spread = rows["std_theirs"].where(rows["count_theirs"] > 1, rows["std_ours"])
    error = np.sqrt(spread**2 / rows["count_theirs"] + rows["std_ours"] ** 2 / rows["count_ours"])
    rows = rows.assign(published=np.exp(rows["mean_theirs"]), ours=np.exp(rows["mean_ours"]),
                       z=(rows["mean_ours"] - rows["mean_theirs"]) / error)  # fmt: skip
    return rows[rows["published"] > FLOOR]


def moments(runs, quantity, cell):
    """Mean, standard deviation and number (`mean`, `std`, `count`) of the log quantity over the seeds of each cell."""
    logs = runs.assign(log=np.log(runs[quantity]))
    return logs.groupby(cell)["log"].agg(["mean", "std", "count"]).reset_index()
