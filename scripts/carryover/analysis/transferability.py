"""Transferability: the risk from scratch less that of a transferred network on the same data ("Features are fate",
eq 5), measured and in theory."""

import numpy as np
import xarray as xr

from carryover.analysis.run_tables import match_runs, nearest
from carryover.errors import UserError
from carryover.runs import coordinates, select_runs
from carryover.theory import transfer

FITTED = 64  # fewest samples that the power law of the risk from scratch is fitted to; the paper does not say which n
CHOSEN = ("protocol", "frozen", "ridge", "weight_decay")
"""Coordinates in which a transferred run and its scratch run may differ: from scratch nothing is frozen, and penalties
are chosen for each."""


def transferability(risk, protocol, scratch=None):
    """The runs of a protocol in a dataset with `risk_final`, with their transferability: a data frame with columns for
    all coordinates, `risk`, `scratch` and `transferability`.

    Another dataset, `scratch`, may have the single-task runs; if these lack a solver of the transferred runs, solvers
    are not compared. Raises UserError if a run of the protocol has no single-task run, or several.
    """
    runs = pair_runs(risk, protocol, "risk_final", scratch, f"single_task run to compare {protocol} with")
    runs = runs.rename(columns={"risk_final": "risk"})
    return runs.assign(transferability=runs["scratch"] - runs["risk"])


def pair_runs(data, protocol, quantity, scratch=None, needed=""):
    """The runs of a protocol with a quantity, and `scratch`: that of the single-task run with the same coordinates but
    `CHOSEN`. A data frame. Arguments are those of `transferability`, and `needed` that of `match_runs`."""
    transferred = select_runs(data[[quantity]], protocol=protocol)
    single = select_runs((data if scratch is None else scratch)[[quantity]], protocol="single_task")
    ignored = list(CHOSEN)
    if "solver" in single.coords and not np.isin(transferred["solver"], single["solver"]).all():
        ignored.append("solver")
    runs = match_runs(transferred, single, ignored, needed)
    return runs.rename(columns={f"{quantity}_other": "scratch"})


def at_critical(runs):
    """Transferability by seed of the runs with as many samples as dimensions, or nearly so."""
    return runs[runs["gamma"] == nearest(runs, "gamma", 1.0)].set_index("seed")["transferability"]


def normalise_risk(risk):
    """The same dataset with risks as shares of the target's variance, for targets that differ in it."""
    return risk.assign(risk_final=risk["risk_final"] / risk["target_variance"])


def from_scratch(risk):
    """Risks of single-task runs as shares of the target's variance, by seed (rows, mean over draws) and n."""
    single = select_runs(normalise_risk(risk), protocol="single_task")
    return single[["risk_final"]].to_dataframe().pivot_table("risk_final", "seed", "samples")


def with_decay(risk, chosen_by=None):
    """One single-task run for each network, as a dataset over `run` without the coordinate `weight_decay`.

    If `chosen_by` is None, it is the run with weight decay 0. Otherwise it is the run with the smallest `chosen_by`,
    "risk_final" or "validation_loss", among those that agree in all coordinates but `CHOSEN`.
    """
    single = select_runs(risk, protocol="single_task")
    if chosen_by is None:
        return select_runs(single, weight_decay=0.0).drop_vars("weight_decay")
    frame = single[[chosen_by]].to_dataframe().reset_index()
    # NaN, of a coordinate that does not apply to a run, counts as a value.
    identity = [name for name in coordinates(single) if name not in CHOSEN]
    best = frame.loc[frame.groupby(identity, dropna=False)[chosen_by].idxmin(), "run"].sort_values()
    return single.isel(run=best.to_numpy()).drop_vars("weight_decay")


def at(curve, tolerance=1e-6, **values):
    """A theory curve at values of its coordinates, numbers or DataArrays; UserError where it was not computed."""
    for name, wanted in values.items():
        try:
            curve = curve.sel({name: wanted}, method="nearest", tolerance=tolerance)
        except KeyError:
            known = ", ".join(f"{value:g}" for value in curve[name].values)
            raise UserError(f"the theory was not computed at every {name} that is needed, but at {known}.") from None
    return curve


def at_rows(curve, table):
    """A theory curve at the rows of a table with columns for all its dimensions, an array; UserError as in `at`."""
    places = {name: xr.DataArray(table[name].to_numpy(), dims="row") for name in curve.dims}
    return at(curve, **places).values


def predict(formula, table):
    """Transferability in theory at the rows of a table with columns gamma, angle, noise, and, if used, depth, samples.

    `linear` is eq 11, `linear_finite` eq 8 less eq 10, which has finite n, `finetuning` eq 15, and `finetuning_norm`
    that with the norm factor of eq 5 of "Finetuning with linear teachers".
    """
    gamma, theta, noise = table["gamma"], np.pi * table["angle"], table["noise"]
    match formula:
        case "linear":
            return transfer.linear_transferability(gamma, theta, noise)
        case "linear_finite":
            return transfer.scratch_risk(gamma, noise) - transfer.linear_transfer_risk(theta, noise, table["samples"])
        case "finetuning":
            return transfer.finetune_transferability(gamma, theta, noise)
        case _:
            return transfer.finetune_transferability(gamma, theta, noise, table["depth"])
