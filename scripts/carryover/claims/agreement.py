"""Trained networks end where the exact limit says, and descent where the flow goes (E1)."""

import numpy as np

from carryover.claims.support.agreement import beside, converged_distances, descent_and_flow, distances
from carryover.claims.support.checks import Check, checks
from carryover.claims.support.runs import nearest
from carryover.claims.support.transferability import transferability
from carryover.statistics import intervals

FLOW = 1e-3  # largest relative distance of the adaptive flow from the exact limit, and of deep linear networks
DESCENT = 1e-2  # largest relative distance of gradient descent, and of its risk at the smallest learning rate
SMALLEST = 1e-12  # distance that rounding leaves of one that vanishes
ERROR = 0.005  # difference in the share of misclassified images that counts as none


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
    both = beside(data["risk"], "exact", ["risk_final", "converged"])
    both = both[both["converged"] == 1]
    off = (both["risk_final"] - both["risk_final_exact"]).abs().groupby(both["seed"]).max()
    return checks({"descent": ERROR - off})
