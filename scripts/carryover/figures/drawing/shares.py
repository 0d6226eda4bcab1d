"""How well formulas of transferability agree with networks: means over draws, and the share of points within errors."""

import numpy as np

from carryover.claims.support.transferability import predicted
from carryover.figures.drawing import panels
from carryover.streams import generator

RESAMPLES = 1000
BLOCKS = {
    "γ < 1/2": lambda gamma: gamma < 0.5,
    "1/2 ≤ γ < 1": lambda gamma: (gamma >= 0.5) & (gamma < 1),
    "γ > 1": lambda gamma: gamma > 1,
}


def averages(frame, by, quantity="transferability"):
    """Mean, standard deviation and standard error over draws of a quantity, by the columns `by`: a data frame."""
    groups = frame.groupby(list(by))[quantity]
    table = groups.agg(["mean", "std", "count"]).reset_index()
    return table.assign(error=table["std"] / np.sqrt(table["count"]))


def within(table, formula, errors=2):
    """Share of the rows of `averages` whose mean lies within so many standard errors of a formula, by its name.

    A difference of 1e-9 is rounding. NaN if there is one draw.
    """
    theory = predicted(formula, table)
    known = np.isfinite(theory) & np.isfinite(table["error"])
    return float((np.abs(table["mean"] - theory) <= errors * table["error"] + 1e-9)[known].mean())


def shares_within(table, formula):
    """{block of γ: `within` of its rows}, for the blocks that the table has.

    At γ = 1 the risk from scratch has no mean. Where a formula is 0 everywhere, networks learn the same function from
    any start, so that agreement means nothing: such blocks are left out.
    """
    blocks = {name: table[inside(table["gamma"])] for name, inside in BLOCKS.items()}
    informative = {name: rows for name, rows in blocks.items() if len(rows) and np.any(predicted(formula, rows) != 0)}
    return {name: within(rows, formula) for name, rows in informative.items()}


def in_words(table, formulas):
    """'eq 15: 8% at γ < 1/2, …; of eq 11: …' of rows of `averages` and {formula: its label}."""
    notes = []
    for name, label in formulas.items():
        blocks = shares_within(table, name).items()
        shares = [f"{panels.percent(share)} at {block}".replace(" ", "\N{NO-BREAK SPACE}") for block, share in blocks]
        notes.append(f"{label}: {', '.join(shares)}")
    return "; of ".join(notes)


def best_ridge(runs):
    """(penalty of the smallest mean risk, lower and upper end of its 95 % bootstrap interval over seeds).

    `runs` are the columns seed, ridge and risk_final of linear transfer at one angle and number of samples.
    """
    table = runs.pivot(index="seed", columns="ridge", values="risk_final")
    draws = generator("best ridge", "", 0, "bootstrap").integers(len(table), size=(RESAMPLES, len(table)))
    penalties = table.columns.to_numpy()
    low, high = np.quantile(penalties[table.to_numpy()[draws].mean(1).argmin(1)], [0.025, 0.975])
    return penalties[table.mean().argmin()], low, high
