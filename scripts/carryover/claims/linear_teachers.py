"""What decides how well finetuning between linear teachers goes: covariance, depth, scale, frozen layers; and bounds on
its risk, on random instances and wide networks ("Finetuning with linear teachers", sections 4 to 6).

Each check takes {role: xarray dataset over `run`} and returns {name: `Check`}; `claims.yaml` says what a name claims.
Tables of `Runs` have seeds as rows and the named coordinates as columns: `risks[a, b]` is a Series over seeds.
γ = n/d; risks are log₁₀ unless said otherwise, so that their differences are log₁₀ of ratios.
"""

from functools import partial

import numpy as np
import pandas as pd

from carryover.analysis.agreement import distances_at_convergence, relative_differences
from carryover.analysis.run_tables import Runs, only, worst
from carryover.claims.agreement import SMALLEST
from carryover.claims.support.checks import Check, checks, join_numbers
from carryover.config import plugins
from carryover.statistics.intervals import student, wilson

REST = 0.5  # the paper's norm ε of what a stretched target has apart from the source
LEAST = 0.1  # samples per dimension from which a frozen network is flat: fewer determine its one factor badly
BLOCKS = 20  # blocks of instances that statistics are means over
TASKS = ("gamma", "source_norm", "angle")
NETWORKS = {"one_layer": ("one layer", 1), "deep": ("endlessly many layers", np.inf)}  # {bound: (words, depth)}
ALIKE = 1e-9  # what rounding may make of equal numbers
PUBLISHED = 3.0  # constant in front of |Δ| in corollary 6.2


@plugins.check(data=["alignment", "stretch", "stretch_trained", "coefficients", "scale", "frozen", "layers", "small"])
def linear_teachers(data):
    """Roles, all of them risks but `coefficients`: `alignment`, targets that differ from the source in leading or in
    other directions of the inputs; `stretch`, over depths, targets that are the source times a factor plus a deviation,
    and `stretch_trained` and `coefficients`, such networks that were trained; `scale`, over norms of source and target;
    with frozen layers, `frozen` of two layers, `layers` of more, and `small`, pretrained from several small scales of
    the weights. Statistics are means over seeds, of risks log₁₀."""
    alignment, stretch, scale = (Runs(role, data[role]).where(solver="exact")
                                 for role in ("alignment", "stretch", "scale"))  # fmt: skip

    # Covariance: the target differs from the source in the leading directions of the inputs, or in the others.
    few, many = alignment.extremes("samples")
    gamma = alignment.data.to_dataframe().groupby("samples")["gamma"].first()
    middle = gamma.index[gamma <= 2 / 3][-1]  # the most samples that are clearly fewer than dimensions
    risks = alignment.risks("samples", "relation")
    results = checks({
        "few": risks[few, "leading"] - risks[few, "trailing"],
        "many": risks[many, "trailing"] - risks[many, "leading"],
        "vanishes": risks[few, "leading"] - risks[middle, "leading"],
    }, few=few, many=many, middle=middle)  # fmt: skip

    # Where descent ends, against the limits of one layer (eq 1) and of more (eq 5), and the risk of one (eq 2).
    distances = distances_at_convergence(data["coefficients"], data["stretch_trained"])
    differences = relative_differences(data["alignment"][["risk_final", "converged"]], "exact")
    regression, differences = distances[distances["depth"] == 1], differences[differences["converged"] == 1]
    results |= checks({name: np.log10(values.groupby("seed").max().clip(lower=SMALLEST)) for name, values in (
        ("limit_one", regression.set_index("seed")["distance"]),
        ("limit", distances.drop(regression.index).set_index("seed")["distance"]),
        ("risk_one", differences.set_index("seed")["difference"]),
    )})  # fmt: skip

    # Depth: what it saves, over all tasks (numbers of samples and deviations from the stretched source).
    shallow, deep = stretch.extremes("depth")
    unstretched, stretched = stretch.extremes("stretch")
    fewest, rests = stretch.options("samples")[0], stretch.options("deviation")
    rest = min(rests, key=lambda norm: abs(norm - REST))
    risks = stretch.risks("depth", "stretch", "samples", "deviation")
    # By seed and (stretch, samples, deviation): log₁₀ of the ratio of risks, and the risk itself that depth saves.
    gains, saved = risks[shallow] - risks[deep], 10 ** risks[shallow] - 10 ** risks[deep]
    results |= checks({
        "depth_helps": gains[stretched].min(axis=1),
        "depth_alike": gains[unstretched, fewest, rest],
        "depth_alike_everywhere": gains[unstretched].abs().max(axis=1),
        # Least increase between neighbouring stretches.
        "depth_grows": saved.T.groupby(["samples", "deviation"]).diff().min(),
    }, shallow=shallow, deep=deep, stretched=stretched, fewest=fewest, rest=rest, rests=len(rests))  # fmt: skip

    # Scale of source and target.
    depth, most = scale.extremes("depth")[1], scale.extremes("samples")[1]
    unit, large = scale.extremes("target_norm")
    risks = scale.where(depth=depth, samples=most).risks("target_norm", "source_norm")
    results |= checks({
        "source_matters": risks[unit, large] - risks[unit, unit],
        "target_costs": risks[large, unit] - risks[unit, large],
    }, depth=depth, large=large, most=most)  # fmt: skip

    return results | _check_frozen_layers(*(Runs(role, data[role]) for role in ("frozen", "layers", "small")))


def _check_frozen_layers(runs, layers, small):
    """Checks on networks with frozen layers, three `Runs`: `runs` of two layers, `layers` of more, and `small`, those
    pretrained from small weights.

    Networks of `small` have more samples than dimensions, where the exact limit has risk 0. The stable rank of their
    features is the inverse of the share of power in the leading direction. It should be 1 + (dσ)²: pretraining adds a
    direction of power 1 to the initial weights of scale σ, whose power in d dimensions is about d² σ².
    """
    # Numbers of samples: the fewest that determine a frozen network, those below the dimension d, and the most.
    gamma = runs.data.to_dataframe().groupby("samples")["gamma"].first()
    fewest, below_d, most = gamma.index[gamma >= LEAST][0], gamma.index[gamma < 1], gamma.index[-1]
    risks = runs.risks("protocol", "solver", "pretrain_solver", "samples")
    scratch, tuned = risks["single_task", "exact", ""], risks["finetuning", "descent", "exact"]
    frozen, from_larger = (risks["linear_transfer", solver, solver] for solver in ("exact", "descent"))
    small = small.where(protocol="linear_transfer", solver="descent", pretrain_solver="descent")
    deep = layers.where(protocol="linear_transfer", solver="descent")
    # By number of samples, the risks of each number of frozen layers (rows) and seed (columns).
    over_frozen = deep.risks("samples", "frozen").T.groupby(level="samples")
    samples, scales = only(small.data, "samples"), np.array(small.options("pretrain_scale"))
    # Measured and expected stable ranks by scale σ; samples / γ is d.
    ranks, stable = 1 / small.table("feature_share", "pretrain_scale"), 1 + (samples / gamma[samples] * scales) ** 2
    return checks({
        "frozen_flat": frozen[most] - frozen[fewest],
        "frozen_poor": frozen[below_d[-1]] - scratch[below_d[-1]],
        "frozen_any": (over_frozen.max() - over_frozen.min()).max(),
        "finetuned_better": (scratch - tuned)[below_d].min(axis=1),
        "larger_cures": frozen[most] - from_larger[most],
        "small_rank": ranks[scales[0]],
        "small_slow": small.risks("pretrain_scale")[scales[0]] - from_larger[samples],
        "stable_rank": worst(np.log10(ranks / stable), "within"),
    }, least=fewest, below=below_d[-1], enough=most, layers=only(deep.data, "depth"), samples=samples,
        scale=scales[0], scales=join_numbers(scales))  # fmt: skip


@plugins.check(data=["risk"])
def aligned_teachers(data):
    """Role `risk`: exact limits of training without label noise, of networks finetuned with one layer and with several,
    and of networks from scratch, whose risk is |Σ^½ P⊥θ_T|².

    The angle between the tasks is 0: the target is a multiple of the source (theorem 5.3). Values (seeds,) are those at
    the number of samples and norm of the target where the claim fares worst. No finite depth can show that the risk
    goes to 0; the claim is that it still falls as a power of depth between the two largest depths.
    """
    runs = Runs("risk", data["risk"]).where(angle=0.0, noise=0.0, solver="exact")
    tuned, scratch = (runs.where(protocol=protocol) for protocol in ("finetuning", "single_task"))
    *_, second_deepest, deepest = tuned.options("depth")
    risks = tuned.risks("depth", "samples", "target_norm")
    # One finetuned layer over training from scratch: ((α − 1)/α)² by eq 8, whose logarithm is subtracted below.
    of_one = risks[1] - scratch.where(depth=1).risks("samples", "target_norm")
    stretch = of_one.columns.get_level_values("target_norm") / only(runs.data, "source_norm")  # α

    # Least log₁₀ of the ratio of the risks at a depth and at the deepest, by seed.
    from_one, from_second = ((risks[depth] - risks[deepest]).min(axis=1) for depth in (1, second_deepest))
    return checks({
        "deep": from_one,
        "vanishes": from_second / np.log10(deepest / second_deepest),
        "one_layer": worst(of_one - 2 * np.log10(abs((stretch - 1) / stretch)), "within"),
    }, before=second_deepest, deepest=deepest)  # fmt: skip


@plugins.check(data=["curve"])
def covariance_bound(data):
    """Role: `curve` of curves.covariance_bound, variables over `instance` and terms over `samples`. Its first
    half of instances sets the constant, the second tests it.

    The theorem does not state its constant, so the checks are on its shape: whether the bound orders instances by their
    risk, and which of its two terms weighs more. Instances differ in n, spectrum, and where the tasks differ; their λ₁
    is 1, the unit of the paper's g = 1.
    """
    curve = data["curve"]
    tested = curve.isel(instance=curve["half"].values == 1).to_dataframe()
    tested["covariance"] = tested["c"] ** 3 * tested["top_unit"] + tested["c"] * tested["bottom_unit"]
    logs = np.log10(tested[["risk", "covariance", "benign_overfitting"]])
    logs = logs.assign(alignment=tested["alignment"], block=np.arange(len(logs)) * BLOCKS // len(logs))
    # Eq 3 weights |P_{≤m}Δ|² by 2g³/λ_m² and |P_{>m}Δ|² by 2g: the ratio, where g > 1, or its inverse.
    weight = 2 * np.log10(tested["g"] / tested["eigenvalue"]) * np.sign(np.log10(tested["g"]))
    # Two levels of eigenvalues: log₁₀ of the bound with m at the end of the upper level over that with the best m.
    levels = (tested["spectrum"] == "two levels") & (tested["g"] < 1)
    excess = np.log10(tested["at_fall"] / (tested["top_unit"] + tested["bottom_unit"]))[levels]
    # Exponents of n between neighbouring n, from n = Σλ/λ₁ on, where the terms are power laws.
    late = curve["samples"].values[:-1] > float(curve["rank"])
    slopes = {f"{term}_rate": np.diff(np.log(curve[f"{term}_term"])) / np.diff(np.log(curve["samples"]))
              for term in ("top", "bottom")}  # fmt: skip
    shares = partial(wilson, over="instances")

    def order(bound, *by):
        """Spearman's correlation of the column `bound` with the risk in groups of the columns `by`, mean by block."""
        groups = logs.groupby(["block", *by])
        return groups[bound].corr(logs["risk"], method="spearman").groupby("block").mean()

    return checks({
        "orders": order("covariance"),
        "orders_benign": order("covariance") - order("benign_overfitting"),
        "orders_within": order("covariance", "alignment") - order("benign_overfitting", "alignment"),
        "holds": Check(tested["needed"] > float(curve["c"]), shares),
        "estimation_holds": Check(tested["estimation_needed"] > float(curve["c_estimation"]), shares),
        "switch": weight.groupby(logs["block"]).min(),
        "cut": excess.groupby(logs["block"]).mean(),
        **{name: Check(values[late], partial(student, over="numbers of samples")) for name, values in slopes.items()},
    }, partial(student, over="blocks of instances"), rank=float(curve["rank"]))  # fmt: skip


@plugins.check(data=["curve"])
def gaussian_bounds(data):
    """Role: `curve` of curves.gaussian_bounds, with two values of d or more and with ε = 0: `risk` (dimension, gamma,
    depth, source_norm, angle, draw) and bounds (gamma, source_norm, angle, epsilon). Statistics are taken at the n/d
    and the pair of tasks at which they are worst; `<bound>_falls` is a mean over them."""
    curve = data["curve"]
    low, high = (int(d) for d in (curve["dimension"].min(), curve["dimension"].max()))
    largest = float(curve["epsilon"].max())
    over_draws = partial(student, over="draws of inputs")
    results: dict = {}

    def by_task(values):
        """A table by draws (rows, if there are any) and by n/d and pair of tasks (columns)."""
        return values.stack(task=TASKS).to_pandas()

    for name, (networks, depth) in NETWORKS.items():
        bounds = curve[name].sel(epsilon=curve["epsilon"] > 0)  # at ε = 0 they are means, which many draws exceed
        violated = (curve["risk"].sel(depth=depth, drop=True) > bounds).astype(float)
        at_high, at_low = violated.sel(dimension=high), violated.sel(dimension=low)
        results |= checks({
            f"{name}_holds": worst(by_task(at_high.sel(epsilon=largest, drop=True)), "below"),
            f"{name}_falls": (at_low - at_high).mean([*TASKS, "epsilon"]).values,
        }, over_draws, networks=networks, largest=largest, low=low, high=high)  # fmt: skip
    # The gain by depth, log₁₀ of the risk of one layer over that of infinitely many, and the same of their bounds.
    risks, bounds = curve["risk"].sel(dimension=high), curve.sel(dimension=high, epsilon=0.0)
    gain = by_task(np.log10(risks.sel(depth=1, drop=True) / risks.sel(depth=np.inf, drop=True)))
    expected = by_task(np.log10(bounds["one_layer"] / bounds["deep"]))
    *_, most, endless = risks["depth"].values
    return results | checks({
        "depth": worst(gain - expected, "within"),
        "depth_hurts": worst(-gain.loc[:, expected < -ALIKE]),
        "endless": worst(by_task(np.log10(risks.sel(depth=most) / risks.sel(depth=endless))), "within"),
    }, over_draws, most=most)  # fmt: skip


@plugins.check(data=["bound", "narrow", "wide"])
def ntk_bound(data):
    """Roles: `bound`, the measure `ntk_bound` of trained networks, finetuned and from scratch, for targets at several
    distances |Δ| from the source; `narrow` and `wide`, one finetuned network per seed with few or many units. Ratios of
    risks are log₁₀. Values (seeds,) are the worst over distances and samples; of `grows` and `far_hurts`, means."""
    runs = data["bound"].to_dataframe().query("solver != 'exact' and distance > 0")
    table = runs.pivot_table(list(data["bound"]), "seed", ["protocol", "distance", "samples"])
    tuned, scratch = (table.xs(name, axis=1, level="protocol") for name in ("finetuning", "single_task"))
    # √(ỹᵀ(H^∞)⁻¹ỹ)/|Δ| if pretraining had learned the source exactly (ideal), and of the pretrained network (real).
    # `corollary` is 3 |Δ|, the bound on that norm; `bound` is 2 √(ỹᵀ(H^∞)⁻¹ỹ/n).
    ideal, real = (PUBLISHED * tuned[norm] / tuned["corollary"] for norm in ("ntk_norm_linear", "ntk_norm"))
    risks = tuned["absolute_risk"].stack("samples")  # by seed and n (rows), and distance |Δ| (columns)
    gain = np.log10(scratch["absolute_risk"] / tuned["absolute_risk"])
    distances, sizes = (gain.columns.get_level_values(name) for name in ("distance", "samples"))
    nearest, (second_most, most) = distances.min(), np.unique(sizes)[-2:]
    narrow, wide = (Runs(role, data[role]).table("gram_distance") for role in ("narrow", "wide"))
    return checks({
        "bound": np.log10(table["bound"] / table["absolute_risk"]).min(axis=1),
        "vacuous": np.log10(tuned["bound"] / tuned["start_risk"]).loc[:, sizes < most].min(axis=1),
        "corollary": np.log10(2 * tuned["corollary"] / np.sqrt(sizes) / tuned["absolute_risk"]).min(axis=1),
        "gram": np.log10(narrow / wide),
        "sharp": ideal.max(axis=1),
        "attained": ideal.loc[:, sizes == most].min(axis=1),
        "imperfect": real[nearest].max(axis=1),
        "grows": risks.T.corrwith(pd.Series(risks.columns, risks.columns), method="spearman").groupby("seed").mean(),
        "near_helps": gain.loc[:, distances < 1].min(axis=1),
        "far_hurts": -gain.loc[:, distances > 1].mean(axis=1),
        "limit": (table["tangent_distance"] / table["start_risk"]).max(axis=1),
    }, fewer=second_most, most=most, nearest=nearest)  # fmt: skip
