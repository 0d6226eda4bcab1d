"""Transferability: the risk from scratch less that of a transferred network on the same data ("Features are fate",
eq 5), where it changes its sign (section 3.3), and which strength of an anchor gains most (section 5, Fig. 9)."""

import numpy as np
import pandas as pd
import xarray as xr

from carryover.claims.support.runs import matched, nearest
from carryover.errors import UserError
from carryover.runs import coordinates, where
from carryover.theory import transfer

FITTED = 64  # fewest samples that the power law of the risk from scratch is fitted to; the paper does not say which n
CHOSEN = ("protocol", "frozen", "ridge", "weight_decay")
"""Coordinates in which a transferred run and its scratch run may differ: from scratch nothing is frozen, and penalties
are chosen for each."""


def transferability(risk, protocol, scratch=None):
    """The runs of a protocol with their transferability.

    Parameters
    ----------
    risk : xarray.Dataset
        `risk_final` by run.
    protocol : str
        Protocol of the transferred runs.
    scratch : xarray.Dataset, optional
        Another dataset with the single-task runs. If they lack a solver of the transferred runs, the solver
        is ignored in the comparison.

    Returns
    -------
    pandas.DataFrame
        Columns for all coordinates, `risk`, `scratch` and `transferability`.

    Raises
    ------
    UserError
        If a run of the protocol has no single-task run, or several.
    """
    runs = paired(risk, protocol, "risk_final", scratch, f"single_task run to compare {protocol} with")
    runs = runs.rename(columns={"risk_final": "risk"})
    return runs.assign(transferability=runs["scratch"] - runs["risk"])


def paired(data, protocol, quantity, scratch=None, needed=""):
    """The runs of a protocol with a quantity, and `scratch`: that of the single-task run with the same coordinates but
    `CHOSEN`. Arguments are those of `transferability` and of `runs.matched`."""
    transferred = where(data[[quantity]], protocol=protocol)
    single = where((data if scratch is None else scratch)[[quantity]], protocol="single_task")
    ignored = list(CHOSEN)
    if "solver" in single.coords and not np.isin(transferred["solver"], single["solver"]).all():
        ignored.append("solver")
    runs = matched(transferred, single, ignored, needed)
    return runs.rename(columns={f"{quantity}_other": "scratch"})


def averages(runs, by):
    """Mean, standard deviation and standard error of the transferability over draws, by columns: a data frame."""
    return runs.groupby(list(by))["transferability"].agg(["mean", "std", "sem"]).reset_index()


def within(table, theory, errors=2):
    """Share of the rows of `averages` whose mean lies within so many standard errors of a theory's values.

    A difference of 1e-9 is rounding. NaN if there is one draw.
    """
    known = np.isfinite(theory) & np.isfinite(table["sem"])
    return float((np.abs(table["mean"] - theory) <= errors * table["sem"] + 1e-9)[known].mean())


def at_critical(runs):
    """Transferability by seed of the runs with as many samples as dimensions, or nearly so."""
    return runs[runs["gamma"] == nearest(runs, "gamma", 1.0)].set_index("seed")["transferability"]


def normalised(risk):
    """The same dataset with risks as shares of the target's variance, for targets that differ in it."""
    return risk.assign(risk_final=risk["risk_final"] / risk["target_variance"])


def from_scratch(risk):
    """Risks of single-task runs as shares of the target's variance, by seed (rows, mean over draws) and n."""
    single = where(normalised(risk), protocol="single_task")
    return single[["risk_final"]].to_dataframe().pivot_table("risk_final", "seed", "samples")


def with_decay(risk, chosen_by=None):
    """The single-task runs without weight decay, or, for each network, with that of the smallest `risk_final` or
    `validation_loss`; without the coordinate `weight_decay`."""
    single = where(risk, protocol="single_task")
    if chosen_by is None:
        return where(single, weight_decay=0.0).drop_vars("weight_decay")
    frame = single[[chosen_by]].to_dataframe().reset_index()
    network = [name for name in coordinates(single) if name not in CHOSEN]
    best = frame.loc[frame.groupby(network, dropna=False)[chosen_by].idxmin(), "run"].sort_values()
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


def predicted(formula, table):
    """Transferability in theory at the rows of a table with columns gamma, angle, noise, and, if used, depth, samples.

    `linear` is eq 11, `linear_finite` eq 8 less eq 10, which has finite n, `finetuning` eq 15, and `finetuning_norm`
    that with the norm factor of eq 5 of "Finetuning with linear teachers".
    """
    gamma, theta, noise = table["gamma"], np.pi * table["angle"], table["noise"]
    match formula:
        case "linear":
            return transfer.linear_transferability(gamma, theta, noise)
        case "linear_finite":
            linear = transfer.linear_transfer_risk(theta, noise, table["samples"])
            return transfer.scratch_risk(gamma, noise) - linear
        case "finetuning":
            return transfer.finetune_transferability(gamma, theta, noise)
        case _:
            return transfer.finetune_transferability(gamma, theta, noise, table["depth"])


def gains(risk, readout):
    """`transferability` of linear transfer in shares of the target's variance, after the longest flow time of a way to
    train the readout; UserError if no run has it."""
    risk = normalised(risk)
    # Descent only verifies what is solved.
    solved = where(risk, protocol="linear_transfer", readout=readout, solver="exact")
    runs = transferability(solved, "linear_transfer", risk)
    return runs[runs["max_time"].isna() | (runs["max_time"] == runs["max_time"].max())]


def boundary(gain):
    """The number of samples n at which gains, a Series by n, turn from positive to negative, interpolated in log n.

    Noisy gains may change their sign more than once: n is where the sum of gains on the wrong side of it is smallest.
    It is infinite if gains are positive throughout, and 0 if they are negative.
    """
    gain = gain.sort_index()
    values, n = gain.to_numpy(), gain.index.to_numpy(dtype=float)
    before = np.concatenate([[0.0], np.cumsum(values)])
    after = (2 * before - before[-1]).argmax()  # gains before, less gains from there on
    if after in (0, len(values)):
        return np.inf if after else 0.0
    pair, ends = values[after - 1 : after + 1], n[after - 1 : after + 1]
    return float(np.exp(np.interp(0.0, pair[::-1], np.log(ends[::-1]))).clip(*ends))


def leave_one_out_choice(gains):
    """Gains by seed and n, each seed's with the anchor that has the largest mean gain over all *other* seeds and n.

    `gains` are by seed, and anchor and n (columns). A seed that took part in its own choice would gain by chance.
    """
    means = gains.T.groupby(level="anchor").mean().T
    best = {seed: means.drop(index=seed).mean().idxmax() for seed in means.index}
    return pd.DataFrame({seed: gains.loc[seed, anchor] for seed, anchor in best.items()}).T
