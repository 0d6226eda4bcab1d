"""Trained deep linear networks end where the exact limit says (E1), with features of rank one (theorem 3.4)."""

import numpy as np

from carryover.claims.support import checks
from carryover.claims.support.agreement import converged_distances
from carryover.claims.support.runs import nearest
from carryover.claims.support.transferability import transferability
from carryover.errors import UserError
from carryover.statistics import intervals

NEAR = 1e-3  # largest relative distance from the exact limit
SHARE = 0.999  # least share of the features' power along the source
ALIKE = 0.01  # transferability that counts as none; the target's power is 1
SMALLEST = 1e-12  # distance that rounding leaves of one that vanishes


@checks.group("exact and simulated", "log₁₀ of the allowed over the largest relative distance")
def check(data, p):
    """Roles: `coefficients` and `risk` of an experiment solved and simulated. Distances are in decades."""
    table, risk = converged_distances(data["coefficients"], data["risk"]), data["risk"].to_dataframe()
    worst = table.groupby(["solver", "seed"])["distance"].max().clip(lower=SMALLEST)
    if "feature_share" not in risk:
        raise UserError("the runs of the role risk have no feature_share: none was pretrained.")
    trained = risk[(risk["pretrain_solver"] == "descent") & risk["feature_share"].notna()]
    linear, tuned = (_descended(data["risk"], protocol) for protocol in ("linear_transfer", "finetuning"))
    critical = nearest(linear["gamma"].unique(), 1.0, "gamma")
    more = tuned[tuned["gamma"] > 1].pivot_table("transferability", "seed", "gamma").abs()
    along = (trained["feature_share"] * trained["feature_alignment"] ** 2).groupby(trained["seed"]).min()
    return [
        ("descent", f"Gradient descent that has converged ends at the exact limit of its flow, to {NEAR:g}",
         np.log10(NEAR / _of(worst, "descent")), 0.0),
        ("balanced", f"The flow of balanced networks that has converged ends at the exact limit, to {NEAR:g}",
         np.log10(NEAR / _of(worst, "balanced")), 0.0),
        ("sparse_features", "After pretraining from small weights, hidden features are of rank one, along the source",
         along, SHARE, "theorem 3.4", "smallest share of the features' power that is along the source"),
        ("anomalous_stopped", "With as many samples as dimensions, linear transfer gains on networks trained from "
         "scratch by gradient descent to the paper's flow time",
         linear[linear["gamma"] == critical].set_index("seed")["transferability"], 0.0, "3.3, Fig. 1",
         "median transferability", intervals.median),
        ("forgotten_stopped", "With more samples than dimensions, networks finetuned by gradient descent to the "
         f"paper's flow time have the risk of those from scratch, to {ALIKE:g}", -more.max(axis=1), -ALIKE,
         "theorem 3.9, eq 15", "largest transferability over γ, with the sign changed"),
    ]  # fmt: skip


def _descended(risk, protocol):
    """Transferability of networks trained by gradient descent, beside those trained from scratch in the same way."""
    runs = transferability(risk, protocol)
    return runs[runs["solver"] == "descent"]


def _of(worst, solver):
    """Distances by seed of one solver; none where no run of it has converged."""
    return worst[solver] if solver in worst.index.get_level_values("solver") else worst.iloc[:0]
