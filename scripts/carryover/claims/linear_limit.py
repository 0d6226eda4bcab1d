"""Trained deep linear networks end where the exact limit says (E1), with features of rank one (theorem 3.4)."""

import numpy as np

from carryover.claims.support.agreement import converged_distances
from carryover.claims.support.checks import Check, checks
from carryover.claims.support.runs import nearest
from carryover.claims.support.transferability import transferability
from carryover.statistics import intervals

NEAR = 1e-3  # largest relative distance from the exact limit
SMALLEST = 1e-12  # distance that rounding leaves of one that vanishes


def check(data, p):
    """Roles: `coefficients` and `risk` of an experiment solved and simulated. Distances are in decades."""
    table, risk = converged_distances(data["coefficients"], data["risk"]), data["risk"].to_dataframe()
    worst = table.groupby(["solver", "seed"])["distance"].max().clip(lower=SMALLEST)
    pretrained = risk[(risk["pretrain_solver"] == "descent") & risk["feature_share"].notna()]
    along = pretrained["feature_share"] * pretrained["feature_alignment"] ** 2
    linear, tuned = (_descended(data["risk"], protocol) for protocol in ("linear_transfer", "finetuning"))
    critical = linear[linear["gamma"] == nearest(linear["gamma"].unique(), 1.0, "gamma")]
    more = tuned[tuned["gamma"] > 1].pivot_table("transferability", "seed", "gamma").abs()
    return checks({
        "descent": np.log10(NEAR / worst.xs("descent")),
        "balanced": np.log10(NEAR / worst.xs("balanced")),
        "sparse_features": along.groupby(pretrained["seed"]).min(),
        "anomalous_stopped": Check(critical.set_index("seed")["transferability"], intervals.median),
        "forgotten_stopped": -more.max(axis=1),
    })  # fmt: skip


def _descended(risk, protocol):
    """Transferability of networks trained by gradient descent, over those trained from scratch in the same way."""
    runs = transferability(risk, protocol)
    return runs[runs["solver"] == "descent"]
