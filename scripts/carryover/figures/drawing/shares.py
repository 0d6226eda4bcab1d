"""Notes on how often a formula lies within the errors of what was found."""

from carryover.analysis.transferability import shares_within
from carryover.figures.drawing import panels


def in_words(table, formulas):
    """'eq 15: 8% at γ < 1/2, …; of eq 11: …' of rows of `averages` and {formula: its label}."""
    notes = []
    for name, label in formulas.items():
        blocks = shares_within(table, name).items()
        shares = [f"{panels.percent(share)} at {block}".replace(" ", "\N{NO-BREAK SPACE}") for block, share in blocks]
        notes.append(f"{label}: {', '.join(shares)}")
    return "; of ".join(notes)
