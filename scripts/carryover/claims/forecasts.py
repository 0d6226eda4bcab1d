"""Whether forecasts before training come true, on the half of the settings that chose nothing."""

from functools import partial

from carryover.analysis.forecasts import KINDS, NAMES, OURS, leave_settings_out, right, transfers
from carryover.claims.support.checks import Check, checks
from carryover.config import plugins
from carryover.statistics import jackknife


@plugins.check()
def forecast(data):
    """Roles: transfers of families, as comparisons.forecasts makes them. A transfer is `decided` if the forecast of its
    gain is certain of the sign (`analysis.forecasts.transfers`).

    Checks, for linear transfer and for finetuning if there are such transfers: `right`, the share of decided transfers
    whose gain has the forecast sign; `undecided`, the share of transfers that are not decided; `covered`, the share of
    known scores within the interval of their forecast; `over_…`, `right` less the same share for another predictor.
    `most_undecided` is the largest `undecided` of any family. Values (1 + groups,) are of all transfers, then without
    each group of settings.
    """
    table = transfers(data)
    known = right(table)
    share_of = partial(jackknife.estimate, scale=jackknife.PROPORTION, over="groups of settings")
    difference = partial(jackknife.estimate, over="groups of settings")
    reported = table[table["half"] == 1]  # the other half chose the predictors' thresholds
    worst = reported.groupby("family")["decided"].mean().idxmin()
    most = leave_settings_out(reported, lambda rows: 1 - rows.groupby("family")["decided"].mean().min())
    found = {"most_undecided": Check(most, share_of, {"family": worst})}
    for kind, tuned in KINDS.items():
        of_kind = reported[reported["tuned"] == tuned]
        if not len(of_kind):
            continue
        decided, scored = of_kind[of_kind["decided"]], of_kind.dropna(subset="score")
        values = {
            "right": leave_settings_out(decided, lambda rows: known.loc[rows.index, OURS].mean()),
            "undecided": leave_settings_out(of_kind, lambda rows: 1 - rows["decided"].mean()),
        }
        if len(scored):
            values["covered"] = leave_settings_out(scored, _share_within)
        facts, name = {"kind": kind, "transfers": len(of_kind)}, kind.replace(" ", "_")
        found |= {f"{name}_{check}": Check(of_check, share_of, facts) for check, of_check in values.items()}
        for other in (column for column in known if column != OURS):
            gap = known[OURS] - known[other]
            values = leave_settings_out(decided, lambda rows, gap=gap: gap[rows.index].mean())
            found[f"{name}_over_{other}"] = Check(values, difference, facts | {"predictor": NAMES[other]})
    return checks(found)


def _share_within(rows):
    """Share of the scores within the interval of their forecast."""
    return rows["score"].between(rows["forecast_low"], rows["forecast_high"]).mean()
