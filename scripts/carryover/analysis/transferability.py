"""How much a network from scratch has more risk than one that was transferred to the same data ("Features are fate",
eq 5), of runs in a dataset of risks."""

import numpy as np

from carryover.errors import UserError
from carryover.runs import coordinates
from carryover.streams import generator
from carryover.theory.transfer import (
    finetune_transferability,
    linear_transfer_risk,
    linear_transferability,
    scratch_risk,
)

RESAMPLES = 1000
CHOSEN = ("protocol", "frozen", "ridge", "weight_decay")
"""Coordinates in which a transferred run and its scratch run may differ: from scratch nothing is frozen, and penalties
are chosen for each."""


def transferability(risk, protocol, scratch=None):
    """DataFrame of the runs of a protocol with columns for their coordinates, `risk`, `scratch` and `transferability`.

    `scratch` is another dataset of risks from which single-task runs are taken, else they are those of `risk`. A
    solver that single-task runs do not have is no difference: they are compared with those of the one they have.
    Raises UserError where a run of the protocol has no scratch run, or several.
    """
    runs, shared = paired(risk, protocol, "risk_final", scratch)
    if runs["scratch"].isna().any():
        where = runs.loc[runs["scratch"].isna(), shared].iloc[0].to_dict()
        raise UserError(f"no single_task run to compare {protocol} with at {where}.")
    runs = runs.rename(columns={"risk_final": "risk"})
    return runs.assign(transferability=runs["scratch"] - runs["risk"])


def paired(data, protocol, quantity, scratch=None):
    """(DataFrame of the runs of a protocol with columns for their coordinates, a quantity, and `scratch`, the same
    quantity of the single-task run beside them, NaN where there is none; the coordinates by which they are paired).

    They are paired by the coordinates that both have values of, but those `CHOSEN`; `scratch` and solvers as in
    `transferability`. Raises UserError where a run has several single-task runs.
    """
    scratch = _of(data if scratch is None else scratch, "single_task")
    moved, alone = _frame(_of(data, protocol), quantity), _frame(scratch, quantity)
    own = [name for name in moved if name != quantity and _valued(moved[name].to_numpy())]
    shared = [name for name in _compared(scratch) if name in own]
    if "solver" in shared and not set(moved["solver"]) <= set(alone["solver"]):
        shared.remove("solver")
    if alone.duplicated(shared).any():
        differ = [name for name in alone if name not in shared and alone[name].nunique() > 1 and name != quantity]
        raise UserError(
            f"several single_task runs have the same {', '.join(shared)}; they differ in {', '.join(differ)}."
        )
    alone = alone[[*shared, quantity]].rename(columns={quantity: "scratch"})
    return moved.merge(alone, on=shared, how="left"), shared


def normalised(risk):
    """The same dataset with risks as shares of the target's variance, of families whose targets differ in it."""
    return risk.assign(risk_final=risk["risk_final"] / risk["target_variance"])


def with_decay(risk, chosen_by=None):
    """The single-task runs of a dataset without weight decay, or with that of the smallest `risk_final` or
    `validation_loss` of each network; without the coordinate `weight_decay`."""
    alone = risk.isel(run=risk["protocol"].values == "single_task")
    if missing := [name for name in ("weight_decay", chosen_by) if name and name not in alone]:
        what = "set folds to 2 or more" if missing == ["validation_loss"] else "train them with weight_decay"
        raise UserError(f"single_task runs have no {missing[0]}: {what}.")
    if chosen_by is None:
        return alone.isel(run=alone["weight_decay"].values == 0).drop_vars("weight_decay")
    frame = alone[[chosen_by]].to_dataframe().reset_index()
    best = frame.loc[frame.groupby(_compared(alone), dropna=False)[chosen_by].idxmin(), "run"].sort_values()
    return alone.isel(run=best.to_numpy()).drop_vars("weight_decay")


def only(runs, name):
    """The one value of a coordinate that runs have; UserError where they have several, which must not be averaged."""
    values = np.unique(runs[name].values)
    if len(values) != 1:
        raise UserError(f"runs of one {name} are needed here, not of {', '.join(f'{value:g}' for value in values)}.")
    return values[0].item()


def at(curve, **values):
    """A theory curve at values of its coordinates, numbers or DataArrays; UserError where it was not computed there."""
    for name, wanted in values.items():
        if name not in curve.dims:
            raise UserError(f"a theory over {name} is needed, and this has {', '.join(map(str, curve.dims))} alone.")
        try:
            curve = curve.sel({name: wanted}, method="nearest", tolerance=1e-6)
        except KeyError:
            known = ", ".join(f"{value:g}" for value in curve[name].values)
            missing = [f"{value:g}" for value in np.unique(wanted) if not np.isclose(curve[name], value).any()]
            raise UserError(f"the theory was not computed at {name} {', '.join(missing)}; it has {known}.") from None
    return curve


def averages(frame, by, quantity="transferability"):
    """Mean, standard deviation and standard error over draws of a quantity, by the columns `by`: a DataFrame."""
    groups = frame.groupby(list(by))[quantity]
    table = groups.agg(["mean", "std", "count"]).reset_index()
    return table.assign(error=table["std"] / np.sqrt(table["count"]))


def within(table, formula, errors=2):
    """Fraction of the rows of `averages` whose mean lies within so many standard errors of a formula, by its name.

    What all draws have in common to 1e-9 is taken for that good, not for its rounding. NaN where there is one draw.
    """
    theory = predicted(formula, table)
    known = np.isfinite(theory) & np.isfinite(table["error"])
    return float((np.abs(table["mean"] - theory) <= errors * table["error"] + 1e-9)[known].mean())


BLOCKS = {
    "γ < 1/2": lambda gamma: gamma < 0.5,
    "1/2 ≤ γ < 1": lambda gamma: (gamma >= 0.5) & (gamma < 1),
    "γ > 1": lambda gamma: gamma > 1,
}


def shares_within(table, formula):
    """{block of γ: `within` of the rows there}, of the blocks that the table has.

    At γ = 1 the risk from scratch has no mean. Where a formula is 0 all over, as those of finetuning are beyond, it is
    of networks that learn the same function whatever they start from: that it agrees says nothing, and is left out.
    """
    blocks = {name: table[inside(table["gamma"])] for name, inside in BLOCKS.items()}
    told = {name: rows for name, rows in blocks.items() if len(rows) and np.any(predicted(formula, rows) != 0)}
    return {name: within(rows, formula) for name, rows in told.items()}


def predicted(formula, table):
    """A formula at the rows of a table with columns gamma, angle, noise, and what else it needs: depth, samples."""
    return FORMULAS[formula](np.pi * table["angle"], table)


def _linear_risk(theta, at):
    """Equation 10, infinite for one or two samples."""
    risk = linear_transfer_risk(theta, at["noise"], np.maximum(at["samples"], 3))
    return np.where(at["samples"] > 2, risk, np.inf)


FORMULAS = {
    "linear": lambda theta, at: linear_transferability(at["gamma"], theta, at["noise"]),
    "linear_finite": lambda theta, at: scratch_risk(at["gamma"], at["noise"]) - _linear_risk(theta, at),
    "finetuning": lambda theta, at: finetune_transferability(at["gamma"], theta, at["noise"]),
    "finetuning_norm": lambda theta, at: finetune_transferability(at["gamma"], theta, at["noise"], at["depth"]),
}
"""Transferability in theory: eq 11; eq 8 less eq 10, which has finite n; eq 15; and that with the norm factor of eq 5
of "Finetuning with linear teachers"."""


def best_ridge(runs):
    """(penalty of the smallest mean risk, lower and upper end of its 95 % bootstrap interval over seeds).

    `runs` are the columns seed, ridge and risk_final of linear transfer at one angle and number of samples.
    """
    table = runs.pivot(index="seed", columns="ridge", values="risk_final")
    draws = generator("best ridge", "", 0, "bootstrap").integers(len(table), size=(RESAMPLES, len(table)))
    penalties = table.columns.to_numpy()
    low, high = np.quantile(penalties[table.to_numpy()[draws].mean(1).argmin(1)], [0.025, 0.975])
    return penalties[table.mean().argmin()], low, high


def _of(risk, protocol):
    kept = risk["protocol"].values == protocol
    if not kept.any():
        raise UserError(f"there are no runs of the protocol {protocol}, which transferability compares.")
    return risk.isel(run=kept)


def _frame(runs, quantity):
    return runs[[quantity]].to_dataframe()[[*sorted(coordinates(runs)), quantity]]


def _compared(scratch):
    """Coordinates by which a run finds its scratch run: all that such runs have a value of, but those chosen."""
    own = {name: scratch[name].values for name in sorted(coordinates(scratch)) if name not in CHOSEN}
    return [name for name, values in own.items() if _valued(values)]


def _valued(values):
    """Whether a coordinate has any value: neither a NaN nor an empty text."""
    return ((values == values) & (values != "")).any()
