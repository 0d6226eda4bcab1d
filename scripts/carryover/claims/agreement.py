"""Trained networks end where the exact limit says, and descent where the flow goes (E1)."""

import numpy as np
import xarray as xr

from carryover.claims.support.checks import Check, checks
from carryover.claims.support.runs import matched, nearest
from carryover.claims.support.transferability import transferability
from carryover.runs import coordinates
from carryover.statistics import intervals

FLOW = 1e-3  # largest relative distance of the adaptive flow from the exact limit, and of deep linear networks
DESCENT = 1e-2  # largest relative distance of gradient descent, and of its risk at the smallest learning rate
SMALLEST = 1e-12  # distance that rounding leaves of one that vanishes
ERROR = 0.005  # difference in the share of misclassified images that counts as none


def distances(coefficients):
    """Relative distances ‖β − β_exact‖ / ‖β_exact‖ of the runs that were not solved exactly.

    Parameters
    ----------
    coefficients : xarray.Dataset
        `coefficients` (run, input).

    Returns
    -------
    xarray.Dataset
        `distance` by run, with the coordinates of the runs.
    """
    rows = xr.Dataset({"row": ("run", np.arange(coefficients.sizes["run"]))}, coordinates(coefficients))
    both = simulated(rows, "exact").sort_values("solver", kind="stable")
    found, limits = (coefficients["coefficients"].values[both[row]] for row in ("row", "row_other"))
    norm = np.linalg.norm
    relative = [norm(beta - limit) / norm(limit) for beta, limit in zip(found, limits, strict=True)]
    return xr.Dataset({"distance": ("run", np.array(relative))}, coordinates(coefficients.isel(run=both["row"])))


def converged_distances(coefficients, risk):
    """`distances` of the runs that have converged, as the dataset of risks of the same runs says."""
    table = matched(distances(coefficients), risk[["converged"]])
    return table[table["converged_other"] == 1]


def descent_and_flow(risk):
    """Runs of descent with the `difference` |r / r_flow − 1| of their risk from that of the flow, a data frame.

    Runs that did not reach their learning rate or their tolerance are included.
    """
    both = simulated(risk[["risk_final", "evaluations", "learning_rate"]], "flow", "learning_rate")
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
    linear, tuned = (transferability(data["risk"], protocol) for protocol in ("linear_transfer", "finetuning"))
    linear, tuned = (runs[runs["solver"] == "descent"] for runs in (linear, tuned))
    critical = linear[linear["gamma"] == nearest(linear["gamma"].unique(), 1.0, "gamma")]
    more = tuned[tuned["gamma"] > 1].pivot_table("transferability", "seed", "gamma").abs()
    return checks({
        "descent": np.log10(FLOW / worst.xs("descent")),
        "balanced": np.log10(FLOW / worst.xs("balanced")),
        "sparse_features": along.groupby(pretrained["seed"]).min(),
        "anomalous_stopped": Check(critical.set_index("seed")["transferability"], intervals.median),
        "forgotten_stopped": -more.max(axis=1),
    })  # fmt: skip


def relu_flow(data, p):
    """Role: `risk` of ReLU networks by flow and by descent with several learning rates. Statistics are in decades."""
    table = descent_and_flow(data["risk"])
    by_rate = table.groupby(["learning_rate", "seed"])["difference"]
    largest_difference, typical = by_rate.max(), by_rate.median()
    smallest, largest = table["learning_rate"].min(), table["learning_rate"].max()
    found = {
        "descent_follows": np.log10(DESCENT / largest_difference[smallest]),
        "steps_shrink": np.log10(typical[largest] / typical[smallest]),
    }
    return checks(found, smallest=smallest, largest=largest)


def image_pairs(data, p):
    """Role: `risk` of pairs of image tasks, solved and by descent. Of descent those runs count that converged."""
    both = simulated(data["risk"][["risk_final", "converged"]], "exact")
    both = both[both["converged"] == 1]
    off = (both["risk_final"] - both["risk_final_other"]).abs().groupby(both["seed"]).max()
    return checks({"descent": ERROR - off})
