"""All checks in one table, with the claims that they make up and their verdicts, and such tables as text."""

import numpy as np
import pandas as pd
import xarray as xr
from scipy import stats

from carryover.claims.support import headlines
from carryover.claims.support.checks import MEANINGS, OWN
from carryover.errors import UserError
from carryover.labels import attributes
from carryover.provenance import portability, store
from carryover.statistics.intervals import BY_SIGNS, COMPUTED, LEVEL
from carryover.statistics.testing import MOST_SEEDS, POWER, holm, seeds_needed, seeds_needed_by_signs

ORDER = ("fails", "undecided", "holds")  # worst news first
ROUNDING = 1e-12
"""Distance of a statistic from its bound, relative to the larger of the two and 1, that is rounding and no effect."""
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
# Columns of a table as text.
WORDS = ("headline", "sentence", "headline_paper", "headline_verdict", "paper", "section", "statement", "verdict",
         "measured", "interval")  # fmt: skip
NUMBERS = ("statistic", "low", "high", "bound", "p_value", "adjusted_p_value", "seeds")
_REQUIRED = ("claim", "high", "low", "statistic", "verdict")  # older tables lack others


def gathered(groups, others=None):
    """All checks with their claims.

    A check `name` of a group is called `group/name`; variables `headline…` are of the claim that it belongs to. A claim
    holds if all its checks hold, each at level 0.05 (an intersection-union test needs no adjustment); it fails if a
    check fails by its p-value, adjusted for the number of checks of the claim (Holm 1979); else it is undecided. Checks
    that were computed without draws have no p-value and keep their verdicts.

    Parameters
    ----------
    groups : dict of str to xarray.Dataset
        Groups of checks by name, with `data` and `portable`.
    others : dict of str to pandas.DataFrame, optional
        Tables of another scale, whose verdicts are added.

    Returns
    -------
    xarray.Dataset
        Over `claim`, sorted by paper, with what no paper says last; claims that fail come first.
    """
    frames = [data.to_dataframe().reset_index().assign(group=name) for name, data in groups.items()]
    rows = pd.concat(frames, ignore_index=True)
    rows["claim"] = rows["group"] + "/" + rows["claim"]
    rows = rows.drop(columns="group").rename(columns={"verdict": "verdict_alone"})
    rows = rows.join(headlines.of(rows), on="claim")
    claims = rows.groupby("headline")
    rows["adjusted_p_value"] = claims["p_value"].transform(holm)
    insignificant = (rows["verdict_alone"] == "fails") & (rows["adjusted_p_value"] >= LEVEL)  # NaN is not
    rows["verdict"] = rows["verdict_alone"].mask(insignificant, "undecided")
    rows["headline_verdict"] = rows.groupby("headline")["verdict"].transform(overall)
    tested = claims["p_value"].transform("count").clip(lower=1)
    levels = np.where(rows["statistic"] > rows["bound"], LEVEL, LEVEL / tested)
    rows["seeds_needed"], rows["would_decide"] = zip(*map(_remedy, rows.itertuples(), levels), strict=True)
    if others:
        rows["elsewhere"] = [_elsewhere(row, others) for row in rows.itertuples()]
        rows["headline_elsewhere"] = [_headline_elsewhere(row, others) for row in rows.itertuples()]
    ranks = {f"{name}rank": rows[f"{name}verdict"].map(ORDER.index) for name in ("", "headline_")}
    rows = rows.assign(**ranks, ours=rows["headline_paper"] == OWN).sort_values(
        ["ours", "headline_paper", "headline_rank", "headline", "rank", "claim"], kind="stable"
    )
    return _labelled(rows.drop(columns=[*ranks, "ours"]).set_index("claim").to_xarray())


def overall(verdicts):
    """The verdict of a claim from those of its checks, a Series."""
    if (verdicts == "holds").all():
        return "holds"
    return "fails" if (verdicts == "fails").any() else "undecided"


def _remedy(row, level):
    """(seeds that would decide a check, what would decide it in words); (NaN, "") if it is decided."""
    if row.verdict != "undecided":
        return np.nan, ""
    seeds = _seeds_needed(row, level)
    unit = row.interval.partition(" over ")[2].partition(",")[0]
    if row.interval == COMPUTED:
        return seeds, NOTHING
    if row.seeds < 2:
        return seeds, RUNS
    if unit and "seeds" not in unit:
        return seeds, f"more {unit}"
    if np.isnan(seeds):
        return seeds, UNKNOWN
    return seeds, NOTHING if np.isinf(seeds) else MORE_SEEDS


def _seeds_needed(row, level):
    """Seeds that would decide a check: infinite if no number would, NaN if that is not known."""
    distance = abs(row.statistic - row.bound)
    if distance <= ROUNDING * max(1, abs(row.statistic), abs(row.bound)):
        return np.inf
    if row.interval == BY_SIGNS:
        fewer = stats.binom.ppf((1 - ROUNDING) * row.p_value / 2, row.seeds, 0.5)  # as counted by intervals.median
        return seeds_needed_by_signs(1 - fewer / row.seeds, level) if np.isfinite(fewer) else np.nan
    return seeds_needed(distance / row.deviation if row.deviation else np.inf, level)


def _headline_elsewhere(row, others):
    """The verdict of a claim in other tables, and whether it differs."""
    texts = []
    for name, table in others.items():
        found = table.loc[table["headline"] == row.headline, "headline_verdict"] if "headline" in table else ()
        there = found.iloc[0] if len(found) else "not known"
        texts.append(f"{name}: {there}{DIFFERS * (len(found) > 0 and there != row.headline_verdict)}")
    return "; ".join(texts)


def _elsewhere(row, others):
    """A check in other tables, in words, and whether its verdict or bound differs."""
    texts = []
    for name, table in others.items():
        found = table[table["claim"] == row.claim]
        if found.empty:
            texts.append(f"{name}: not known")
            continue
        there = found.iloc[0]
        verdict = there["verdict"] + DIFFERS * (there["verdict"] != row.verdict)
        ends = "" if np.isnan(there["low"]) else f" [{there['low']:.3g}, {there['high']:.3g}]"
        statistic = "" if np.isnan(there["statistic"]) else f", {there['statistic']:.3g}{ends}"
        bound = there.get("bound", np.nan)  # older tables do not have it
        other = "" if np.isnan(bound) or bound == row.bound else f", of the bound {bound:g}"
        texts.append(f"{name}: {verdict}{statistic}{other}")
    return "; ".join(texts)


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


def write(table, path):
    """Write a table of all checks as text."""
    columns = ["claim", *WORDS, *NUMBERS]
    table[columns[1:]].to_dataframe().reset_index()[columns].to_csv(
        path, index=False, na_rep="nan", lineterminator="\n"
    )


def read(path):
    """A table of another scale as a data frame, a check in each row; UserError or DataError for another file."""
    kind = "archived table of claims"
    table = store.read_table(path, dtype=str, keep_default_na=False)
    if missing := [name for name in _REQUIRED if name not in table]:
        raise UserError(f"{path} is no {kind}: it has no column {missing[0]}.")
    for name in filter(table.__contains__, NUMBERS):
        try:
            table[name] = [float(text or "nan") for text in table[name]]
        except ValueError:
            raise UserError(f"{path}: the column {name} must hold numbers.") from None
    if wrong := table.loc[~table["verdict"].isin(ORDER), "claim"].tolist():
        raise UserError(f"{path}: the verdict of {wrong[0]} must be one of {', '.join(ORDER)}.")
    return table
