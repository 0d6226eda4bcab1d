"""Whether forecasts before training come true, on the half of the settings that chose nothing."""

from functools import partial

from carryover.analysis.forecasts import CONSTANT, KINDS, OURS, leave_settings_out, right, transfers
from carryover.claims.support.checks import Check, checks
from carryover.config import plugins
from carryover.statistics import jackknife


@plugins.check()
def forecast(data):
    """Roles: transfers of families, as comparisons.forecasts makes them.

    Of linear transfers and of finetuning: `right`, share of decided transfers whose sign is as forecast; `undecided`,
    share of all that are not decided; `covered`, share of scores within the interval of their forecast; `above_…`, what
    forecasts get right of decided transfers beyond each other predictor. `most_undecided` is that of the family with
    most.
    """
    table = transfers(data)
    known = right(table)
    values = {}
    for kind, tuned in KINDS.items():
        reported = table[(table["half"] == 1) & (table["tuned"] == tuned)]
        decided, name = reported[reported["decided"]], kind.replace(" ", "_")

        def share(rows, column=OURS, less=None):
            return (known.loc[rows.index, column] - (known.loc[rows.index, less] if less else 0)).mean()

        values[f"{name}_right"] = leave_settings_out(decided, share)
        values[f"{name}_undecided"] = leave_settings_out(reported, lambda rows: 1 - rows["decided"].mean())
        scored = reported.dropna(subset="score")
        values[f"{name}_covered"] = leave_settings_out(
            scored, lambda rows: rows["score"].between(rows["forecast_low"], rows["forecast_high"]).mean())  # fmt: skip
        others = [column for column in known if column not in (OURS, CONSTANT)]
        best = max(others, key=lambda column: share(decided, column))
        values[f"{name}_above_constant"] = leave_settings_out(decided, partial(share, less=CONSTANT))
        facts = {"kind": kind, "transfers": len(reported), "best": best}
        values[f"{name}_above_best"] = leave_settings_out(decided, partial(share, less=best))
        for check in ("right", "undecided", "covered", "above_constant", "above_best"):
            scale = jackknife.DIFFERENCE if check.startswith("above") else jackknife.PROPORTION
            estimate = partial(jackknife.estimate, scale=scale, over="groups of settings")
            values[f"{name}_{check}"] = Check(values[f"{name}_{check}"], estimate, facts)
    reported = table[table["half"] == 1]
    by_family = reported.groupby("family")["decided"].mean()

    def most(rows):
        return 1 - rows.groupby("family")["decided"].mean().min()

    estimate = partial(jackknife.estimate, scale=jackknife.PROPORTION, over="groups of settings")
    values["most_undecided"] = Check(leave_settings_out(reported, most), estimate, {"family": by_family.idxmin()})
    return checks(values)
