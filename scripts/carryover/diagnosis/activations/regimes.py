"""The regime of a layer from the intervals of what was measured, and in words what each regime means.

Criteria are those of section G of "Feature reuse in multi-task learning and finetuning (appendix)", with numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NESTED, LAZY, FRESH = "nested feature selection", "lazy", "fresh features"
MIXED, UNDECIDED = "mixed", "undecided"
WORDS = {
    NESTED: "Fewer dimensions than before, and nearly all of them were there before: finetuning selected some of the "
            "pretrained features.",
    LAZY: "Dimensions and features are nearly those of before: finetuning only read them out. If the task needs few of "
          "them, try multiplying all weights by a factor below 1 before finetuning, chosen by validation.",
    FRESH: "Most dimensions are not those of before: finetuning learned features of its own.",
    MIXED: "None of the three: features changed in part.",
    UNDECIDED: "The samples do not tell: give more of them.",
}  # fmt: skip
"""Meaning of each regime."""
_SYMBOLS = {"change": "PR after / PR before", "inherited": "ENSD / PR after", "cka": "CKA"}


def criteria(limits: Mapping[str, float]) -> dict[str, dict[str, tuple[float, float]]]:
    """{regime: {quantity: (above, below)}}: open ranges in which the whole interval must lie.

    limits: the parameters of `diagnosis.Parameters` by name, or the attributes of what `diagnose` returned.
    """
    infinity, change, near = float("inf"), limits["change"], limits["near"]
    return {
        NESTED: {"change": (-infinity, 1 - change), "inherited": (1 - near, 1 + near)},
        LAZY: {"change": (1 - change, 1 + change), "cka": (limits["alike"], infinity)},
        FRESH: {"inherited": (-infinity, limits["fresh"])},
    }


def in_words(ranges: Mapping[str, tuple[float, float]]) -> str:
    """'PR after / PR before < 0.9 and 0.8 < ENSD / PR after < 1.2'."""
    parts = []
    for quantity, (above, below) in ranges.items():
        left = f"{above:g} < " if above > float("-inf") else ""
        right = f" < {below:g}" if below < float("inf") else ""
        parts.append(f"{left}{_SYMBOLS[quantity]}{right}")
    return " and ".join(parts)


def decided(row: Mapping[str, Any], limits: Mapping[str, float]) -> tuple[str, str]:
    """(regime, reason) of one layer: the regime all of whose criteria hold with certainty, `MIXED` where each regime
    has one that certainly does not, else `UNDECIDED`."""
    most = max(row["participation_ratio_before"], row["participation_ratio_after"])
    if row["samples"] < limits["enough"] * most:
        return (
            UNDECIDED,
            f"too few samples: {row['samples']} for a PR of {most:.3g}, {limits['enough']:g} times it are needed",
        )
    verdicts = {regime: _all(row, ranges) for regime, ranges in criteria(limits).items()}
    regime = next((name for name, verdict in verdicts.items() if verdict), None)
    if regime is None:
        regime = MIXED if all(verdict is False for verdict in verdicts.values()) else UNDECIDED
    said = {True: "yes", False: "no", None: "cannot tell"}
    return regime, "; ".join(f"{name}: {said[verdict]}" for name, verdict in verdicts.items())


def _all(row: Mapping[str, Any], ranges: Mapping[str, tuple[float, float]]) -> bool | None:
    met = [_within(row[f"{quantity}_low"], row[f"{quantity}_high"], *ends) for quantity, ends in ranges.items()]
    if False in met:
        return False
    return True if all(met) else None


def _within(low: float, high: float, above: float, below: float) -> bool | None:
    """Whether an interval lies in a range: True, False, or None where it lies across an end or is NaN."""
    if above < low and high < below:
        return True
    return False if high <= above or low >= below else None
