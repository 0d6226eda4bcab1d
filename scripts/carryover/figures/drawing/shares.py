"""How figures tell at how many points a formula lies within the errors of what was found."""

from carryover.analysis.transferability import shares_within
from carryover.figures.drawing import panels

NO_BREAK = "\u00a0"


def in_words(table, formulas):
    """'eq 15: 8% at γ < 1/2, …; eq 11: …' of rows of `averages` and {formula: its label}."""
    told = []
    for name, label in formulas.items():
        blocks = shares_within(table, name).items()
        shares = (f"{panels.percent(share)} at {block}".replace(" ", NO_BREAK) for block, share in blocks)
        told.append(f"{label}: {', '.join(shares)}")
    return "; of ".join(told)
