"""All claims in one table: verdicts that count how many claims are tested, and what undecided ones would take."""

import numpy as np
import pandas as pd
import xarray as xr
from scipy import optimize, stats

from carryover.analysis.intervals import BY_SIGNS, COMPUTED, LEVEL, MEANINGS, OWN
from carryover.labels import attributes
from carryover.provenance import portability

POWER = 0.8
MOST_SEEDS = 10_000
LARGEST_EFFECT = 1e6
"""Effect, in standard deviations, that two seeds show at any level; beyond it the noncentral t is lost to rounding."""
ORDER = ("fails", "undecided", "holds")  # worst news first
ROUNDING = 1e-12
"""Distance of a statistic from its bound, beside the larger of the two and 1, that is no effect but a rounding."""
MORE_SEEDS = "more seeds"
DIFFERS = " (differs)"
RUNS, NOTHING, UNKNOWN = "runs that qualify", "no number of seeds", "not known"
ADDED = {
    "data": "datasets that the claim's group reads",
    "portable": portability.MEANING,
    "adjusted_p_value": "p-value adjusted for the number of claims (Benjamini-Hochberg)",
    "verdict": f"holds, fails, or undecided, at a false discovery rate of {LEVEL:g} over all claims",
    "verdict_alone": MEANINGS["verdict"],
    "seeds_needed": f"seeds with which a t-test would decide with probability {POWER:g}, were mean and spread as "
                    f"found; infinite where {MOST_SEEDS} are not enough or the statistic is at its bound, to "
                    f"{ROUNDING:g}, NaN where decided or not known; of medians, with which a sign test would, were the "
                    "shares beside the bound as found",
    "would_decide": "what would decide an undecided claim: more seeds, or more of what else its interval is over; runs "
                    "that qualify, of which there are fewer than two; no number of seeds, where seeds_needed is "
                    "infinite or nothing was drawn; or not known; empty where decided",
    "elsewhere": "verdict and statistic of the claim in each of the other tables, and its "
                 "bound where that is another there",
}  # fmt: skip


def gathered(groups, others=None):
    """One dataset over `claim` of the groups {name: dataset of a claims plug-in, with `data` and `portable`}.

    `others` are tables of claims {what it is: data frame}, of another scale: what a claim is there stands beside.

    It goes by paper, what no paper says last, and tells the worst news first. A claim `name` of a group is called
    `group/name`. Verdicts are those of the groups, but only where the p-value, adjusted over all claims that have one
    (Benjamini & Hochberg 1995), is below 0.05: so of all claims that are decided at most one in twenty is expected to
    be so by chance. Claims that were computed, not drawn, have no p-value and keep their verdicts.
    """
    frames = [data.to_dataframe().reset_index().assign(group=group) for group, data in groups.items()]
    rows = pd.concat(frames, ignore_index=True)
    rows["claim"] = rows["group"] + "/" + rows["claim"]
    rows = rows.drop(columns="group").rename(columns={"verdict": "verdict_alone"})
    rows["adjusted_p_value"] = adjusted(rows["p_value"])
    open_again = rows["adjusted_p_value"] >= LEVEL  # NaN is not
    rows["verdict"] = rows["verdict_alone"].mask(open_again, "undecided")
    decided = (rows["adjusted_p_value"] < LEVEL).sum()
    # The level at which one claim more would be decided, the others being as they are.
    level = LEVEL * min(1, (decided + 1) / max(1, rows["p_value"].notna().sum()))
    undecided = [(row, needed(row, level)) if row.verdict == "undecided" else None for row in rows.itertuples()]
    rows["seeds_needed"] = [one[1] if one else np.nan for one in undecided]
    rows["would_decide"] = [remedy(*one) if one else "" for one in undecided]
    if others:
        rows["elsewhere"] = [[_elsewhere(row, *one) for one in others.items()] for row in rows.itertuples()]
        rows["elsewhere"] = rows["elsewhere"].map("; ".join)
    rank = rows["verdict"].map(ORDER.index)
    rows = rows.assign(rank=rank, ours=rows["paper"] == OWN).sort_values(
        ["ours", "paper", "rank", "claim"], kind="stable"
    )
    return _labelled(rows.drop(columns=["rank", "ours"]).set_index("claim").to_xarray())


def _elsewhere(row, name, table):
    """What a claim is in another table, in words, and whether its verdict or bound is another."""
    found = table[table["claim"] == row.claim]
    if found.empty:
        return f"{name}: not known"
    there = found.iloc[0]
    verdict = there["verdict"] + DIFFERS * (there["verdict"] != row.verdict)
    ends = "" if np.isnan(there["low"]) else f" [{there['low']:.3g}, {there['high']:.3g}]"
    statistic = "" if np.isnan(there["statistic"]) else f", {there['statistic']:.3g}{ends}"
    bound = there.get("bound", np.nan)  # older tables do not have it
    other = "" if np.isnan(bound) or bound == row.bound else f", of the bound {bound:g}"
    return f"{name}: {verdict}{statistic}{other}"


def adjusted(p_values):
    """P-values (n,) adjusted by Benjamini and Hochberg's procedure; NaN are left out, and stay."""
    p_values = np.array(p_values, dtype=float)
    known = np.isfinite(p_values)
    p_values[known] = stats.false_discovery_control(p_values[known]) if known.any() else []
    return p_values


def needed(row, level):
    """Seeds that would decide a claim, of its columns: infinite where no number would, NaN where that is not known."""
    if abs(row.statistic - row.bound) <= ROUNDING * max(1, abs(row.statistic), abs(row.bound)):
        return np.inf
    if row.interval == BY_SIGNS:
        fewer = stats.binom.ppf((1 - ROUNDING) * row.p_value / 2, row.seeds, 0.5)  # what `intervals.median` counted
        return seeds_needed_by_signs(1 - fewer / row.seeds, level) if np.isfinite(fewer) else np.nan
    return seeds_needed(abs(row.statistic - row.bound) / row.deviation if row.deviation else np.inf, level)


def remedy(row, seeds):
    """What would decide an undecided claim, of its columns and the seeds that it needs."""
    over = row.interval.partition(" over ")[2].partition(",")[0]
    if row.interval == COMPUTED:
        return NOTHING
    if row.seeds < 2:
        return RUNS
    if over and "seeds" not in over:
        return f"more {over}"
    if np.isnan(seeds):
        return UNKNOWN
    if np.isinf(seeds):
        return NOTHING
    return MORE_SEEDS


def seeds_needed(effect, level=LEVEL):
    """Fewest seeds with which a two-sided t-test of a level decides with probability 0.8.

    Args: effect, distance of the mean from the bound in standard deviations. Returns infinity where 10 000 are not
    enough, NaN where the effect is not known (noncentral t distribution).
    """
    if np.isnan(effect):
        return np.nan
    effect = min(effect, LARGEST_EFFECT)
    if power(MOST_SEEDS, effect, level) < POWER:
        return np.inf
    if power(2, effect, level) >= POWER:
        return 2.0
    return float(np.ceil(optimize.brentq(lambda seeds: power(seeds, effect, level) - POWER, 2, MOST_SEEDS)))


def seeds_needed_by_signs(share, level=LEVEL):
    """As `seeds_needed`, of a sign test, where this share of values lies on the median's side of the bound."""
    seeds = np.arange(1, MOST_SEEDS + 1)
    most = stats.binom.ppf(level / 2, seeds, 0.5)  # of the fewer values: from here on, or one below, it is significant
    most -= stats.binom.cdf(most, seeds, 0.5) > level / 2
    enough = np.flatnonzero(stats.binom.cdf(most, seeds, 1 - share) >= POWER)
    return float(seeds[enough[0]]) if len(enough) else np.inf


def power(seeds, effect, level=LEVEL):
    """Probability that a two-sided t-test of a level over so many seeds decides, in the right direction."""
    return stats.nct.sf(stats.t.ppf(1 - level / 2, seeds - 1), seeds - 1, effect * np.sqrt(seeds))


def counts(table):
    """{verdict: number of claims}, worst news first."""
    return {verdict: int((table["verdict"] == verdict).sum()) for verdict in ORDER}


def _labelled(table):
    columns = {name: table[name] for name in {**MEANINGS, **ADDED} if name in table}
    texts = {name: column.astype(str) for name, column in columns.items() if column.dtype == object}
    result = xr.Dataset({**columns, **texts}).assign_coords(claim=table["claim"].astype(str))
    for name in result.data_vars:
        result[name].attrs = attributes({**MEANINGS, **ADDED}[name])
    result["claim"].attrs = attributes("group and name of the claim")
    return result
