"""All checks in one table, with the claims that they make up and their verdicts, and such tables as text."""

import numpy as np
import pandas as pd

from carryover.claims.support.checks import MEANINGS, in_words
from carryover.config.claims import OWN
from carryover.errors import UserError
from carryover.labels import make_dataset
from carryover.provenance import store
from carryover.statistics.intervals import LEVEL, holm

ORDER = ("fails", "undecided", "holds")  # worst news first: a claim has the first verdict that a check of it has
DIFFERS = " (differs)"
COLUMNS = {
    **MEANINGS,
    "headline_verdict": "holds, where all checks of the claim hold; fails, where one fails; or undecided",
    "adjusted_p_value": "p-value adjusted for the number of checks of the claim (Holm)",
    "verdict": f"holds; fails, where the adjusted p-value is below {LEVEL:g}; or undecided",
    "verdict_alone": MEANINGS["verdict"],
    "headline_elsewhere": "verdict of the claim in each of the other tables",
    "elsewhere": "verdict and statistic of the check in each of the other tables, and its bound where that is another "
                 "there",
}  # fmt: skip
# Columns of a table as text.
WORDS = ("headline", "sentence", "headline_paper", "headline_verdict", "statement", "verdict", "measured", "interval")
NUMBERS = ("statistic", "low", "high", "claimed_low", "claimed_high", "bound", "p_value", "adjusted_p_value", "seeds")


def gather(groups, others=None):
    """All checks with their claims.

    A check `name` of a group is called `group/name`; variables `headline…` are of the claim that it belongs to. A claim
    holds if all its checks hold, each at level 0.05 (an intersection-union test needs no adjustment); it fails if a
    check fails by its p-value, adjusted for the number of checks of the claim (Holm 1979); else it is undecided. Checks
    that were computed without draws have no p-value and keep their verdicts.

    `groups` are {group: dataset of its checks}, `others` {name: table of another scale}, as `read` returns it, whose
    verdicts are added. In the dataset each place along `claim` is one check. They are sorted by paper, with what no
    paper says last, and then by verdict: claims that fail come first, and so do the checks of a claim.
    """
    rows = pd.concat({name: data.to_dataframe() for name, data in groups.items()}, names=["group"]).reset_index()
    rows["claim"] = rows.pop("group") + "/" + rows["claim"]
    rows = rows.rename(columns={"verdict": "verdict_alone"})
    rows["adjusted_p_value"] = rows.groupby("headline")["p_value"].transform(holm)
    insignificant = (rows["verdict_alone"] == "fails") & (rows["adjusted_p_value"] >= LEVEL)  # NaN is not
    rows["verdict"] = rows["verdict_alone"].mask(insignificant, "undecided")
    rank = rows["verdict"].map(ORDER.index)
    headline_rank = rank.groupby(rows["headline"]).transform("min")  # that of the worst check
    rows["headline_verdict"] = [ORDER[place] for place in headline_rank]
    if others:
        rows["elsewhere"] = [_elsewhere(row, others, "claim", "verdict") for row in rows.itertuples()]
        rows["headline_elsewhere"] = [_elsewhere(row, others, "headline", "headline_verdict")
                                      for row in rows.itertuples()]  # fmt: skip
    rows = rows.assign(rank=rank, headline_rank=headline_rank, ours=rows["headline_paper"] == OWN).sort_values(
        ["ours", "headline_paper", "headline_rank", "headline", "rank", "claim"], kind="stable"
    )
    columns = {name: ("claim", np.array(rows[name].tolist()), COLUMNS[name]) for name in COLUMNS if name in rows}
    return make_dataset(columns, {"claim": (rows["claim"].to_numpy(str), "group and name of the check")})


def _elsewhere(row, others, name, verdict):
    """The verdict of a check or claim in other tables, as text; of a check also the statistic, interval and range.

    `row` is a row of this table (`itertuples`), `others` {name: data frame by `read`}. `name` and `verdict` are the
    columns with the name and verdict of a check ("claim", "verdict") or of its claim ("headline", "headline_verdict").
    """
    texts = []
    for other, table in others.items():
        matching = table[table[name] == getattr(row, name)]
        if matching.empty:
            texts.append(f"{other}: not known")
            continue
        match = matching.iloc[0]
        text = f"{other}: {match[verdict]}{DIFFERS * (match[verdict] != getattr(row, verdict))}"
        if name == "claim" and np.isfinite(match["statistic"]):
            text += f", {match['statistic']:.3g}"
            text += "" if np.isnan(match["low"]) else f" [{match['low']:.3g}, {match['high']:.3g}]"
            criterion = in_words(match["claimed_low"], match["claimed_high"])
            text += "" if criterion == row.criterion else f", to be {criterion}"
        texts.append(text)
    return "; ".join(texts)


def write(table, path):
    """Write a table of all checks as text."""
    frame = table[[*WORDS, *NUMBERS]].to_dataframe()
    frame[[*WORDS, *NUMBERS]].to_csv(path, index_label="claim", na_rep="nan", lineterminator="\n")


def read(path):
    """A table of another scale as a data frame, a check in each row; UserError or DataError for another file."""
    table = store.read_table(path, dtype=str, keep_default_na=False)
    if missing := [name for name in ("claim", *WORDS, *NUMBERS) if name not in table]:
        raise UserError(f"{path} is no archived table of claims: it has no column {missing[0]}.")
    try:
        return table.astype(dict.fromkeys(NUMBERS, float))
    except ValueError as error:
        raise UserError(f"{path} is no archived table of claims: {error}.") from None
