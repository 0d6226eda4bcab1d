"""Linear transfer of ReLU networks in the mean-field scaling: features of the source, what they leave out, and where
that is too much ("Features are fate", section 4 and Fig. 9).

Each check takes {role: xarray dataset over `run`} and returns {name: `Check`}; `claims.yaml` says what a name claims.
Tables are data frames with a row for each seed. Gains are transferability, the risk from scratch less that of linear
transfer, both as shares of the target's variance.
"""

import numpy as np
import pandas as pd

from carryover.analysis.agreement import relative_differences
from carryover.analysis.mean_field import READOUT, at_longest, boundary, gains, leave_one_out_choice
from carryover.analysis.run_tables import Runs, worst
from carryover.analysis.transferability import FITTED, from_scratch
from carryover.claims.support.checks import Check, checks
from carryover.config import plugins
from carryover.runs import select_runs
from carryover.statistics import intervals, power_law
from carryover.statistics.jackknife import leave_one_out, pseudovalues

FACTOR = 2.0  # factor between predicted and found boundary that counts as near
ROUNDING = 1e-12  # relative error of what agrees exactly


@plugins.check(data=["risk", "gram", "rkhs_residual", "anchored"])
def mean_field_transfer(data):
    """Roles: `risk`, `gram`, `rkhs_residual` over ablated shares and scales of the teacher, and `anchored`, the risks
    of networks pretrained with several anchors. Statistics are means over seeds, risks shares of the target's variance.

    `ablated` is the share of the target's units that the source lacks. The features hardly move for a teacher of small
    scale (lazy), and do for a large one (rich). Tables have a row for each seed, and coordinates in their columns.
    """
    gram, outside = (Runs(role, at_longest(data[role])) for role in ("gram", "rkhs_residual"))
    lazy, rich = gram.extremes("teacher_scale")

    # Alignment of the network's kernel with that of the source's units, mean over ablated shares.
    names = "initial_alignment", "alignment", "unit_cosine"
    before, after, cosine = (gram.table(name, "teacher_scale", "ablated") for name in names)
    statistics = {
        "features": (after[rich] - before[rich]).mean(axis=1),
        "alike": after[rich].mean(axis=1),
        "richness": (cosine[rich] - cosine[lazy]).mean(axis=1),
    }

    # The pretrained network on a source that has all units of the target; its loss is half of the mean square.
    unablated = at_longest(select_runs(data["risk"], teacher_scale=rich, protocol="linear_transfer", ablated=0.0))
    source_risk = 2 * unablated["pretrained_loss"] / unablated["target_variance"]
    statistics["source_learned"] = source_risk.groupby("seed").first().to_series()

    # Does the part of the target that features cannot represent grow with the ablated share? A correlation by seed.
    outside = outside.where(teacher_scale=rich)
    least, rkhs_distance = (outside.table(quantity, "ablated") for quantity in ("least_risk", "rkhs_residual"))
    shares = pd.Series(rkhs_distance.columns, rkhs_distance.columns)
    statistics["left_out"] = Check(rkhs_distance.T.corrwith(shares, method="spearman"), intervals.median)

    # Gains by seed (rows), and ablated share and n (columns). `helps`: the smallest gain over n if nothing is ablated;
    # `hurts`: the gain at the largest ablated share and n; `resembles`: the rank correlation of the ablated share with
    # the n at which gains turn into losses.
    scratch = from_scratch(at_longest(select_runs(data["risk"], teacher_scale=rich, protocol="single_task")))
    runs = gains(data["risk"], READOUT).query("teacher_scale == @rich")
    gain = runs.pivot_table("transferability", "seed", ["ablated", "samples"])
    most, largest = (gain.columns.get_level_values(name).max() for name in ("samples", "ablated"))
    ends = pd.DataFrame({ablated: gain[ablated].apply(boundary, axis=1) for ablated in shares.index})
    resemblance = ends.rank(axis=1).T.corrwith(shares)  # of ranks, since boundaries may be infinite
    statistics |= {"helps": gain[0.0].min(axis=1), "hurts": gain[largest][most], "resembles": resemblance}

    transferred = select_runs(data["risk"][["risk_final"]], protocol="linear_transfer", readout=READOUT)
    if "descent" in transferred["solver"]:
        # Readouts by gradient descent, compared with the closed form of their flow on the same features and data.
        difference = relative_differences(transferred, "exact").groupby("seed")["difference"].max()
        statistics["by_steps"] = np.log10(difference.clip(lower=ROUNDING))
    results = checks(statistics, most=most) | _power_law(scratch) | _residual(runs, least)
    anchored = gains(data["anchored"], READOUT).pivot_table("transferability", "seed", ["anchor", "samples"])
    return results | _boundaries(gain, least, scratch) | _anchors(anchored)


def _power_law(scratch):
    """Checks of the exponent of the risk from scratch against the published one, and from few against many samples.

    `scratch` are risks by seed (rows) and n (columns). An exponent is of their means over seeds, so a seed has none of
    its own: jackknife pseudovalues, one for each seed, stand for them.
    """
    fitted, seeds = scratch[[n for n in scratch if n >= FITTED]], list(scratch.index)
    half = fitted.shape[1] // 2  # of an odd number of n, both parts have the middle one
    few, many = fitted.iloc[:, : fitted.shape[1] - half], fitted.iloc[:, half:]

    def exponent(seeds, risks=fitted):
        return power_law.fit(risks.loc[seeds]).exponent

    exponents = pseudovalues(leave_one_out(exponent, seeds))
    steeper = pseudovalues(leave_one_out(lambda part: exponent(part, many) / exponent(part, few) - 1, seeds))
    facts = {"exponent": exponent(seeds), "few": exponent(seeds, few), "many": exponent(seeds, many)}
    return checks({
        "exponent": exponents,
        "power_law": steeper,
    }, first=fitted.columns[0], **facts)  # fmt: skip


def _residual(runs, least):
    """Checks of eq 18: as n grows, the risk of linear transfer approaches the least risk that any readout can have.

    `runs` is a data frame by `gains` with the column `risk`; `least` has these least risks by seed (rows) and ablated
    share (columns). Values (seeds,) are means over ablated shares: the least risk over the risk at most samples, and
    the excess of the risk over the least one at fewest samples, over that at most.
    """
    risks = runs.query("ablated > 0").pivot_table("risk", ["seed", "ablated"], "samples")
    floor = least.stack().reindex(risks.index)
    excess = risks.sub(floor, axis=0).groupby("seed").mean()
    return checks({
        "residual": (floor / risks.iloc[:, -1]).groupby("seed").mean(),
        "excess": excess.iloc[:, 0] / excess.iloc[:, -1],
    }, least=risks.columns[0], most=risks.columns[-1])  # fmt: skip


def _boundaries(gain, least, scratch):
    """Checks of the boundary for each ablated share but 0, where it lies at infinity, and of a trend: the power law
    over the least risk of the features predicts the gain, in decades, more exactly with more samples.

    By seed (rows): `gain` over (ablated, n), `least` over ablated shares, `scratch` over n.
    """
    shares, law = [ablated for ablated in least if ablated > 0], power_law.fit(scratch, FITTED)
    results: dict = {}
    for ablated in shares:
        percent, most = 100 * ablated, scratch.columns.max()
        if law.samples(least[ablated].mean()) > FACTOR * most:  # no n of ours is near it
            found = Check(gain[ablated][most], facts={"percent": percent})
            results |= checks({f"no_boundary_{percent:g}": found}, most=most)
        else:
            results |= checks({f"boundary_{percent:g}": _boundary(gain[ablated], least[ablated], scratch, percent)})
    gain = gain[shares]
    # log₁₀ of the risk from scratch over that of transfer, and of the power law over the least risk.
    risks = pd.DataFrame({(ablated, n): scratch[n] - gain[ablated, n] for ablated, n in gain.columns})
    measured = -np.log10(risks.where(risks > 0)).sub(np.log10(scratch), level=1)
    predicted = pd.Series({(ablated, n): np.log10(law(n) / least[ablated].mean()) for ablated, n in gain.columns})
    errors = (measured - predicted).abs().T.groupby(level=1).mean().T
    half = errors.shape[1] // 2
    few, many = errors.iloc[:, :-half], errors.iloc[:, -half:]
    trend = {"boundary_trend": few.mean(axis=1) - many.mean(axis=1)}
    return results | checks(trend, few=few.columns[-1], many=many.columns[0])


def _boundary(gain, least, scratch, percent):
    """A check that the mean gain over seeds changes its sign near the number of samples that the power law predicts.

    A boundary outside the range of samples is at least as far from the prediction as the end of that range. If that end
    is already too far, the check fails; otherwise it has no value. `gain` and `scratch` are by seed (rows) and n,
    `least` is a Series over seeds, at one ablated share, `percent`. The boundary is that of a mean over seeds:
    pseudovalues stand for values by seed.
    """
    ends, seeds, near = (scratch.columns.min(), scratch.columns.max()), list(gain.index), np.log2(FACTOR)

    def predict(seeds):
        return power_law.fit(scratch.loc[seeds], FITTED).samples(least.loc[seeds].mean())

    def log_ratio(seeds):
        return np.log2(np.clip(boundary(gain.loc[seeds].mean()), *ends) / predict(seeds))

    n = boundary(gain.mean())
    place = {0.0: "it loses at every n", np.inf: "it gains at every n"}.get(n, f"found is n = {n:.0f}")
    known = 0 < n < np.inf or (log_ratio(seeds) > near if n else log_ratio(seeds) < -near)
    ratios = pseudovalues(leave_one_out(log_ratio, seeds)) if known else np.array([np.nan])
    facts = {"percent": percent, "place": place, "predicted": predict(seeds)}
    return Check(ratios, facts=facts)


def _anchors(gain):
    """Checks on pretraining with a penalty, the anchor, on the distance of the features from their initial values.

    `gain` has seeds as rows and (anchor, n) as columns. Anchor 0 is no penalty, and ∞ keeps the initial features. The
    anchor of a seed is the best one for the other seeds; `anchor_avoids` takes the best one for its own risk at each n,
    as the paper does.
    """
    free, initial, interior = gain[0.0], gain[np.inf], gain.drop(columns=[0.0, np.inf], level="anchor")
    best_by_risk = gain.drop(columns=np.inf, level="anchor").T.groupby(level="samples").max().T
    chosen = leave_one_out_choice(interior)  # (seeds, n) gains with one anchor for all n; below, with one for each n
    chosen_by_n = pd.concat([leave_one_out_choice(interior.loc[:, (slice(None), [n])]) for n in chosen], axis=1)
    # An interior optimum must beat both ends, hence the better one.
    better_end = max((free, initial), key=lambda table: table.to_numpy().mean())
    return checks({
        "anchor_helps": chosen.mean(axis=1) - free.mean(axis=1),
        "anchor_interior": chosen.mean(axis=1) - better_end.mean(axis=1),
        "anchor_turns": np.minimum(-free.mean().iloc[0], chosen.iloc[:, 0]),
        "anchor_avoids": worst(best_by_risk),
        "anchor_avoids_others": worst(chosen_by_n),
        "lazy_loses": (initial <= 0).mean(axis=1),
        "rich_loses": (free < 0).mean(axis=1),
    }, fewest=chosen.columns.min())  # fmt: skip
