"""How well formulas of transferability agree with networks, in words."""

import numpy as np

from carryover.claims.support.transferability import predicted
from carryover.statistics.averages import within

BLOCKS = {
    "γ < 1/2": lambda gamma: gamma < 0.5,
    "1/2 ≤ γ < 1": lambda gamma: (gamma >= 0.5) & (gamma < 1),
    "γ > 1": lambda gamma: gamma > 1,
}


def shares_within(table, formula):
    """{block of γ: share of the rows of `averages` within two standard errors of a formula}, for the blocks there are.

    At γ = 1 the risk from scratch has no mean. Where a formula is 0 everywhere, networks learn the same function from
    any start, so that agreement means nothing: such blocks are left out.
    """
    blocks = {name: table[inside(table["gamma"])] for name, inside in BLOCKS.items()}
    theories = {name: predicted(formula, rows) for name, rows in blocks.items() if len(rows)}
    return {name: within(blocks[name], theory) for name, theory in theories.items() if np.any(theory != 0)}


def shares_in_words(table, formulas):
    """'eq 15: 8% at γ < 1/2, …; of eq 11: …' of rows of `averages` and {formula: its label}."""
    notes = []
    for name, label in formulas.items():
        blocks = shares_within(table, name).items()
        shares = [f"{share:.0%} at {block}".replace(" ", "\N{NO-BREAK SPACE}") for block, share in blocks]
        notes.append(f"{label}: {', '.join(shares)}")
    return "; of ".join(notes)
