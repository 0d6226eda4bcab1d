"""Trained networks end where the exact limit says, and descent where the flow goes (E1).

Each check takes {role: xarray dataset over `run`} and returns {name: `Check`}; `claims.yaml` says what a name claims.
"""

import numpy as np

from carryover.analysis.agreement import distances, distances_at_convergence, pair_with_reference, relative_differences
from carryover.analysis.run_tables import only
from carryover.analysis.transferability import at_critical, transferability
from carryover.claims.support.checks import Check, checks, join_numbers
from carryover.config import plugins
from carryover.runs import select_runs
from carryover.statistics import intervals

SMALLEST = 1e-12  # distance that rounding leaves of one that vanishes


@plugins.check(data=["coefficients"])
def exact_limit(data):
    """Role: `coefficients` (run, input) of diagonal networks solved and simulated. Statistics are log₁₀ of relative
    distances ‖β − β_exact‖ / ‖β_exact‖.

    The symmetric penalty is that of eq 22, which pretrained networks do not minimise. A coefficient β = p − q has two
    paths, products of weights. From equal weights α the flow keeps pq = α⁴, so the weaker path is
    (√(β² + 4α⁴) − |β|)/2. `one_path` is its ratio to |β|, mean over dimensions weighted by β².
    """
    table = distances(data["coefficients"]).to_dataframe()
    worst = table.groupby(["solver", "seed"])["distance"].max()
    finetuned = table[table["protocol"] == "finetuning"].groupby(["solver", "seed"])["distance"].median()
    scratch = select_runs(data["coefficients"], protocol="single_task", solver="exact")
    beta, scale = abs(scratch["coefficients"]), only(scratch, "initial_scale")
    weaker = (np.hypot(beta, 2 * scale**2) - beta) / 2
    share = (weaker * beta).sum("input") / (beta**2).sum("input")
    return checks({
        "one_path": Check(share.groupby("seed").max().to_series(), facts={"scale": scale}),
        "flow_exact": np.log10(worst["flow"]),
        "descent_exact": np.log10(worst["descent"]),
        "not_symmetric": np.log10(finetuned["symmetric"] / finetuned["descent"]),
    })  # fmt: skip


@plugins.check(data=["coefficients", "risk", "deep"])
def linear_limit(data):
    """Roles: `coefficients` and `risk` of deep linear networks solved and simulated, `deep`: `risk` of networks of more
    layers. Distances are in decades.

    After pretraining, features are of rank one and along the source (theorem 3.4 of "Features are fate").
    """
    table = distances_at_convergence(data["coefficients"], data["risk"])
    worst = table.groupby(["solver", "seed"])["distance"].max().clip(lower=SMALLEST)
    along, along_deep = (_along_source(data[role]) for role in ("risk", "deep"))
    return checks({
        "descent": np.log10(worst.xs("descent")),
        "balanced": np.log10(worst.xs("balanced")),
        "sparse_features": along,
        "sparse_deep": Check(along_deep, facts={"depths": join_numbers(np.unique(data["deep"]["depth"]))}),
    })  # fmt: skip


def _along_source(risk):
    """Series over seeds: the smallest share, over runs pretrained by gradient descent, of the features' power that lies
    along the source.

    `feature_share` is the share of power in the leading feature, `feature_alignment` the cosine of that feature with
    the source. Both are NaN in runs without pretraining.
    """
    runs = risk.to_dataframe()
    runs = runs[(runs["pretrain_solver"] == "descent") & runs["feature_share"].notna()]
    return (runs["feature_share"] * runs["feature_alignment"] ** 2).groupby(runs["seed"]).min()


@plugins.check()
def stopped_training(data):
    """Roles: deep linear networks whose training ends as in the authors' script of "Features are fate" (`released`) or
    as in the text of the paper (`text`). Statistics are means over seeds, at γ = n/d = 1 medians."""
    critical: dict = {}  # {(role, angle): transferability at γ ≈ 1, by seed}
    results: dict = {}
    for role, protocol in (("released", "the released script"), ("text", "the text's protocol")):
        linear, tuned = (transferability(data[role], name) for name in ("linear_transfer", "finetuning"))
        critical |= {(role, angle): at_critical(part) for angle, part in linear.groupby("angle")}
        # A network that has forgotten its source has the risk from scratch: transferability 0 at every γ = n/d > 1.
        largest = tuned.pivot_table("transferability", "seed", "gamma").abs().max(axis=1)
        results |= checks({f"forgotten_{role}": largest}, protocol=protocol)
    # At γ = 1 the risk from scratch has no mean over draws. Angles of source and target are in units of π.
    medians = {"anomalous": critical["released", 0.5], "no_spike": critical["text", 0.25]}
    return results | checks(medians, intervals.median)


@plugins.check(data=["risk"])
def relu_flow(data):
    """Role: `risk` of ReLU networks by flow and by descent with several learning rates. Statistics are in decades.

    Differences |r/r_flow − 1| are relative. Runs that missed their learning rate or tolerance are included.
    """
    table = relative_differences(data["risk"][["risk_final", "learning_rate"]], "flow", "learning_rate")
    by_rate = table.groupby(["learning_rate", "seed"])["difference"]
    largest_difference, median_difference = by_rate.max(), by_rate.median()
    low, high = table["learning_rate"].min(), table["learning_rate"].max()
    return checks({
        "descent_follows": np.log10(largest_difference[low]),
        "steps_shrink": np.log10(median_difference[high] / median_difference[low]),
    }, smallest=low, largest=high)  # fmt: skip


@plugins.check(data=["risk"])
def image_pairs(data):
    """Role: `risk` of pairs of image tasks, solved exactly and by descent. Only converged runs of descent count."""
    both = pair_with_reference(data["risk"][["risk_final", "converged"]], "exact")
    both = both[both["converged"] == 1]
    difference = (both["risk_final"] - both["risk_final_other"]).abs().groupby(both["seed"]).max()
    return checks({"descent": difference})
