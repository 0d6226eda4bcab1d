"""Trained deep linear networks end where the exact limit says (E1), with features of rank one (theorem 3.4)."""

from dataclasses import dataclass

import numpy as np

from carryover.analysis import intervals
from carryover.analysis.agreement import of_converged
from carryover.config.parameters import parameter
from carryover.errors import UserError

ROLES = ("coefficients", "risk")

SMALLEST = 1e-12  # distance that rounding leaves of one that vanishes


@dataclass(frozen=True, kw_only=True)
class Parameters:
    near: float = parameter(1e-3, "largest relative distance from the exact limit", above=0)
    share: float = parameter(0.999, "least share of the features' power along the source", above=0, maximum=1)


@intervals.claims("exact and simulated", "log₁₀ of the allowed over the largest relative distance")
def check(data, p):
    """Roles: `coefficients` and `risk` of an experiment solved and simulated. Distances are in decades."""
    table, risk = of_converged(data["coefficients"], data["risk"]), data["risk"].to_dataframe()
    worst = table.groupby(["solver", "seed"])["distance"].max().clip(lower=SMALLEST)
    if "feature_share" not in risk:
        raise UserError("the runs of the role risk have no feature_share: none was pretrained.")
    trained = risk[(risk["pretrain_solver"] == "descent") & risk["feature_share"].notna()]
    along = (trained["feature_share"] * trained["feature_alignment"] ** 2).groupby(trained["seed"]).min()
    return [
        ("descent", f"Gradient descent that has converged ends at the exact limit of its flow, to {p.near:g}",
         np.log10(p.near / _of(worst, "descent")), 0.0),
        ("balanced", f"The flow of balanced networks that has converged ends at the exact limit, to {p.near:g}",
         np.log10(p.near / _of(worst, "balanced")), 0.0),
        ("sparse_features", "After pretraining from small weights, hidden features are of rank one, along the source",
         along, p.share, "theorem 3.4", "smallest share of the features' power that is along the source"),
    ]  # fmt: skip


def _of(worst, solver):
    """Distances by seed of one solver; none where no run of it has converged."""
    return worst[solver] if solver in worst.index.get_level_values("solver") else worst.iloc[:0]
