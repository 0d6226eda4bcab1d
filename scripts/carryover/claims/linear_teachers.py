"""What decides how well finetuning between linear teachers goes: covariance, depth, scale, frozen layers ("Finetuning
with linear teachers", sections 4 and 5)."""

from itertools import pairwise

import numpy as np
import pandas as pd

from carryover.claims.agreement import converged_distances
from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs
from carryover.statistics.intervals import equivalence_margin

NEAR = 1e-3  # largest relative distance of trained networks from the exact limit
SAME = 0.05  # decades of risk that count as no difference
FLAT = 0.1  # decades of risk that count as none over numbers of samples
RANK = 1.1  # effective rank up to which features are close to rank one
LEAST = 0.1  # samples per dimension from which a frozen network is flat: fewer determine its one factor badly


def linear_teachers(data, p):
    """Roles: `alignment` of differences in leading directions and in others, `stretch` and its `coefficients`, of
    stretched sources over depths, `scale` over norms of source and target, `frozen` of two layers and `layers` of more,
    several numbers of them frozen; and `small`, frozen after pretraining from small weights that do not vanish.
    Statistics are means over seeds, of risks in decades."""
    alignment, stretch, scale = (Runs(role, data[role]).where(solver="exact")
                                 for role in ("alignment", "stretch", "scale"))  # fmt: skip
    distances = converged_distances(data["coefficients"], data["stretch"]).groupby("seed")["distance"].max()
    limit = np.log10(NEAR / distances.clip(lower=1e-12))
    frozen = Runs("frozen", data["frozen"])
    found = _of_alignment(alignment) | _of_depth(stretch) | _of_scale(scale) | checks({"limit": limit})
    found |= _of_frozen(frozen, Runs("layers", data["layers"]))
    return found | (_of_small(Runs("small", data["small"]), frozen) if "small" in data else {})


def _of_alignment(runs):
    few, many = runs.extremes("samples")
    gammas = runs.data.to_dataframe().groupby("samples")["gamma"].first()
    middle = gammas.index[gammas <= 2 / 3][-1]

    risks = runs.risks("samples", "relation")
    found = {
        "few": risks[few, "leading"] - risks[few, "trailing"],
        "many": risks[many, "trailing"] - risks[many, "leading"],
        "vanishes": risks[few, "leading"] - risks[middle, "leading"],
    }
    return checks(found, few=few, many=many, middle=middle)


def _of_depth(runs):
    """What depth saves, over all tasks: numbers of samples and deviations from the stretched source."""
    shallow, deep = runs.extremes("depth")
    own, stretched = runs.extremes("stretch")
    risks = runs.risks("depth", "stretch", "samples", "deviation")
    gains, saved = risks[shallow] - risks[deep], 10 ** risks[shallow] - 10 ** risks[deep]
    steps = [saved[more] - saved[less] for less, more in pairwise(runs.options("stretch"))]
    found = {
        "depth_helps": gains[stretched].min(axis=1),
        "depth_alike": -gains[own].abs().max(axis=1),
        "depth_grows": pd.concat(steps, axis=1).min(axis=1),
    }
    return checks(found, shallow=shallow, deep=deep, stretched=stretched)


def _of_scale(runs):
    depth, most = runs.extremes("depth")[1], runs.extremes("samples")[1]
    one, large = runs.extremes("target_norm")

    risks = runs.where(depth=depth, samples=most).risks("target_norm", "source_norm")
    found = {
        "source_matters": risks[one, large] - risks[one, one],
        "target_costs": risks[large, one] - risks[one, large],
    }
    return checks(found, depth=depth, large=large, most=most)


def _of_frozen(runs, layers):
    """Networks of which some layers are frozen."""
    sizes = runs.data.to_dataframe().groupby("samples")["gamma"].first()
    least, below, enough = sizes.index[sizes >= LEAST][0], sizes.index[sizes < 1], sizes.index[-1]
    scratch = runs.where(protocol="single_task", solver="exact").risks("samples")
    tuned = runs.where(protocol="finetuning", solver="descent", pretrain_solver="exact").risks("samples")
    transferred = runs.where(protocol="linear_transfer")
    frozen, larger = (
        transferred.where(solver=how, pretrain_solver=how).risks("samples") for how in ("exact", "descent")
    )
    several = layers.where(protocol="linear_transfer", solver="descent")
    by_number = several.risks("samples", "frozen").T.groupby(level="samples")
    found = {
        "frozen_flat": equivalence_margin(frozen[enough] - frozen[least], FLAT),
        "frozen_poor": frozen[below[-1]] - scratch[below[-1]],
        "frozen_any": SAME - (by_number.max() - by_number.min()).max(),
        "finetuned_better": (scratch - tuned)[below].min(axis=1),
        "larger_cures": frozen[enough] - larger[enough],
    }
    return checks(found, least=least, below=below[-1], enough=enough, layers=several.only("depth"))


def _of_small(small, frozen):
    """Frozen networks pretrained from small weights, with more samples than dimensions.

    There the exact limit has no risk. The effective (stable) rank of the features is one over the share of their power
    that is of rank one.
    """
    runs, larger = (one.where(protocol="linear_transfer", solver="descent", pretrain_solver="descent")
                    for one in (small, frozen))  # fmt: skip
    samples = runs.only("samples")
    found = {
        "small_rank": RANK - 1 / runs.by_seed("feature_share"),
        "small_slow": runs.risk() - larger.risk(samples=samples),
    }
    return checks(found, samples=samples)


def aligned_teachers(data, p):
    """Role `risk`: exact limits of finetuned networks, without noise, of one layer and more, for tasks at angle 0.

    The target is the source, scaled (theorem 5.3). Every statistic is that of the samples and the target's norm at
    which it is worst, as a mean over seeds. No depth shows that the risk goes to 0; claimed is that between the two
    deepest it still falls as a power of depth.
    """
    tuned = Runs("risk", data["risk"]).where(angle=0.0, noise=0.0, solver="exact", protocol="finetuning")
    *_, before, deepest = tuned.options("depth")
    risks = tuned.risks("depth", "samples", "target_norm")

    def least_fall(depth):
        """Least log₁₀ of the ratio of the risks at a depth and at the deepest, by seed."""
        return (risks[depth] - risks[deepest]).min(axis=1)

    found = {"deep": least_fall(1), "vanishes": least_fall(before) / np.log10(deepest / before)}
    return checks(found, before=before, deepest=deepest)
