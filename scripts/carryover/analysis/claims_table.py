"""All checks in one table with the claims that they make up: verdicts, and what undecided checks would take."""

import numpy as np
import pandas as pd
import xarray as xr
from scipy import optimize, stats

from carryover.analysis import headlines
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
    **headlines.MEANINGS,
    "adjusted_p_value": "p-value adjusted for the number of checks of the claim (Holm)",
    "verdict": f"holds; fails, where the adjusted p-value is below {LEVEL:g}; or undecided",
    "verdict_alone": MEANINGS["verdict"],
    "seeds_needed": f"seeds with which a t-test would decide with probability {POWER:g}, were mean and spread as "
                    f"found; infinite where {MOST_SEEDS} are not enough or the statistic is at its bound, to "
                    f"{ROUNDING:g}, NaN where decided or not known; of medians, with which a sign test would, were the "
                    "shares beside the bound as found",
    "would_decide": "what would decide an undecided claim: more seeds, or more of what else its interval is over; runs "
                    "that qualify, of which there are fewer than two; no number of seeds, where seeds_needed is "
                    "infinite or nothing was drawn; or not known; empty where decided",
    "headline_elsewhere": "verdict of the claim in each of the other tables",
    "elsewhere": "verdict and statistic of the check in each of the other tables, and its "
                 "bound where that is another there",
}  # fmt: skip


def gathered(groups, others=None):
    """One dataset over `claim`, the checks of the groups {name: dataset of a claims plug-in, with `data`, `portable`}.

    A check `name` of a group is called `group/name`; variables `headline…` are of the claim that it belongs to. A claim
    holds where all its checks hold, each at level 0.05 (intersection-union test: no adjustment is needed); it fails
    where a check fails by its p-value, adjusted for the number of checks of the claim (Holm 1979); else it is
    undecided. Checks that were computed, not drawn, have no p-value and keep their verdicts.

    Parameters
    ----------
    groups : dict of str to xarray.Dataset
        Checked groups by name.
    others : dict of str to pandas.DataFrame, optional
        Tables of another scale; their verdicts stand beside.

    Returns
    -------
    xarray.Dataset
        Sorted by paper, what no paper says last; claims that fail come first.
    """
    frames = [data.to_dataframe().reset_index().assign(group=group) for group, data in groups.items()]
    rows = pd.concat(frames, ignore_index=True)
    rows["claim"] = rows["group"] + "/" + rows["claim"]
    rows = rows.drop(columns="group").rename(columns={"verdict": "verdict_alone"})
    rows = rows.join(headlines.of(rows), on="claim")
    rows["adjusted_p_value"] = rows.groupby("headline")["p_value"].transform(adjusted)
    not_enough = (rows["verdict_alone"] == "fails") & (rows["adjusted_p_value"] >= LEVEL)  # NaN is not
    rows["verdict"] = rows["verdict_alone"].mask(not_enough, "undecided")
    rows["headline_verdict"] = rows.groupby("headline")["verdict"].transform(overall)
    tested = rows.groupby("headline")["p_value"].transform("count").clip(lower=1)
    levels = np.where(rows["statistic"] > rows["bound"], LEVEL, LEVEL / tested)
    undecided = [(row, needed(row, level)) if row.verdict == "undecided" else None
                 for row, level in zip(rows.itertuples(), levels, strict=True)]  # fmt: skip
    rows["seeds_needed"] = [one[1] if one else np.nan for one in undecided]
    rows["would_decide"] = [remedy(*one) if one else "" for one in undecided]
    if others:
        for column, said in (("elsewhere", _elsewhere), ("headline_elsewhere", _headline_elsewhere)):
            rows[column] = ["; ".join(said(row, *one) for one in others.items()) for row in rows.itertuples()]
    ranks = {f"{name}rank": rows[f"{name}verdict"].map(ORDER.index) for name in ("", "headline_")}
    rows = rows.assign(**ranks, ours=rows["headline_paper"] == OWN).sort_values(
        ["ours", "headline_paper", "headline_rank", "headline", "rank", "claim"], kind="stable"
    )
    return _labelled(rows.drop(columns=[*ranks, "ours"]).set_index("claim").to_xarray())


def overall(verdicts):
    """The verdict of a claim, of those of its checks."""
    if (verdicts == "holds").all():
        return "holds"
    return "fails" if (verdicts == "fails").any() else "undecided"


def _headline_elsewhere(row, name, table):
    """The verdict of a claim in another table, and whether it differs."""
    found = table.loc[table["headline"] == row.headline, "headline_verdict"] if "headline" in table else ()
    if not len(found):
        return f"{name}: not known"
    return f"{name}: {found.iloc[0]}{DIFFERS * (found.iloc[0] != row.headline_verdict)}"


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
    """P-values (n,) adjusted by Holm's procedure; NaN are left out, and stay."""
    p_values = np.array(p_values, dtype=float)
    order = np.argsort(p_values)[: np.isfinite(p_values).sum()]  # NaN come last
    p_values[order] = np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1)).clip(max=1)
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
    _, first = np.unique(table["headline"].values, return_index=True)
    return {verdict: int((table["headline_verdict"].values[first] == verdict).sum()) for verdict in ORDER}


def _labelled(table):
    columns = {name: table[name] for name in {**MEANINGS, **ADDED} if name in table}
    texts = {name: column.astype(str) for name, column in columns.items() if column.dtype == object}
    result = xr.Dataset({**columns, **texts}).assign_coords(claim=table["claim"].astype(str))
    for name in result.data_vars:
        result[name].attrs = attributes({**MEANINGS, **ADDED}[name])
    result["claim"].attrs = attributes("group and name of the check")
    return result
